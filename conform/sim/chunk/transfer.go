package chunk

import (
	"bytes"
	"errors"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/statemachine"
)

// ConversationOf is a sender and a receiver with a link each way: slices go down,
// acks up.
type ConversationOf[P, S, R any] struct {
	*sim.World[P]
	Sender   S
	Receiver R
	Down, Up *netsim.Link

	// Log, when not nil, is given what the links drop. The machines have logs of their own.
	Log eventlog.Log

	outbound Outbound[P] // Sender
	inbound  Inbound[P]  // Receiver
}

// Conversation is one of the chunk protocol.
type Conversation = ConversationOf[codec.Packet, *statemachine.Sender, *statemachine.Receiver]

// NewConversation returns a conversation of two new machines over these links.
func NewConversation(sender statemachine.SenderConfig, receiver statemachine.ReceiverConfig, down, up *netsim.Link) (*Conversation, error) {
	s, err1 := statemachine.NewSender(sender)
	r, err2 := statemachine.NewReceiver(receiver)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	return NewConversationOf(s, r, Outbound[codec.Packet](Sender{s}), Inbound[codec.Packet](Receiver{r}), down, up, Size, event), nil
}

// NewConversationOf returns a conversation of two new machines, each also as the end
// that it is. The size of a packet is its datagram's; event is what the log says of one that was
// dropped.
func NewConversationOf[P, S, R any](s S, r R, outbound Outbound[P], inbound Inbound[P], down, up *netsim.Link, size func(P) int, event func(P) eventlog.Event) *ConversationOf[P, S, R] {
	c := &ConversationOf[P, S, R]{Sender: s, Receiver: r, Down: down, Up: up, outbound: outbound, inbound: inbound}
	c.World = sim.NewWorld(sim.LinksWithLosses(down, up, size, func(now time.Duration, from int, p P, before, after netsim.LinkStats) {
		if c.Log != nil {
			c.Log(dropped(core.FromDuration(now), from, event(p), before, after))
		}
	}), sim.End[P](outbound), inbound)
	return c
}

// dropped is a packet that a link has dropped, in the log.
func dropped(now core.Micros, from int, e eventlog.Event, before, after netsim.LinkStats) eventlog.Event {
	e.Kind, e.At, e.End = eventlog.DatagramDropped, now, eventlog.Network
	e.Direction, e.Why = [...]string{eventlog.Down, eventlog.Up}[from], eventlog.Loss
	if after.LostRandom == before.LostRandom {
		e.Why = eventlog.QueueFull
	}
	return e
}

// event is what the log says of a packet that was dropped.
func event(p codec.Packet) eventlog.Event {
	if p.Type == codec.TypeSlice {
		return eventlog.Event{Bytes: p.Slice.DatagramSize(), Carried: eventlog.Slice, ChunkID: p.Slice.ChunkID, SliceID: p.Slice.SliceID}
	}
	return eventlog.Event{Bytes: Size(p), Carried: eventlog.Ack, ChunkID: p.Ack.ChunkID}
}

// Transfer is what it took to send one chunk.
type Transfer struct {
	Delivered  core.Micros // from submission until the receiver had it all
	Acked      core.Micros // from submission until the sender knew
	SlicesSent int64
	BytesDown  int64 // bytes of UDP payload that the sender sent
	BytesUp    int64 // bytes of UDP payload that the receiver sent
}

var (
	// ErrNotDelivered ends a transfer that did not end in the time it had.
	ErrNotDelivered = errors.New("sim: the chunk was not delivered")
	// ErrCorrupt ends a transfer that delivered other bytes than were sent.
	ErrCorrupt = errors.New("sim: the delivered bytes are not those sent")
)

// Transfer submits a chunk and runs until the sender knows that it has arrived,
// or until limit has passed. The receiver's application reads at once.
func (c *ConversationOf[P, S, R]) Transfer(chunk []byte, limit core.Micros) (Transfer, error) {
	start, sent := c.Now(), c.outbound.SlicesSent()
	end := start + min(limit, core.Never-start)
	down, up := c.Down.Stats().SentBytes, c.Up.Stats().SentBytes
	if err := c.outbound.Submit(start, chunk); err != nil {
		return Transfer{}, err
	}
	c.Flush()
	var t Transfer
	var got []byte
	for c.outbound.Sending() && c.Step(end) {
		if c.inbound.Ready() {
			t.Delivered = c.Now() - start
			got, _ = c.inbound.Read(c.Now(), nil)
		}
	}
	t.Acked = c.Now() - start
	t.SlicesSent = c.outbound.SlicesSent() - sent
	t.BytesDown, t.BytesUp = c.Down.Stats().SentBytes-down, c.Up.Stats().SentBytes-up
	switch {
	case c.outbound.Err() != nil:
		return t, c.outbound.Err()
	case c.outbound.Sending():
		return t, ErrNotDelivered
	case !bytes.Equal(got, chunk):
		return t, ErrCorrupt
	}
	return t, nil
}
