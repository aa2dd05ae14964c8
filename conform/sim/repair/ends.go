// Package repair runs the machines of repair slices in virtual time, as package
// conform/sim/chunk does with those of the chunk protocol, of which they are a variant: worlds
// and transfers, an exact model of each machine, and judges that know a machine from
// outside only. What is the same for both is in conform/sim/chunk.
package repair

import (
	"errors"
	"fmt"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/netsim"
	protocol "github.com/chunkwire/chunkwire/repair"
	"github.com/chunkwire/chunkwire/statemachine"
)

// SenderMachine is a repair.Sender, its model, or both.
type SenderMachine interface {
	Submit(now core.Micros, e *erasure.Encoded) error
	HandleAck(now core.Micros, a protocol.Ack) (ours bool)
	Poll(now core.Micros) (protocol.Slice, bool)
	Deadline() core.Micros
	Err() error
	Vars() protocol.SenderVars
	Stats() statemachine.SenderStats
}

// ReceiverMachine is a repair.Receiver, its model, or both.
type ReceiverMachine interface {
	HandleSlice(now core.Micros, s protocol.Slice) (ours bool)
	Read(now core.Micros, dst []byte) ([]byte, error)
	Poll(now core.Micros) (protocol.Ack, bool)
	Deadline() core.Micros
	Err() error
	Vars() protocol.ReceiverVars
	Stats() statemachine.ReceiverStats
}

var (
	_ SenderMachine   = (*protocol.Sender)(nil)
	_ SenderMachine   = (*SenderModel)(nil)
	_ SenderMachine   = (*CheckedSender)(nil)
	_ ReceiverMachine = (*protocol.Receiver)(nil)
	_ ReceiverMachine = (*ReceiverModel)(nil)
	_ ReceiverMachine = (*CheckedReceiver)(nil)
)

// Sender makes a sim.End of a sender. Packets cross as values: of the codec only the
// sizes count.
type Sender struct{ SenderMachine }

// Submit encodes a chunk and submits it.
func (s Sender) Submit(now core.Micros, data []byte) error {
	return s.SenderMachine.Submit(now, erasure.Encode(data))
}

// Handle takes an ack.
func (s Sender) Handle(now core.Micros, p protocol.Packet) {
	if p.Type == codec.TypeAck {
		s.HandleAck(now, p.Ack)
	}
}

// Sending reports whether a chunk is in flight.
func (s Sender) Sending() bool { return s.Vars().State == statemachine.SenderSending }

// SlicesSent returns how many slice packets were sent.
func (s Sender) SlicesSent() int64 { return s.Stats().SlicesSent }

// Poll returns a slice to send.
func (s Sender) Poll(now core.Micros) (protocol.Packet, bool) {
	slice, ok := s.SenderMachine.Poll(now)
	return protocol.Packet{Type: codec.TypeSlice, Slice: slice}, ok
}

// Receiver makes a sim.End of a receiver.
type Receiver struct{ ReceiverMachine }

// Handle takes a slice.
func (r Receiver) Handle(now core.Micros, p protocol.Packet) {
	if p.Type == codec.TypeSlice {
		r.HandleSlice(now, p.Slice)
	}
}

// Ready reports whether a complete chunk waits to be read.
func (r Receiver) Ready() bool { return r.Vars().State == statemachine.ReceiverReady }

// Poll returns an ack to send.
func (r Receiver) Poll(now core.Micros) (protocol.Packet, bool) {
	ack, ok := r.ReceiverMachine.Poll(now)
	return protocol.Packet{Type: codec.TypeAck, Ack: ack}, ok
}

// Size returns the size of a packet's datagram in bytes.
func Size(p protocol.Packet) int {
	if p.Type == codec.TypeSlice {
		return p.Slice.DatagramSize()
	}
	return p.Ack.DatagramSize()
}

// Text returns a packet that an end sends in words, for traces.
func Text(_ int, p protocol.Packet) string {
	if p.Type == codec.TypeSlice {
		return fmt.Sprintf("sender -- id %d of %d slices of chunk %d", p.Slice.ID, p.Slice.NumSlices, p.Slice.ChunkID)
	}
	return fmt.Sprintf("receiver -- ack of %d of %d slices of chunk %d, below %d", p.Ack.Have, p.Ack.NumSlices, p.Ack.ChunkID, p.Ack.Top)
}

// event is what the log says of a packet that was dropped.
func event(p protocol.Packet) eventlog.Event {
	if p.Type == codec.TypeSlice {
		return eventlog.Event{Bytes: p.Slice.DatagramSize(), Carried: eventlog.Slice, ChunkID: p.Slice.ChunkID, SliceID: p.Slice.ID}
	}
	return eventlog.Event{Bytes: p.Ack.DatagramSize(), Carried: eventlog.Ack, ChunkID: p.Ack.ChunkID}
}

// variant is how these machines are used.
var variant = chunk.Variant[protocol.Packet, SenderMachine, ReceiverMachine]{
	Outbound: func(s SenderMachine) chunk.Outbound[protocol.Packet] { return Sender{s} },
	Inbound:  func(r ReceiverMachine) chunk.Inbound[protocol.Packet] { return Receiver{r} },
	Judged: func(s SenderMachine, r ReceiverMachine, giveUps [2]core.Micros, pace chunk.Pace, fail chunk.Fail) (SenderMachine, ReceiverMachine) {
		stream := &chunk.Stream{FirstID: s.Vars().ChunkID}
		return NewJudgedSender(s, NewSenderJudge(stream, pace, giveUps[0], 0), fail),
			NewJudgedReceiver(r, NewReceiverJudge(stream, giveUps[1], 0), fail)
	},
}

// World is a sender, a receiver, a simple network each way, and an application.
type World = chunk.WorldOf[protocol.Packet, SenderMachine, ReceiverMachine]

// NewWorld returns a world of two new machines, in which packets take half of a round
// trip in either direction.
func NewWorld(sender protocol.SenderConfig, receiver protocol.ReceiverConfig, roundTrip core.Micros) (*World, error) {
	s, err1 := protocol.NewSender(sender)
	r, err2 := protocol.NewReceiver(receiver)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	return chunk.NewWorldOf(&variant, SenderMachine(s), ReceiverMachine(r), [2]core.Micros{sender.GiveUp, receiver.GiveUp}, roundTrip), nil
}

// Troubled returns the run of a new world for explore.Troubles: chunks are sent one
// after the other, in front of judges, and each waits for a while to be read.
func Troubled(scheduler func() (protocol.Scheduler, error), pace chunk.Pace, readTime core.Micros, chunks ...[]byte) func(sim.Carrier[protocol.Packet]) (core.Micros, error) {
	return chunk.TroubledOf(func() (*World, error) {
		sched, err1 := scheduler()
		w, err2 := NewWorld(protocol.SenderConfig{Scheduler: sched}, protocol.ReceiverConfig{}, 0)
		return w, errors.Join(err1, err2)
	}, pace, readTime, chunks...)
}

// Conversation is a sender and a receiver with a link each way: slices go down, acks
// up.
type Conversation = chunk.ConversationOf[protocol.Packet, *protocol.Sender, *protocol.Receiver]

// NewConversation returns a conversation of two new machines over these links.
func NewConversation(sender protocol.SenderConfig, receiver protocol.ReceiverConfig, down, up *netsim.Link) (*Conversation, error) {
	s, err1 := protocol.NewSender(sender)
	r, err2 := protocol.NewReceiver(receiver)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	return chunk.NewConversationOf(s, r, chunk.Outbound[protocol.Packet](Sender{s}), chunk.Inbound[protocol.Packet](Receiver{r}), down, up, Size, event), nil
}
