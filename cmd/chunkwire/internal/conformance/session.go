package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// ErrPort says that the port does not work: it does not start, does not answer
// the proof, or has to be started again and again.
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

// session keeps a port running and puts exchanges to it.
type session struct {
	ctx      context.Context
	command  []string
	timeout  time.Duration
	proc     *process
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
	proc, err := startProcess(s.ctx, s.command)
	if err != nil {
		return fmt.Errorf("%w: cannot start: %w", ErrPort, err)
	}
	id := s.newID()
	proc.requests <- []byte(`{"id":` + id + `,"op":"` + unknownOp + `"}`)
	line, state := s.next(proc, firstTimeouts*s.timeout)
	problem := ""
	switch state {
	case interrupted:
		proc.stop()
		return s.ctx.Err()
	case gotLine:
		if isUnsupported(line, id) {
			s.proc = proc
			return nil
		}
		problem = "answers " + quoted(line)
	case outputEnded:
		problem = proc.ended()
	case nothingCame:
		problem = fmt.Sprintf("does not answer within %v (does it flush each line?)%s", firstTimeouts*s.timeout, proc.lastWords())
	}
	proc.stop()
	return fmt.Errorf(`%w: asked {"id":%s,"op":%q}, it must answer {"id":%s,"ok":false,"error":"unsupported"}, but it %s`, ErrPort, id, unknownOp, id, problem)
}

// reading is what came of waiting for a line.
type reading int

const (
	gotLine reading = iota
	outputEnded
	nothingCame
	interrupted
)

func (s *session) next(p *process, timeout time.Duration) ([]byte, reading) {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case line, ok := <-p.lines:
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

// run puts to the port all exchanges that next returns, until it returns nil.
func (s *session) run(next func() *exchange) error {
	var pending []*exchange
	for {
		if s.proc == nil {
			if err := s.start(); err != nil {
				return err
			}
			pending = slices.DeleteFunc(pending, func(e *exchange) bool { return e.moot != nil && e.moot() })
			for _, e := range pending {
				s.proc.requests <- e.line
			}
		}
		for len(pending) < window {
			e := next()
			if e == nil {
				break
			}
			pending = append(pending, e)
			s.proc.requests <- e.line
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

// lost tells an exchange that the port went down, or stood still, over it.
func (s *session) lost(e *exchange, state reading) {
	if state == outputEnded {
		e.fault(Fault{Kind: Crash, Message: "the port " + s.proc.ended()})
	} else {
		e.fault(Fault{Kind: Hang, Message: fmt.Sprintf("no answer within %v%s", s.timeout, s.proc.lastWords())})
	}
	s.proc.stop()
	s.proc, s.past, s.stray = nil, nil, nil
}

// match finds what a line answers, and returns what still waits after it.
func (s *session) match(line []byte, pending []*exchange) []*exchange {
	id := idOf(line)
	if id == pending[0].id {
		pending[0].answered(line)
		s.over(pending[0], nil)
		return pending[1:]
	}
	if s.extra(id, line) {
		return pending
	}
	if i := slices.IndexFunc(pending, func(e *exchange) bool { return e.id == id }); i > 0 {
		for _, e := range pending[:i] {
			e.fault(Fault{Kind: MissingLine, Message: "no answer; the next line answers " + pending[i].name, Actual: line})
			e.missed = true
			s.over(e, nil)
		}
		pending[i].answered(line)
		s.over(pending[i], nil)
		return pending[i+1:]
	}
	if id == "" {
		pending[0].fault(Fault{Kind: Garbage, Message: "the answer is not a JSON object with an id: " + quoted(line)})
	} else {
		pending[0].fault(Fault{Kind: WrongID, Message: fmt.Sprintf("the answer has the id %s, not %s", id, pending[0].id), Actual: line})
	}
	s.over(pending[0], line)
	return pending[1:]
}

// extra reports whether a line belongs to an exchange that is over, and blames
// that one.
func (s *session) extra(id string, line []byte) bool {
	i := slices.IndexFunc(s.past, func(e *exchange) bool { return e.id == id })
	if i < 0 {
		return false
	}
	f := Fault{Kind: ExtraLine, Message: "answered twice, the second time by " + quoted(line)}
	switch {
	case s.past[i].missed:
		f = Fault{Kind: OutOfOrder, Message: "answered after a later request", Actual: line}
		s.past[i].missed = false
	case s.stray != nil && i == len(s.past)-1:
		f.Message = "a line too many came before its answer, " + quoted(s.stray)
	}
	s.past[i].fault(f)
	s.stray = nil
	return true
}

// over notes that an exchange is over, by a stray line or not.
func (s *session) over(e *exchange, stray []byte) {
	if len(s.past) == 2*window {
		s.past = append(s.past[:0], s.past[window:]...)
	}
	s.past, s.stray = append(s.past, e), stray
}

// finish ends the port by the end of its input, and returns what is wrong with
// how it ends; checked is false if none was running.
func (s *session) finish() (f *Fault, checked bool) {
	if s.proc == nil {
		return nil, false
	}
	s.proc.endInput()
	defer s.proc.stop()
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
			f = &Fault{Kind: ExtraLine, Message: "after its last answer the port writes " + quoted(line)}
			return f, true
		}
	}
}

func (s *session) farewell() *Fault {
	how := s.proc.ended()
	if len(s.proc.unfinished) > 0 {
		return &Fault{Kind: ExtraLine, Message: "at the end of its input the port " + how}
	}
	select {
	case <-s.proc.exited:
		if s.proc.exitErr == nil {
			return nil
		}
	default:
	}
	return &Fault{Kind: Crash, Message: "at the end of its input the port must exit with 0, but it " + how}
}

// close ends the port in any case.
func (s *session) close() {
	if s.proc != nil {
		s.proc.stop()
	}
}

// idOf returns the JSON of a response's id, or "" if there is none. A line that
// begins with its id is believed; what follows is for judge to look at.
func idOf(line []byte) string {
	if rest, ok := bytes.CutPrefix(line, []byte(`{"id":`)); ok {
		if end := bytes.IndexAny(rest, ",}"); end > 0 && end <= len("18446744073709551615") && allDigits(rest[:end]) {
			return string(rest[:end])
		}
	}
	var r struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(line, &r) != nil {
		return ""
	}
	return string(r.ID)
}

func allDigits(b []byte) bool {
	return !bytes.ContainsFunc(b, func(r rune) bool { return r < '0' || r > '9' })
}

// isUnsupported reports whether a line says, exactly, that the port does not
// have what it was asked for.
func isUnsupported(line []byte, id string) bool {
	want, _ := parseValue([]byte(`{"id":` + id + `,"ok":false,"error":"unsupported"}`))
	got, err := parseValue(line)
	return err == nil && len(differences("", want, got)) == 0
}

// quoted returns the beginning of a line, for a message.
func quoted(line []byte) string {
	const most = 200
	line = bytes.TrimSpace(line)
	if len(line) > most {
		return fmt.Sprintf("%q… (%d bytes)", line[:most], len(line))
	}
	return strconv.Quote(string(line))
}
