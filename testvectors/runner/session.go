package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/chunkwire/chunkwire/testvectors/runner/internal/process"
)

// ErrPort means that the port does not work: it does not start, does not answer
// the proof, or has to be started too often.
var ErrPort = errors.New("the port does not work")

const (
	// window is how many requests are under way at once: enough that a port
	// seldom waits for the next one.
	window = 64
	// maxRestarts is how often a port is started again.
	maxRestarts = 20
	// firstTimeouts is how much longer the first answer of a process may take:
	// it may have to be built, or to load a runtime.
	firstTimeouts = 3
	// unknownOp is the op that no port has.
	unknownOp = "no_such_op"
)

// exchange is a request that waits for its answer.
type exchange struct {
	name string
	id   string // the JSON of the id that the answer must have
	line []byte

	// answered is given the line that answers the request, fault what was wrong
	// instead; fault may also come later, about what followed the answer.
	answered func(line []byte)
	fault    func(Fault)
	missed   bool // a later one was answered before it

	// moot, when not nil, reports whether the answer is of no interest any more,
	// so that a new process need not be asked.
	moot func() bool
}

// session keeps a port running and sends exchanges to it.
type session struct {
	ctx      context.Context
	command  []string
	timeout  time.Duration
	proc     *process.Process
	restarts int
	lastID   int

	past  []*exchange // the latest that are over
	stray []byte      // what the very latest got, if that may not have been its answer
}

// newID returns an id for a request. They do not count lines, so that a port
// that does will be found out.
func (s *session) newID() string {
	s.lastID += 7
	return strconv.Itoa(s.lastID)
}

// start starts the port and proves it.
func (s *session) start() error {
	proc, err := process.Start(s.ctx, s.command, window)
	if err != nil {
		return fmt.Errorf("%w: cannot start: %w", ErrPort, err)
	}
	id := s.newID()
	proc.Requests <- proof(id)
	line, state := s.next(proc, firstTimeouts*s.timeout)
	problem := ""
	switch state {
	case interrupted:
		proc.Stop()
		return s.ctx.Err()
	case gotLine:
		if isUnsupported(line, id) {
			s.proc = proc
			return nil
		}
		problem = "answers " + process.Quoted(line)
	case outputEnded:
		problem = proc.Ended()
	case nothingCame:
		problem = fmt.Sprintf("does not answer within %v (does it flush each line?)%s", firstTimeouts*s.timeout, proc.LastWords())
	}
	proc.Stop()
	return fmt.Errorf(`%w: asked {"id":%s,"op":%q}, it must answer {"id":%s,"ok":false,"error":"unsupported"}, but it %s`, ErrPort, id, unknownOp, id, problem)
}

// proof is a request with an op that no port has.
func proof(id string) []byte { return []byte(`{"id":` + id + `,"op":"` + unknownOp + `"}`) }

// reading is what came of waiting for a line.
type reading int

const (
	gotLine reading = iota
	outputEnded
	nothingCame
	interrupted
)

func (s *session) next(p *process.Process, timeout time.Duration) ([]byte, reading) {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case line, ok := <-p.Lines:
		if s.ctx.Err() != nil {
			return nil, interrupted
		}
		if ok {
			return line, gotLine
		}
		return nil, outputEnded
	case <-timer.C:
		return nil, nothingCame
	case <-s.ctx.Done():
		return nil, interrupted
	}
}

// run sends the port all exchanges that next returns, until it returns nil.
func (s *session) run(next func() *exchange) error {
	var pending []*exchange
	for {
		if s.proc == nil {
			if err := s.start(); err != nil {
				return err
			}
			pending = slices.DeleteFunc(pending, func(e *exchange) bool { return e.moot != nil && e.moot() })
			for _, e := range pending {
				s.proc.Requests <- e.line
			}
		}
		for len(pending) < window {
			e := next()
			if e == nil {
				break
			}
			pending = append(pending, e)
			s.proc.Requests <- e.line
		}
		if len(pending) == 0 {
			return nil
		}
		line, state := s.next(s.proc, s.timeout)
		switch state {
		case interrupted:
			return s.ctx.Err()
		case gotLine:
			pending = s.match(line, pending)
			continue
		}
		s.lost(pending[0], state)
		pending = pending[1:]
		if s.restarts == maxRestarts {
			return fmt.Errorf("%w: gave up after %d restarts", ErrPort, maxRestarts)
		}
		s.restarts++
	}
}

// lost reports to an exchange that the port ended, or hung, over it.
func (s *session) lost(e *exchange, state reading) {
	if state == outputEnded {
		e.fault(Fault{Kind: Crash, Message: "the port " + s.proc.Ended()})
	} else {
		e.fault(Fault{Kind: Hang, Message: fmt.Sprintf("no answer within %v%s", s.timeout, s.proc.LastWords())})
	}
	s.proc.Stop()
	s.proc, s.past, s.stray = nil, nil, nil
}

// finish ends the port by the end of its input, and returns what is wrong with
// how it ends; checked is false if none was running.
func (s *session) finish() (f *Fault, checked bool) {
	if s.proc == nil {
		return nil, false
	}
	s.proc.EndInput()
	defer s.proc.Stop()
	for {
		line, state := s.next(s.proc, s.timeout)
		switch state {
		case interrupted:
			return nil, false
		case nothingCame:
			return &Fault{Kind: Hang, Message: fmt.Sprintf("at the end of its input the port does not exit within %v", s.timeout)}, true
		case outputEnded:
			return s.farewell(), true
		}
		if !s.extra(idOf(line), line) {
			f = &Fault{Kind: ExtraLine, Message: "after its last answer the port writes " + process.Quoted(line)}
			return f, true
		}
	}
}

func (s *session) farewell() *Fault {
	how := s.proc.Ended()
	if s.proc.HalfALine() {
		return &Fault{Kind: ExtraLine, Message: "at the end of its input the port " + how}
	}
	if s.proc.Succeeded() {
		return nil
	}
	return &Fault{Kind: Crash, Message: "at the end of its input the port must exit with 0, but it " + how}
}

// close ends the port in any case.
func (s *session) close() {
	if s.proc != nil {
		s.proc.Stop()
	}
}
