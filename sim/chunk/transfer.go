package chunk

import (
	"bytes"
	"errors"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/sim"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Conversation is a sender and a receiver with a link each way: slices go down,
// acks up.
type Conversation struct {
	*sim.World[codec.Packet]
	Sender   *statemachine.Sender
	Receiver *statemachine.Receiver
	Down, Up *netsim.Link
}

// NewConversation returns a conversation of two new machines over these links.
func NewConversation(sender statemachine.SenderConfig, receiver statemachine.ReceiverConfig, down, up *netsim.Link) (*Conversation, error) {
	s, err := statemachine.NewSender(sender)
	if err != nil {
		return nil, err
	}
	r, err := statemachine.NewReceiver(receiver)
	if err != nil {
		return nil, err
	}
	world := sim.NewWorld(sim.Links(down, up, Size), sim.End[codec.Packet](Sender{s}), Receiver{r})
	return &Conversation{World: world, Sender: s, Receiver: r, Down: down, Up: up}, nil
}

// Transfer is what it took to send one chunk.
type Transfer struct {
	Delivered  machine.Micros // from submission until the receiver had it all
	Acked      machine.Micros // from submission until the sender knew
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
func (c *Conversation) Transfer(chunk []byte, limit machine.Micros) (Transfer, error) {
	start, sent := c.Now(), c.Sender.Stats().SlicesSent
	end := start + min(limit, machine.Never-start)
	down, up := c.Down.Stats().SentBytes, c.Up.Stats().SentBytes
	if err := c.Sender.Submit(start, chunk); err != nil {
		return Transfer{}, err
	}
	c.Flush()
	var t Transfer
	var got []byte
	for c.Sender.Vars().State == statemachine.SenderSending && c.Step(end) {
		if c.Receiver.Vars().State == statemachine.ReceiverReady {
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
	case c.Sender.Vars().State != statemachine.SenderIdle:
		return t, ErrNotDelivered
	case !bytes.Equal(got, chunk):
		return t, ErrCorrupt
	}
	return t, nil
}
