// Package process runs a port: lines in and lines out, or a command with its
// children. It knows no protocol.
package process

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"
)

const (
	// maxLine bounds what a port can make the runner hold; the longest line that
	// a vector asks for is far below.
	maxLine = 64 << 20
	// MaxStderr is how much of a port's standard error is kept.
	MaxStderr = 2048
	// GraceTime is how long a port whose output has ended may take to exit.
	GraceTime = time.Second
)

// Process is a running port.
type Process struct {
	Requests chan<- []byte // lines to send; EndInput closes it
	Lines    <-chan []byte // lines that came; closed at the end of output

	cmd      *exec.Cmd
	kill     context.CancelFunc
	requests chan []byte
	endInput func()
	lines    chan []byte
	exited   chan struct{} // closed when exitErr holds
	exitErr  error
	output   *os.File
	stderr   tail

	// Both are for who has seen Lines closed.
	unfinished []byte // a last line without its line feed
	readErr    error
}

// Start starts a port that is given up to window requests ahead of their answers.
// ctx bounds its life.
func Start(ctx context.Context, command []string, window int) (*Process, error) {
	ctx, kill := context.WithCancel(ctx)
	p := &Process{
		cmd: exec.CommandContext(ctx, command[0], command[1:]...), kill: kill,
		requests: make(chan []byte, 2*window), lines: make(chan []byte, window), exited: make(chan struct{}),
	}
	p.Requests, p.Lines = p.requests, p.lines
	p.endInput = sync.OnceFunc(func() { close(p.requests) })
	err := p.start()
	if err != nil {
		kill()
	}
	return p, err
}

func (p *Process) start() error {
	// A pipe of our own, because Wait closes exec's before all of it is read.
	output, theirs, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirs.Close()
	p.output, p.cmd.Stdout, p.cmd.Stderr = output, theirs, &p.stderr
	input, err := p.cmd.StdinPipe()
	if err == nil {
		KillWithChildren(p.cmd)
		p.cmd.WaitDelay = GraceTime // a child of the port may hold its stderr
		err = p.cmd.Start()
	}
	if err != nil {
		return errors.Join(err, output.Close())
	}
	go p.write(input)
	go p.read(output)
	go func() {
		p.exitErr = p.cmd.Wait()
		close(p.exited)
	}()
	return nil
}

func (p *Process) write(input io.WriteCloser) {
	w := bufio.NewWriter(input)
	for line := range p.requests {
		// Errors do not matter: a port that no longer reads shows by its output.
		_, _ = w.Write(line)
		_ = w.WriteByte('\n')
		if len(p.requests) == 0 {
			_ = w.Flush()
		}
	}
	_ = input.Close()
}

func (p *Process) read(output io.Reader) {
	defer close(p.lines)
	s := bufio.NewScanner(output)
	s.Buffer(nil, maxLine)
	s.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			return i + 1, data[:i], nil
		}
		if atEOF {
			p.unfinished = bytes.Clone(data)
			return len(data), nil, nil
		}
		return 0, nil, nil
	})
	for s.Scan() {
		p.lines <- bytes.Clone(s.Bytes())
	}
	p.readErr = s.Err()
}

// EndInput ends the port's standard input.
func (p *Process) EndInput() { p.endInput() }

// Stop ends the process, whatever it does.
func (p *Process) Stop() {
	p.endInput()
	p.kill()
	<-p.exited
	_ = p.output.Close() // a child of the port may hold the other end
	for range p.lines {
	}
}

// Ended returns how a process whose output has ended did so.
func (p *Process) Ended() string {
	how := "closed its output"
	select {
	case <-p.exited:
		how = "ended"
		if p.exitErr != nil {
			how = "ended with " + p.exitErr.Error()
		}
	case <-time.After(GraceTime):
	}
	switch {
	case errors.Is(p.readErr, bufio.ErrTooLong):
		how = fmt.Sprintf("wrote a line of more than %d bytes", maxLine)
	case p.HalfALine():
		how += fmt.Sprintf(" in the middle of a line, %s", Quoted(p.unfinished))
	}
	return how + p.LastWords()
}

// HalfALine reports whether the output ended without a line feed. It must have
// ended.
func (p *Process) HalfALine() bool { return len(p.unfinished) > 0 }

// Succeeded reports whether the process has exited with 0.
func (p *Process) Succeeded() bool {
	select {
	case <-p.exited:
		return p.exitErr == nil
	default:
		return false
	}
}

// LastWords returns the end of what the port wrote on standard error, with an
// introduction, or nothing.
func (p *Process) LastWords() string {
	if text := p.stderr.String(); text != "" {
		return "; its standard error ends with:\n" + text
	}
	return ""
}

// tail keeps the end of what is written to it.
type tail struct {
	mu    sync.Mutex
	bytes []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bytes = append(t.bytes, b...)
	if extra := len(t.bytes) - MaxStderr; extra > 0 {
		t.bytes = append(t.bytes[:0], t.bytes[extra:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(bytes.ToValidUTF8(t.bytes, []byte("?"))))
}

// Quoted returns the beginning of a line, for a message.
func Quoted(line []byte) string {
	const most = 200
	line = bytes.TrimSpace(line)
	if len(line) > most {
		return fmt.Sprintf("%q… (%d bytes)", line[:most], len(line))
	}
	return strconv.Quote(string(line))
}
