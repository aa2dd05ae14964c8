package statemachine

import (
	"slices"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
)

// conversation is a sender and a receiver with nothing between them but the
// test, which says what is sent, what is lost and how time goes by. What goes
// out stays on the way until it arrives or is lost.
type conversation struct {
	*testing.T
	sender   *Sender
	receiver *Receiver
	now      Micros
	slices   []codec.Slice // on the way to the receiver
	acks     []codec.Ack   // on the way to the sender
}

// converse starts a conversation whose sender sends all that is due at once.
func converse(t *testing.T) *conversation { return converseFrom(t, 0) }

func converseFrom(t *testing.T, firstChunkID uint16) *conversation {
	return &conversation{
		T:        t,
		sender:   NewSender(SenderConfig{FirstChunkID: firstChunkID, Scheduler: NewBase(Fixed(0))}),
		receiver: NewReceiver(ReceiverConfig{FirstChunkID: firstChunkID}),
	}
}

func (c *conversation) submit(chunk []byte) {
	c.Helper()
	if err := c.sender.Submit(c.now, chunk); err != nil {
		c.Fatalf("submit at %d: %v", c.now, err)
	}
}

// send lets the sender send all that it wants to, which must be these slices.
func (c *conversation) send(want ...int) {
	c.Helper()
	var got []int
	for s := range slicesOut(c.sender, c.now) {
		got = append(got, s.SliceID)
		c.slices = append(c.slices, s)
	}
	if !slices.Equal(got, want) {
		c.Fatalf("at %d the sender sends %v, want %v", c.now, got, want)
	}
}

// lose loses slices that are on the way.
func (c *conversation) lose(lost ...int) {
	c.Helper()
	for _, id := range lost {
		i := slices.IndexFunc(c.slices, func(s codec.Slice) bool { return s.SliceID == id })
		if i < 0 {
			c.Fatalf("slice %d is not on the way", id)
		}
		c.slices = slices.Delete(c.slices, i, i+1)
	}
}

// loseSlices loses all slices that are on the way.
func (c *conversation) loseSlices() { c.slices = nil }

// arrive hands what is on the way to the receiver.
func (c *conversation) arrive() {
	for _, s := range c.slices {
		c.receiver.HandleSlice(c.now, s)
	}
	c.slices = nil
}

// forge hands the receiver a slice that the sender never sent.
func (c *conversation) forge(s codec.Slice) { c.receiver.HandleSlice(c.now, s) }

// answer lets the receiver send all that it wants to, which must be these acks.
func (c *conversation) answer(want ...codec.Ack) {
	c.Helper()
	got := c.answers()
	wantEqual(c, "acks", got, want)
	c.acks = append(c.acks, got...)
}

func (c *conversation) answers() []codec.Ack {
	return slices.Collect(acksOut(c.receiver, c.now))
}

// sendAgain goes on to the sender's deadline and lets it send what it wants to.
func (c *conversation) sendAgain() {
	c.now = max(c.now, c.sender.Deadline())
	c.slices = slices.AppendSeq(c.slices, slicesOut(c.sender, c.now))
}

// loseAcks loses all acks that are on the way.
func (c *conversation) loseAcks() { c.acks = nil }

// hear hands what is on the way to the sender.
func (c *conversation) hear() {
	for _, a := range c.acks {
		c.sender.HandleAck(c.now, a)
	}
	c.acks = nil
}

// advance lets time go by.
func (c *conversation) advance(d Micros) { c.now += d }

// read takes the complete chunk, which must be this one.
func (c *conversation) read(want []byte) {
	c.Helper()
	got, err := c.receiver.Read(c.now, nil)
	if err != nil {
		c.Fatalf("read at %d: %v", c.now, err)
	}
	wantBytes(c, "chunk read", got, want)
}

// nothingToRead makes sure that no complete chunk waits.
func (c *conversation) nothingToRead() {
	c.Helper()
	got, err := c.receiver.Read(c.now, nil)
	if err != ErrNothingToRead || got != nil {
		c.Fatalf("read at %d: %d bytes, %v; want ErrNothingToRead", c.now, len(got), err)
	}
}

func (c *conversation) states(sender SenderState, receiver ReceiverState) {
	c.Helper()
	if c.sender.State() != sender || c.receiver.State() != receiver {
		c.Fatalf("at %d sender %v, receiver %v; want %v, %v",
			c.now, c.sender.State(), c.receiver.State(), sender, receiver)
	}
}

// exchange sends a chunk without any trouble.
func (c *conversation) exchange(chunk []byte) {
	c.Helper()
	id := c.sender.ChunkID()
	n := codec.NumSlices(len(chunk))
	c.submit(chunk)
	c.send(upTo(0, n-1)...)
	c.arrive()
	c.answer(fullAck(id, n))
	c.read(chunk)
	c.hear()
	c.states(SenderIdle, ReceiverWaiting)
}
