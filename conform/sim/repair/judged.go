package repair

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/core"
)

// JudgedSender is a sender in front of a judge.
type JudgedSender struct {
	SenderMachine
	front chunk.SenderFront[[]byte, codec.Ack, codec.Slice]
}

// NewJudgedSender returns the sender in front of the judge. It calls fail for the
// first violation.
func NewJudgedSender(s SenderMachine, judge *SenderJudge, fail chunk.Fail) *JudgedSender {
	size := func(s codec.Slice) int { return s.DatagramSize() }
	return &JudgedSender{s, chunk.SenderFront[[]byte, codec.Ack, codec.Slice]{Machine: s, Judge: judge, Size: size, Fail: fail}}
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
	front chunk.ReceiverFront[codec.Ack, codec.Slice]
}

// NewJudgedReceiver returns the receiver in front of the judge. It calls fail for
// the first violation.
func NewJudgedReceiver(r ReceiverMachine, judge *ReceiverJudge, fail chunk.Fail) *JudgedReceiver {
	return &JudgedReceiver{r, chunk.ReceiverFront[codec.Ack, codec.Slice]{Machine: r, Judge: judge, Fail: fail}}
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
