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
	"github.com/chunkwire/chunkwire/statemachine"
)

// SenderMachine is a repair.Sender, its model, or both.
type SenderMachine interface {
	Submit(now core.Micros, chunk []byte) error
	HandleAck(now core.Micros, a codec.Ack) (ours bool)
	Poll(now core.Micros) (codec.Slice, bool)
	Deadline() core.Micros
	Err() error
	Vars() statemachine.SenderVars
	Stats() statemachine.SenderStats
}

// ReceiverMachine is a repair.Receiver, its model, or both.
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
	_ SenderMachine   = (*SenderModel)(nil)
	_ SenderMachine   = (*CheckedSender)(nil)
	_ ReceiverMachine = (*statemachine.Receiver)(nil)
	_ ReceiverMachine = (*ReceiverModel)(nil)
	_ ReceiverMachine = (*CheckedReceiver)(nil)
)

// Sender makes a sim.End of a sender. Packets cross as values: of the codec only the
// sizes count.
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

// Size returns the size of a packet's datagram in bytes.
func Size(p codec.Packet) int {
	if p.Type == codec.TypeSlice {
		return p.Slice.DatagramSize()
	}
	return codec.Repair.AckSize(p.Ack.NumSlices)
}

// Text returns a packet that an end sends in words, for traces.
func Text(_ int, p codec.Packet) string {
	if p.Type == codec.TypeSlice {
		return fmt.Sprintf("sender -- id %d of %d slices of chunk %d", p.Slice.SliceID, p.Slice.NumSlices, p.Slice.ChunkID)
	}
	return fmt.Sprintf("receiver -- ack of %d of %d slices of chunk %d, below %d", p.Ack.Have, p.Ack.NumSlices, p.Ack.ChunkID, p.Ack.Top)
}

// event is what the log says of a packet that was dropped.
func event(p codec.Packet) eventlog.Event {
	if p.Type == codec.TypeSlice {
		return eventlog.Event{Bytes: p.Slice.DatagramSize(), Carried: eventlog.Slice, ChunkID: p.Slice.ChunkID, SliceID: p.Slice.SliceID}
	}
	return eventlog.Event{Bytes: Size(p), Carried: eventlog.Ack, ChunkID: p.Ack.ChunkID}
}

// variant is how these machines are used.
var variant = chunk.Variant[codec.Packet, SenderMachine, ReceiverMachine]{
	Outbound: func(s SenderMachine) chunk.Outbound[codec.Packet] { return Sender{s} },
	Inbound:  func(r ReceiverMachine) chunk.Inbound[codec.Packet] { return Receiver{r} },
	Judged: func(s SenderMachine, r ReceiverMachine, giveUps [2]core.Micros, pace chunk.Pace, fail chunk.Fail) (SenderMachine, ReceiverMachine) {
		stream := &chunk.Stream{FirstID: s.Vars().ChunkID}
		return NewJudgedSender(s, NewSenderJudge(stream, pace, giveUps[0], 0), fail),
			NewJudgedReceiver(r, NewReceiverJudge(stream, giveUps[1], 0), fail)
	},
}

// World is a sender, a receiver, a simple network each way, and an application.
type World = chunk.WorldOf[codec.Packet, SenderMachine, ReceiverMachine]

// NewWorld returns a world of two new machines, in which packets take half of a round
// trip in either direction.
func NewWorld(sender statemachine.SenderConfig, receiver statemachine.ReceiverConfig, roundTrip core.Micros) (*World, error) {
	s, err1 := statemachine.NewSender(sender)
	r, err2 := statemachine.NewReceiver(receiver)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	return chunk.NewWorldOf(&variant, SenderMachine(s), ReceiverMachine(r), [2]core.Micros{sender.GiveUp, receiver.GiveUp}, roundTrip), nil
}

// Troubled returns the run of a new world for explore.Troubles: chunks are sent one
// after the other, in front of judges, and each waits for a while to be read.
func Troubled(scheduler func() (statemachine.Scheduler, error), pace chunk.Pace, readTime core.Micros, chunks ...[]byte) func(sim.Carrier[codec.Packet]) (core.Micros, error) {
	return chunk.TroubledOf(func() (*World, error) {
		sched, err1 := scheduler()
		w, err2 := NewWorld(statemachine.SenderConfig{Kind: codec.Repair, Scheduler: sched}, statemachine.ReceiverConfig{Kind: codec.Repair}, 0)
		return w, errors.Join(err1, err2)
	}, pace, readTime, chunks...)
}

// Conversation is a sender and a receiver with a link each way: slices go down, acks
// up.
type Conversation = chunk.ConversationOf[codec.Packet, *statemachine.Sender, *statemachine.Receiver]

// NewConversation returns a conversation of two new machines over these links.
func NewConversation(sender statemachine.SenderConfig, receiver statemachine.ReceiverConfig, down, up *netsim.Link) (*Conversation, error) {
	s, err1 := statemachine.NewSender(sender)
	r, err2 := statemachine.NewReceiver(receiver)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	return chunk.NewConversationOf(s, r, chunk.Outbound[codec.Packet](Sender{s}), chunk.Inbound[codec.Packet](Receiver{r}), down, up, Size, event), nil
}
