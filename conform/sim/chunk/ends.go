// Package chunk runs the chunk protocol's machines in virtual time: what package
// sim needs of them, and the transfer of a chunk from one end to the other, for
// either kind of slices.
package chunk

import (
	"fmt"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// SenderMachine is a statemachine.Sender, or one beside its oracle.
type SenderMachine interface {
	Submit(now core.Micros, chunk []byte) error
	HandleAck(now core.Micros, a codec.Ack) (ours bool)
	Poll(now core.Micros) (codec.Slice, bool)
	Deadline() core.Micros
	Err() error
	Vars() statemachine.SenderVars
	Stats() statemachine.SenderStats
}

// ReceiverMachine is a statemachine.Receiver, or one beside its oracle.
type ReceiverMachine interface {
	HandleSlice(now core.Micros, s codec.Slice) (ours bool)
	Read(now core.Micros, dst []byte) ([]byte, error)
	Poll(now core.Micros) (codec.Ack, bool)
	Deadline() core.Micros
	Err() error
	Vars() statemachine.ReceiverVars
	Stats() statemachine.ReceiverStats
}

var (
	_ SenderMachine   = (*statemachine.Sender)(nil)
	_ ReceiverMachine = (*statemachine.Receiver)(nil)
)

// Sender makes a sim.End of a sender. Packets cross as values: of the codec only
// the sizes count.
type Sender struct{ SenderMachine }

// Handle takes an ack.
func (s Sender) Handle(now core.Micros, p codec.Packet) {
	if p.Type == codec.TypeAck {
		s.HandleAck(now, p.Ack)
	}
}

// Sending reports whether a chunk is in flight.
func (s Sender) Sending() bool { return s.Vars().State == statemachine.SenderSending }

// SlicesSent returns how many slice packets were sent.
func (s Sender) SlicesSent() int64 { return s.Stats().SlicesSent }

// Poll returns a slice to send.
func (s Sender) Poll(now core.Micros) (codec.Packet, bool) {
	slice, ok := s.SenderMachine.Poll(now)
	return codec.Packet{Type: codec.TypeSlice, Slice: slice}, ok
}

// Receiver makes a sim.End of a receiver.
type Receiver struct{ ReceiverMachine }

// Handle takes a slice.
func (r Receiver) Handle(now core.Micros, p codec.Packet) {
	if p.Type == codec.TypeSlice {
		r.HandleSlice(now, p.Slice)
	}
}

// Ready reports whether a complete chunk waits to be read.
func (r Receiver) Ready() bool { return r.Vars().State == statemachine.ReceiverReady }

// Poll returns an ack to send.
func (r Receiver) Poll(now core.Micros) (codec.Packet, bool) {
	ack, ok := r.ReceiverMachine.Poll(now)
	return codec.Packet{Type: codec.TypeAck, Ack: ack}, ok
}

// Size returns a function for the size of a packet's datagram in bytes.
func Size(kind codec.Kind) func(p codec.Packet) int {
	return func(p codec.Packet) int {
		if p.Type == codec.TypeSlice {
			return p.Slice.DatagramSize()
		}
		return kind.AckSize(p.Ack.NumSlices)
	}
}

// Text returns a packet that an end sends in words, for traces.
func Text(_ int, p codec.Packet) string {
	if p.Type == codec.TypeSlice {
		return fmt.Sprintf("sender -- slice %d/%d of chunk %d", p.Slice.SliceID, p.Slice.NumSlices, p.Slice.ChunkID)
	}
	text := fmt.Sprintf("receiver -- ack of %d of %d slices of chunk %d", max(p.Ack.Acked.Count(), p.Ack.Have), p.Ack.NumSlices, p.Ack.ChunkID)
	if p.Ack.Top > 0 {
		text += fmt.Sprintf(", below %d", p.Ack.Top)
	}
	return text
}
