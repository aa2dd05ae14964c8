package netsim

import (
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Conversation runs a sender and a receiver against each other in virtual time,
// slices through one Link and acks through another. It steps from event to
// event, and hands over the packets that are due before it asks the machines
// what to send, as the protocol wants it. Packets cross as values: what the
// codec would make of them is only counted, in bytes.
type Conversation struct {
	Sender   *statemachine.Sender
	Receiver *statemachine.Receiver
	Down     *Link // for slices
	Up       *Link // for acks

	now      time.Duration
	underway schedule[message]
	steps    int64
}

// message is a packet under way: a slice, or an ack when slice.Data is nil.
type message struct {
	slice codec.Slice
	ack   codec.Ack
}

// Now returns the virtual time in the machines' unit, from 0 on.
func (c *Conversation) Now() statemachine.Micros { return statemachine.FromDuration(c.now) }

// Steps returns how many packets were sent and handed over so far.
func (c *Conversation) Steps() int64 { return c.steps }

// Flush sends whatever the machines have to send now. Call it after a change
// from outside, such as a Submit or a Read.
func (c *Conversation) Flush() {
	now := c.Now()
	for s, ok := c.Sender.Poll(now); ok; s, ok = c.Sender.Poll(now) {
		c.transmit(c.Down, codec.SliceDatagramSize(s.SliceID, s.NumSlices, len(s.Data)), message{slice: s})
	}
	for a, ok := c.Receiver.Poll(now); ok; a, ok = c.Receiver.Poll(now) {
		c.transmit(c.Up, codec.AckDatagramSize(a.NumSlices), message{ack: a})
	}
}

func (c *Conversation) transmit(l *Link, size int, m message) {
	c.steps++
	arrivals := l.Send(c.now, size)
	for i := range arrivals.Len() {
		c.underway.push(arrivals.At(i), m)
	}
}

// Next returns when the next event is, on the clock of the links; the largest
// duration if there is none. With it, conversations that share a Link can be run
// side by side: always step the one whose next event comes first.
func (c *Conversation) Next() time.Duration {
	return max(c.now, min(c.underway.next(), c.Sender.Deadline().Duration(), c.Receiver.Deadline().Duration()))
}

// Step goes on to the next event, handles it and sends what follows from it. It
// returns false, and changes nothing, if nothing will happen until limit.
func (c *Conversation) Step(limit statemachine.Micros) bool {
	next := c.Next()
	if next == never || next > limit.Duration() {
		return false
	}
	c.now = next
	for c.underway.next() <= c.now {
		c.handOver(c.underway.pop())
	}
	c.Flush()
	return true
}

func (c *Conversation) handOver(m message) {
	c.steps++
	if m.slice.Data != nil {
		c.Receiver.HandleSlice(c.Now(), m.slice)
	} else {
		c.Sender.HandleAck(c.Now(), m.ack)
	}
}
