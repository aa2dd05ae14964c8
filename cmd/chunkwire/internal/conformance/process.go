package conformance

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

const (
	// maxLine bounds what a port can make the runner hold; the longest line that
	// a vector asks for is far below.
	maxLine = 64 << 20
	// maxStderr is how much of a port's last words is kept.
	maxStderr = 2048
	// graceTime is how long a port whose output has ended may take to exit.
	graceTime = time.Second
)

// process is a running port.
type process struct {
	cmd  *exec.Cmd
	kill context.CancelFunc

	requests chan []byte   // closed: end of input
	endInput func()        // closes requests, once
	lines    chan []byte   // closed at the end of output
	exited   chan struct{} // closed when exitErr holds
	exitErr  error
	output   *os.File
	stderr   tail

	// Both are for who has seen lines closed.
	unfinished []byte // a last line without its line feed
	readErr    error
}

// startProcess starts a port. ctx bounds its life.
func startProcess(ctx context.Context, command []string) (*process, error) {
	ctx, kill := context.WithCancel(ctx)
	p := &process{
		cmd: exec.CommandContext(ctx, command[0], command[1:]...), kill: kill,
		requests: make(chan []byte, 2*window), lines: make(chan []byte, window), exited: make(chan struct{}),
	}
	p.endInput = sync.OnceFunc(func() { close(p.requests) })
	err := p.start()
	if err != nil {
		kill()
	}
	return p, err
}

func (p *process) start() error {
	// A pipe of our own, because Wait closes exec's before all of it is read.
	output, theirs, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirs.Close()
	p.output, p.cmd.Stdout, p.cmd.Stderr = output, theirs, &p.stderr
	input, err := p.cmd.StdinPipe()
	if err == nil {
		killWithChildren(p.cmd)
		p.cmd.WaitDelay = graceTime // a child of the port may hold its stderr
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

func (p *process) write(input io.WriteCloser) {
	w := bufio.NewWriter(input)
	for line := range p.requests {
		// The errors are of no interest: a port that no longer reads shows by its
		// output.
		_, _ = w.Write(line)
		_ = w.WriteByte('\n')
		if len(p.requests) == 0 {
			_ = w.Flush()
		}
	}
	_ = input.Close()
}

func (p *process) read(output io.Reader) {
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

// stop ends the process, however it is.
func (p *process) stop() {
	p.endInput()
	p.kill()
	<-p.exited
	_ = p.output.Close() // a child of the port may hold the other end
	for range p.lines {
	}
}

// ended tells how a process whose output has ended came to that.
func (p *process) ended() string {
	how := "closed its output"
	select {
	case <-p.exited:
		how = "ended"
		if p.exitErr != nil {
			how = "ended with " + p.exitErr.Error()
		}
	case <-time.After(graceTime):
	}
	switch {
	case errors.Is(p.readErr, bufio.ErrTooLong):
		how = fmt.Sprintf("wrote a line of more than %d bytes", maxLine)
	case len(p.unfinished) > 0:
		how += fmt.Sprintf(" in the middle of a line, %s", quoted(p.unfinished))
	}
	return how + p.lastWords()
}

// lastWords returns the end of what the port wrote on standard error.
func (p *process) lastWords() string {
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
	if extra := len(t.bytes) - maxStderr; extra > 0 {
		t.bytes = append(t.bytes[:0], t.bytes[extra:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(bytes.ToValidUTF8(t.bytes, []byte("?"))))
}
