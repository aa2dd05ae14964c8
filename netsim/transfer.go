package netsim

import (
	"bytes"
	"errors"

	"github.com/chunkwire/chunkwire/statemachine"
)

// Transfer is what it took to get one chunk across.
type Transfer struct {
	Delivered  statemachine.Micros // from submission until the receiver had it all
	Acked      statemachine.Micros // from submission until the sender knew
	SlicesSent int64
	BytesDown  int64 // bytes of UDP payload that the sender sent
	BytesUp    int64 // bytes of UDP payload that the receiver sent
}

var (
	// ErrNotDelivered ends a transfer that came to nothing in the time it had.
	ErrNotDelivered = errors.New("netsim: the chunk was not delivered")
	// ErrCorrupt ends a transfer that delivered other bytes than were sent.
	ErrCorrupt = errors.New("netsim: the delivered bytes are not those sent")
)

// Transfer submits a chunk and runs until the sender knows that it has arrived,
// or until limit has passed. The receiver's application reads at once.
func (c *Conversation) Transfer(chunk []byte, limit statemachine.Micros) (Transfer, error) {
	start, sent := c.Now(), c.Sender.Stats().SlicesSent
	end := start + min(limit, statemachine.Never-start)
	down, up := c.Down.Stats().SentBytes, c.Up.Stats().SentBytes
	if err := c.Sender.Submit(start, chunk); err != nil {
		return Transfer{}, err
	}
	c.Flush()
	var t Transfer
	var got []byte
	for c.Sender.State() == statemachine.SenderSending && c.Step(end) {
		if c.Receiver.State() == statemachine.ReceiverReady {
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
	case c.Sender.State() != statemachine.SenderIdle:
		return t, ErrNotDelivered
	case !bytes.Equal(got, chunk):
		return t, ErrCorrupt
	}
	return t, nil
}
