//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// task is what a process that the command starts is to do.
type task struct {
	Role string

	Conns  int    // in all
	Rounds int    // worlds that each receiver fetches, one after the other
	Loss   int    // percent that receivers drop of what they get, and of what they send
	Pace   string // the server's profile
	Way    string // how a bare sender sends

	Profile string // where the server puts its processor profile; "" for none

	Share  int    // receivers of this process
	Number int    // of this process, for its random numbers
	Server string // where it finds the server
	Upload int    // slices of a chunk of 256 that a silent receiver sends before it falls silent
}

// The roles.
const (
	roleFlag = "--role"

	roleServer  = "server"  // sends the world to all that come
	roleBare    = "bare"    // sends the same bytes without a protocol
	roleHolder  = "holder"  // measures its memory while peers are silent
	roleFetch   = "fetch"   // receivers
	roleDiscard = "discard" // receivers that only read
	roleSilent  = "silent"  // receivers that say hello and then nothing more
)

func playRole(text string) error {
	var t task
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return err
	}
	play, ok := map[string]func(task) error{
		roleServer: serve, roleBare: sendBare, roleHolder: hold,
		roleFetch: fetchAll, roleDiscard: discardAll, roleSilent: sayHelloAll,
	}[t.Role]
	if !ok {
		return fmt.Errorf("no role %q", t.Role)
	}
	return play(t)
}

// process is one that plays a role.
type process struct {
	cmd   *exec.Cmd
	stdin io.Closer
	lines *bufio.Reader
}

// start starts a process for a task.
func start(t task, environment ...string) (*process, error) {
	text, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(self, roleFlag, string(text))}
	p.cmd.Stderr = os.Stderr
	p.cmd.Env = append(os.Environ(), environment...)
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.lines = bufio.NewReader(out)
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	return p, p.cmd.Start()
}

// hear reads one line from the process.
func (p *process) hear(v any) error {
	line, err := p.lines.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("%v: %w", p.cmd.Args, err)
	}
	return json.Unmarshal(line, v)
}

// kill ends the process, which has nothing to clean up.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// report prints one line for the process that started this one.
func report(v any) error { return json.NewEncoder(os.Stdout).Encode(v) }

// waitForStop waits until the process that started this one has ended, which may
// kill it before.
func waitForStop() { _, _ = io.Copy(io.Discard, os.Stdin) }
