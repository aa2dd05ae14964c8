package transport

import (
	"errors"
	"fmt"
	"iter"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/statemachine"
)

// lane is one of the pairs of machines of a connection: the end, for each
// direction, of a connection in the sense of the specification, with a protocol
// id of its own (LAN-1). Chunk i goes by lane i mod Config.Lanes (LAN-4).
type lane struct {
	sender    *statemachine.Sender
	receiver  *statemachine.Receiver
	scheduler statemachine.Scheduler // the sender's
	inFlight  *Delivery              // nil while the sender is idle
}

// MaxLanes is the most that Config.Lanes may be. So many protocol ids lie between
// the first of n lanes and the first of n+1, so that ends that do not agree
// understand nothing of each other (LAN-2).
const MaxLanes = 16

// laneFramers returns the framer of each lane (LAN-2).
func laneFramers(protocolID uint32, lanes int) []codec.Framer {
	framers := make([]codec.Framer, lanes)
	first := protocolID + uint32(MaxLanes*(lanes-1))
	for k := range framers {
		framers[k] = codec.NewFramer(first + uint32(k))
	}
	return framers
}

// packet is one that has arrived, and by which lane.
type packet struct {
	codec.Packet
	lane int
}

// decodeLane decodes a datagram by the protocol id that makes its crc right
// (LAN-3). A lane's datagrams come in rows, so the lane of the latest is asked
// first. It is for the reader alone.
func (e *Endpoint) decodeLane(datagram []byte) (packet, error) {
	var refusal error
	for i := range e.framers {
		k := (e.latestLane + i) % len(e.framers)
		p, err := e.framers[k].Decode(datagram)
		if err == nil {
			e.latestLane = k
			return packet{p, k}, nil
		}
		refusal = err
		if !errors.Is(err, codec.ErrCRCMismatch) {
			break
		}
	}
	return packet{}, refusal
}

// The rest of this file needs endpoint.mu.

// bySubmission returns the lanes in the order in which their chunks in flight
// were submitted, with the idle ones among them.
func (c *Conn) bySubmission() iter.Seq2[int, *lane] {
	return func(yield func(int, *lane) bool) {
		for i := range c.lanes {
			k := (c.nextOut + i) % len(c.lanes)
			if !yield(k, &c.lanes[k]) {
				return
			}
		}
	}
}

// after returns the lane behind lane k.
func (c *Conn) after(k int) int { return (k + 1) % len(c.lanes) }

// laneName says in an error which lane it is about, where there are several: chunk
// ids are each lane's own.
func (c *Conn) laneName(k int) string {
	if len(c.lanes) == 1 {
		return ""
	}
	return fmt.Sprintf("lane %d: ", k)
}

// latest returns the lane whose chunk began last.
func (c *Conn) latest() *lane { return &c.lanes[(c.nextOut+len(c.lanes)-1)%len(c.lanes)] }

// mayBegin reports whether the next chunk may begin: its lane is idle, each slice
// of the chunk before was sent (LAN-7), and the path has room for more (LAN-10).
// So lanes take turns at the link instead of fighting for it.
func (c *Conn) mayBegin() bool {
	if c.lanes[c.nextOut].sender.State() != statemachine.SenderIdle {
		return false
	}
	before := c.latest()
	if before.sender.State() == statemachine.SenderIdle {
		return true
	}
	if before.sender.Sent().Count() < before.sender.NumSlices() {
		return false
	}
	path, ok := before.scheduler.(pathfinder)
	return !ok || c.flying() < path.PathSlices()
}

// flying returns how many slices were sent and are not known to have arrived.
func (c *Conn) flying() (n int) {
	for i := range c.lanes {
		if s := c.lanes[i].sender; s.NumSlices() > 0 {
			n += s.Sent().Minus(s.Acked()).Count()
		}
	}
	return n
}

// pathfinder is a scheduler that lets lanes share what one of them has found out
// about the path.
type pathfinder interface {
	// Adopt takes over what the scheduler of another lane knows.
	Adopt(from statemachine.Scheduler)
	// PathSlices returns how many slices the path is believed to hold.
	PathSlices() int
}

// sharePath tells a lane that is about to begin what the latest one has learned
// (LAN-9).
func (c *Conn) sharePath(l *lane) {
	if path, ok := l.scheduler.(pathfinder); ok && len(c.lanes) > 1 {
		path.Adopt(c.latest().scheduler)
	}
}

// turn returns the receiver of the next chunk to deliver (LAN-5).
func (c *Conn) turn() *statemachine.Receiver { return c.lanes[c.nextIn].receiver }

// deadlines returns the first deadline of all machines.
func (c *Conn) deadlines() statemachine.Micros {
	first := c.ackDeadline()
	for i := range c.lanes {
		first = min(first, c.lanes[i].sender.Deadline())
	}
	return first
}

// ackDeadline returns the first deadline of the receivers.
func (c *Conn) ackDeadline() statemachine.Micros {
	first := statemachine.Never
	for i := range c.lanes {
		first = min(first, c.lanes[i].receiver.Deadline())
	}
	return first
}
