package repair

import (
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/core"
	protocol "github.com/chunkwire/chunkwire/repair"
)

// JudgedSender is a sender in front of a judge.
type JudgedSender struct {
	SenderMachine
	front chunk.SenderFront[*erasure.Encoded, protocol.Ack, protocol.Slice]
}

// NewJudgedSender returns the sender in front of the judge. It calls fail for the
// first violation.
func NewJudgedSender(s SenderMachine, judge *SenderJudge, fail chunk.Fail) *JudgedSender {
	size := func(s protocol.Slice) int { return s.DatagramSize() }
	return &JudgedSender{s, chunk.SenderFront[*erasure.Encoded, protocol.Ack, protocol.Slice]{Machine: s, Judge: judge, Size: size, Fail: fail}}
}

// Submit is the event of the machine.
func (s *JudgedSender) Submit(now core.Micros, e *erasure.Encoded) error {
	return s.front.Submit(now, e)
}

// HandleAck is the event of the machine.
func (s *JudgedSender) HandleAck(now core.Micros, a protocol.Ack) (ours bool) {
	return s.front.HandleAck(now, a)
}

// Poll is the event of the machine.
func (s *JudgedSender) Poll(now core.Micros) (protocol.Slice, bool) { return s.front.Poll(now) }

// JudgedReceiver is a receiver in front of a judge.
type JudgedReceiver struct {
	ReceiverMachine
	front chunk.ReceiverFront[protocol.Ack, protocol.Slice]
}

// NewJudgedReceiver returns the receiver in front of the judge. It calls fail for
// the first violation.
func NewJudgedReceiver(r ReceiverMachine, judge *ReceiverJudge, fail chunk.Fail) *JudgedReceiver {
	return &JudgedReceiver{r, chunk.ReceiverFront[protocol.Ack, protocol.Slice]{Machine: r, Judge: judge, Fail: fail}}
}

// HandleSlice is the event of the machine.
func (r *JudgedReceiver) HandleSlice(now core.Micros, s protocol.Slice) (ours bool) {
	return r.front.HandleSlice(now, s)
}

// Read is the event of the machine.
func (r *JudgedReceiver) Read(now core.Micros, dst []byte) ([]byte, error) {
	return r.front.Read(now, dst)
}

// Poll is the event of the machine.
func (r *JudgedReceiver) Poll(now core.Micros) (protocol.Ack, bool) { return r.front.Poll(now) }
