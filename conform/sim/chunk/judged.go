package chunk

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// SenderFront shows a judge every call of a sender and its result: C are chunks, A acks
// and S slices of a variant. It is for drivers that are never late.
type SenderFront[C, A, S any] struct {
	Machine interface {
		Submit(now core.Micros, chunk C) error
		HandleAck(now core.Micros, a A) (ours bool)
		Poll(now core.Micros) (S, bool)
		Deadline() core.Micros
		Err() error
		Stats() statemachine.SenderStats
	}
	Judge interface {
		Submitted(now core.Micros, chunk C, taken bool) *Violation
		Acked(now core.Micros, a A)
		Reported(delivered bool) *Violation
		Sent(now core.Micros, s S, size int, deadline core.Micros) *Violation
		GaveUp(now core.Micros) *Violation
		Polled(now, deadline core.Micros) *Violation
		Waited(now, since core.Micros) *Violation
		At(now core.Micros) core.Micros
		hasFailed() bool
	}
	Size func(S) int // of a slice's datagram, in bytes
	Fail Fail        // is called for the first violation
}

// Submit is the event of the machine.
func (s *SenderFront[C, A, S]) Submit(now core.Micros, chunk C) error {
	s.check(s.Judge.Waited(now, 0))
	err := s.Machine.Submit(now, chunk)
	s.check(s.Judge.Submitted(now, chunk, err == nil))
	return err
}

// HandleAck is the event of the machine.
func (s *SenderFront[C, A, S]) HandleAck(now core.Micros, a A) (ours bool) {
	s.check(s.Judge.Waited(now, 0))
	chunks := s.Machine.Stats().Chunks
	s.Judge.Acked(now, a)
	ours = s.Machine.HandleAck(now, a)
	s.check(s.Judge.Reported(s.Machine.Stats().Chunks > chunks))
	return ours
}

// Poll is the event of the machine.
func (s *SenderFront[C, A, S]) Poll(now core.Micros) (S, bool) {
	s.check(s.Judge.Waited(now, 0))
	s.Judge.At(now) // observations come before the slice
	deadline := s.Machine.Deadline()
	slice, ok := s.Machine.Poll(now)
	if ok {
		s.check(s.Judge.Sent(now, slice, s.Size(slice), deadline))
		return slice, true
	}
	if s.Machine.Err() != nil && !s.Judge.hasFailed() {
		s.check(s.Judge.GaveUp(now))
	}
	s.check(s.Judge.Polled(now, s.Machine.Deadline()))
	return slice, false
}

func (s *SenderFront[C, A, S]) check(v *Violation) {
	if v != nil {
		s.Fail("the sender violates %v", v)
	}
}

// ReceiverFront does the same for a receiver.
type ReceiverFront[A, S any] struct {
	Machine interface {
		HandleSlice(now core.Micros, s S) (ours bool)
		Read(now core.Micros, dst []byte) ([]byte, error)
		Poll(now core.Micros) (A, bool)
		Deadline() core.Micros
		Err() error
	}
	Judge interface {
		Arrived(now core.Micros, s S)
		Read(now core.Micros, chunk []byte, got bool) *Violation
		Sent(now core.Micros, a A) *Violation
		GaveUp(now core.Micros) *Violation
		Deadline(deadline core.Micros) *Violation
		Polled(now, deadline core.Micros) *Violation
		Waited(now, since core.Micros) *Violation
		hasFailed() bool
	}
	Fail Fail
}

// HandleSlice is the event of the machine.
func (r *ReceiverFront[A, S]) HandleSlice(now core.Micros, s S) (ours bool) {
	r.check(r.Judge.Waited(now, 0))
	r.Judge.Arrived(now, s)
	ours = r.Machine.HandleSlice(now, s)
	r.check(r.Judge.Deadline(r.Machine.Deadline()))
	return ours
}

// Read is the event of the machine.
func (r *ReceiverFront[A, S]) Read(now core.Micros, dst []byte) ([]byte, error) {
	chunk, err := r.Machine.Read(now, dst)
	r.check(r.Judge.Read(now, chunk[len(dst):], err == nil))
	return chunk, err
}

// Poll is the event of the machine.
func (r *ReceiverFront[A, S]) Poll(now core.Micros) (A, bool) {
	r.check(r.Judge.Waited(now, 0))
	ack, ok := r.Machine.Poll(now)
	if ok {
		r.check(r.Judge.Sent(now, ack))
		return ack, true
	}
	if r.Machine.Err() != nil && !r.Judge.hasFailed() {
		r.check(r.Judge.GaveUp(now))
	}
	r.check(r.Judge.Polled(now, r.Machine.Deadline()))
	return ack, false
}

func (r *ReceiverFront[A, S]) check(v *Violation) {
	if v != nil {
		r.Fail("the receiver violates %v", v)
	}
}

// JudgedSender is a sender in front of a judge.
type JudgedSender struct {
	SenderMachine
	front SenderFront[[]byte, codec.Ack, codec.Slice]
}

// NewJudgedSender returns the sender in front of the judge. It calls fail for the
// first violation.
func NewJudgedSender(s SenderMachine, judge *SenderJudge, fail Fail) *JudgedSender {
	size := func(s codec.Slice) int { return s.DatagramSize() }
	return &JudgedSender{s, SenderFront[[]byte, codec.Ack, codec.Slice]{s, judge, size, fail}}
}

// Submit is the event of the machine.
func (s *JudgedSender) Submit(now core.Micros, chunk []byte) error {
	return s.front.Submit(now, chunk)
}

// HandleAck is the event of the machine.
func (s *JudgedSender) HandleAck(now core.Micros, a codec.Ack) (ours bool) {
	return s.front.HandleAck(now, a)
}

// Poll is the event of the machine.
func (s *JudgedSender) Poll(now core.Micros) (codec.Slice, bool) { return s.front.Poll(now) }

// JudgedReceiver is a receiver in front of a judge.
type JudgedReceiver struct {
	ReceiverMachine
	front ReceiverFront[codec.Ack, codec.Slice]
}

// NewJudgedReceiver returns the receiver in front of the judge. It calls fail for
// the first violation.
func NewJudgedReceiver(r ReceiverMachine, judge *ReceiverJudge, fail Fail) *JudgedReceiver {
	return &JudgedReceiver{r, ReceiverFront[codec.Ack, codec.Slice]{r, judge, fail}}
}

// HandleSlice is the event of the machine.
func (r *JudgedReceiver) HandleSlice(now core.Micros, s codec.Slice) (ours bool) {
	return r.front.HandleSlice(now, s)
}

// Read is the event of the machine.
func (r *JudgedReceiver) Read(now core.Micros, dst []byte) ([]byte, error) {
	return r.front.Read(now, dst)
}

// Poll is the event of the machine.
func (r *JudgedReceiver) Poll(now core.Micros) (codec.Ack, bool) { return r.front.Poll(now) }
