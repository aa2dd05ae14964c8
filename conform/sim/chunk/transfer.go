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

// Conversation is a sender and a receiver with a link each way: slices go down,
// acks up.
type Conversation struct {
	*sim.World[codec.Packet]
	Sender   *statemachine.Sender
	Receiver *statemachine.Receiver
	Down, Up *netsim.Link

	// Log, when not nil, is given what the links drop. The machines have logs of their own.
	Log eventlog.Log
}

// NewConversation returns a conversation of two new machines of one kind over these links.
func NewConversation(sender statemachine.SenderConfig, receiver statemachine.ReceiverConfig, down, up *netsim.Link) (*Conversation, error) {
	s, err1 := statemachine.NewSender(sender)
	r, err2 := statemachine.NewReceiver(receiver)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	c := &Conversation{Sender: s, Receiver: r, Down: down, Up: up}
	size := Size(sender.Kind)
	c.World = sim.NewWorld(sim.LinksWithLosses(down, up, size, func(now time.Duration, from int, p codec.Packet, before, after netsim.LinkStats) {
		if c.Log != nil {
			e := event(p)
			e.Bytes = size(p)
			c.Log(dropped(core.FromDuration(now), from, e, before, after))
		}
	}), sim.End[codec.Packet](Sender{s}), Receiver{r})
	return c, nil
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
		return eventlog.Event{Carried: eventlog.Slice, ChunkID: p.Slice.ChunkID, SliceID: p.Slice.SliceID}
	}
	return eventlog.Event{Carried: eventlog.Ack, ChunkID: p.Ack.ChunkID}
}

// Sending reports whether a chunk is in flight.
func (c *Conversation) Sending() bool { return c.Sender.State() == statemachine.SenderSending }

// Ready reports whether a complete chunk waits to be read.
func (c *Conversation) Ready() bool { return c.Receiver.State() == statemachine.ReceiverReady }

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
func (c *Conversation) Transfer(chunk []byte, limit core.Micros) (Transfer, error) {
	start, sent := c.Now(), c.Sender.Stats().SlicesSent
	end := start + min(limit, core.Never-start)
	down, up := c.Down.Stats().SentBytes, c.Up.Stats().SentBytes
	if err := c.Sender.Submit(start, chunk); err != nil {
		return Transfer{}, err
	}
	c.Flush()
	var t Transfer
	var got []byte
	for c.Sending() && c.Step(end) {
		if c.Ready() {
			t.Delivered = c.Now() - start
			got, _ = c.Receiver.Read(c.Now(), nil)
		}
	}
	t.Acked = c.Now() - start
	t.SlicesSent = c.Sender.Stats().SlicesSent - sent
	t.BytesDown, t.BytesUp = c.Down.Stats().SentBytes-down, c.Up.Stats().SentBytes-up
	switch {
	case c.Sender.Err() != nil:
		return t, c.Sender.Err()
	case c.Sending():
		return t, ErrNotDelivered
	case !bytes.Equal(got, chunk):
		return t, ErrCorrupt
	}
	return t, nil
}
