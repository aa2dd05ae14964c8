//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// task is what a process that the command starts is to do.
type task struct {
	Role string

	Conns  int    // in all
	Rounds int    // worlds that each client fetches, one after the other
	Loss   int    // percent that clients drop of what arrives, and of what they send
	Pace   string // the server's profile
	Way    string // how a bare sender sends

	Profile       string // where the process puts its processor profile; "" for none
	ClientProfile string // likewise, for one process of clients

	Share  int    // clients of this process
	First  int    // the identity of the first
	Server string // where it finds the server
}

// The roles.
const (
	roleFlag = "--role"

	roleServer  = "server"  // sends the world to all that connect
	roleBare    = "bare"    // sends the same bytes without a protocol
	roleClients = "clients" // of a server
	roleDiscard = "discard" // receivers of a bare sender, which only read
)

// orders are what a process does when it is told to.
type orders map[string]func() error

// The orders. Not every role has all.
const (
	orderConnect = "connect" // all clients
	orderFetch   = "fetch"   // every client fetches the world, as often as the task says, or sends it
	orderEcho    = "echo"    // every client sends a world, and the server receives it
	orderBegin   = "begin"   // give everybody a world to send, and wait until slices of it are under way
	orderLook    = "look"    // nothing: only figures are wanted
)

func playRole(text string) error {
	var t task
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return err
	}
	play, ok := map[string]func(task) (*figures, orders, error){
		roleServer: newServer, roleBare: newBare, roleClients: newClients, roleDiscard: newDiscard,
	}[t.Role]
	if !ok {
		return fmt.Errorf("no role %q", t.Role)
	}
	f, orders, err := play(t)
	if err != nil {
		return err
	}
	orders[orderLook] = func() error { return nil }
	for lines := bufio.NewScanner(os.Stdin); ; {
		if err := f.report(); err != nil || !lines.Scan() {
			return err
		}
		do, ok := orders[lines.Text()]
		if !ok {
			return fmt.Errorf("%s: no order %q", t.Role, lines.Text())
		}
		if err := f.measure(do); err != nil {
			return fmt.Errorf("%s: %s: %w", t.Role, lines.Text(), err)
		}
	}
}

// process is one that plays a role.
type process struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines *bufio.Reader
}

// start starts a process for a task, and returns its first figures.
func start(t task, environment ...string) (*process, figures, error) {
	text, err := json.Marshal(t)
	if err != nil {
		return nil, figures{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, figures{}, err
	}
	p := &process{cmd: exec.Command(self, roleFlag, string(text))}
	p.cmd.Stderr = os.Stderr
	p.cmd.Env = append(os.Environ(), environment...)
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, figures{}, err
	}
	p.lines = bufio.NewReader(out)
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, figures{}, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, figures{}, err
	}
	f, err := p.hear()
	return p, f, err
}

func (p *process) tell(order string) error {
	_, err := fmt.Fprintln(p.stdin, order)
	return err
}

// hear reads the figures that a process reports when it has done what it was told.
func (p *process) hear() (f figures, err error) {
	line, err := p.lines.ReadBytes('\n')
	if err != nil {
		return f, fmt.Errorf("%v: %w", p.cmd.Args, err)
	}
	return f, json.Unmarshal(line, &f)
}

// pause stops a process, or lets it go on.
func (p *process) pause(stop bool) error {
	if stop {
		return p.cmd.Process.Signal(syscall.SIGSTOP)
	}
	return p.cmd.Process.Signal(syscall.SIGCONT)
}

// kill ends the process, which has nothing to clean up.
func (p *process) kill() error { return errors.Join(p.cmd.Process.Kill(), p.cmd.Wait()) }
