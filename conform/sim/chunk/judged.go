package chunk

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
)

// Fail reports what is wrong, as the Fatalf of a test does. It must not return.
type Fail func(format string, args ...any)

// JudgedSender is a sender in front of a judge, who is shown every call and its result. It
// is for drivers that are never late.
type JudgedSender struct {
	SenderMachine
	judge *SenderJudge
	fail  Fail // is called for the first violation
}

// NewJudgedSender returns the sender in front of the judge. It calls fail for the
// first violation.
func NewJudgedSender(s SenderMachine, judge *SenderJudge, fail Fail) *JudgedSender {
	return &JudgedSender{s, judge, fail}
}

// Submit is the event of the machine.
func (s *JudgedSender) Submit(now core.Micros, chunk []byte) error {
	s.check(s.judge.Waited(now, 0))
	err := s.SenderMachine.Submit(now, chunk)
	s.check(s.judge.Submitted(now, chunk, err == nil))
	return err
}

// HandleAck is the event of the machine.
func (s *JudgedSender) HandleAck(now core.Micros, a codec.Ack) (ours bool) {
	s.check(s.judge.Waited(now, 0))
	chunks := s.Stats().Chunks
	s.judge.Acked(now, a)
	ours = s.SenderMachine.HandleAck(now, a)
	s.check(s.judge.Reported(s.Stats().Chunks > chunks))
	return ours
}

// Poll is the event of the machine.
func (s *JudgedSender) Poll(now core.Micros) (codec.Slice, bool) {
	s.check(s.judge.Waited(now, 0))
	s.judge.At(now) // observations come before the slice
	deadline := s.Deadline()
	slice, ok := s.SenderMachine.Poll(now)
	if ok {
		s.check(s.judge.Sent(now, slice, slice.DatagramSize(), deadline))
		return slice, true
	}
	if s.Err() != nil && !s.judge.failed() {
		s.check(s.judge.GaveUp(now))
	}
	s.check(s.judge.Polled(now, s.Deadline()))
	return slice, false
}

func (s *JudgedSender) check(v *Violation) {
	if v != nil {
		s.fail("the sender violates %v", v)
	}
}

// JudgedReceiver is a receiver in front of a judge.
type JudgedReceiver struct {
	ReceiverMachine
	judge *ReceiverJudge
	fail  Fail
}

// NewJudgedReceiver returns the receiver in front of the judge. It calls fail for
// the first violation.
func NewJudgedReceiver(r ReceiverMachine, judge *ReceiverJudge, fail Fail) *JudgedReceiver {
	return &JudgedReceiver{r, judge, fail}
}

// HandleSlice is the event of the machine.
func (r *JudgedReceiver) HandleSlice(now core.Micros, s codec.Slice) (ours bool) {
	r.check(r.judge.Waited(now, 0))
	r.judge.Arrived(now, s)
	ours = r.ReceiverMachine.HandleSlice(now, s)
	r.check(r.judge.Deadline(r.ReceiverMachine.Deadline()))
	return ours
}

// Read is the event of the machine.
func (r *JudgedReceiver) Read(now core.Micros, dst []byte) ([]byte, error) {
	chunk, err := r.ReceiverMachine.Read(now, dst)
	r.check(r.judge.Read(now, chunk[len(dst):], err == nil))
	return chunk, err
}

// Poll is the event of the machine.
func (r *JudgedReceiver) Poll(now core.Micros) (codec.Ack, bool) {
	r.check(r.judge.Waited(now, 0))
	ack, ok := r.ReceiverMachine.Poll(now)
	if ok {
		r.check(r.judge.Sent(now, ack))
		return ack, true
	}
	if r.Err() != nil && !r.judge.failed() {
		r.check(r.judge.GaveUp(now))
	}
	r.check(r.judge.Polled(now, r.Deadline()))
	return ack, false
}

func (r *JudgedReceiver) check(v *Violation) {
	if v != nil {
		r.fail("the receiver violates %v", v)
	}
}
