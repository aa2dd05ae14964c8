package plain

import (
	"errors"
	"fmt"
	"iter"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/statemachine"
)

// lane is one of the pairs of machines of a connection: the end, for each
// direction, of a connection in the sense of the specification, with a protocol
// id of its own (LAN-1). Chunk i goes by lane i mod Config.Lanes (LAN-4).
type lane struct {
	conn      *Conn
	sender    *statemachine.Sender
	receiver  *statemachine.Receiver
	scheduler statemachine.Scheduler // the sender's
	inFlight  *Delivery              // nil while the sender is idle
}

// init makes the pair of machines.
func (l *lane) init(c *Conn) error {
	cfg := &c.endpoint.cfg
	giveUp := machine.FromDuration(cfg.GiveUp)
	scheduler, err := cfg.NewScheduler()
	if err != nil {
		return err
	}
	sending := statemachine.SenderConfig{GiveUp: giveUp, Scheduler: scheduler}
	if cfg.Observe != nil {
		sending.Observe = func(o statemachine.Observation) { cfg.Observe(c, o) }
	}
	sender, err1 := statemachine.NewSender(sending)
	receiver, err2 := statemachine.NewReceiver(statemachine.ReceiverConfig{GiveUp: giveUp, Memory: &c.endpoint.memory})
	*l = lane{conn: c, sender: sender, receiver: receiver, scheduler: scheduler}
	return errors.Join(err1, err2)
}

// receiving reports whether a chunk has begun to arrive.
func (l *lane) receiving() bool {
	return l.receiver.Vars().State == statemachine.ReceiverReceiving
}

// ready reports whether a complete chunk is in the receiver.
func (l *lane) ready() bool { return l.receiver.Vars().State == statemachine.ReceiverReady }

// idle reports whether the sender takes another chunk.
func (l *lane) idle() bool { return l.sender.Vars().State == statemachine.SenderIdle }

// rest releases memory that only a chunk in flight needs.
func (l *lane) rest() {
	if r, ok := l.scheduler.(statemachine.Rester); ok {
		r.Rest()
	}
}

// givesUpAt returns when the sender gives up, or Never.
func (l *lane) givesUpAt() machine.Micros {
	v := l.sender.Vars()
	if v.State != statemachine.SenderSending {
		return machine.Never
	}
	return v.HeardAt + machine.FromDuration(l.conn.endpoint.cfg.GiveUp)
}

// failure returns which machine has failed, and with what, or nil.
func (l *lane) failure() error {
	switch {
	case l.sender.Err() != nil:
		return fmt.Errorf("sending chunk %d to %v", l.sender.Vars().ChunkID, l.conn.peer)
	case l.receiver.Err() != nil:
		return fmt.Errorf("receiving chunk %d from %v", l.receiver.Vars().ChunkID, l.conn.peer)
	}
	return nil
}

// MaxLanes is the most that Config.Lanes may be. So many protocol ids lie between
// the first of n lanes and the first of n+1, so that nothing decodes between ends
// that do not agree (LAN-2).
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

// bySubmissionLocked returns the lanes in the order in which their chunks in flight
// were submitted, with the idle ones among them.
func (c *Conn) bySubmissionLocked() iter.Seq2[int, *lane] {
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

// latestLocked returns the lane whose chunk began last.
func (c *Conn) latestLocked() *lane { return &c.lanes[(c.nextOut+len(c.lanes)-1)%len(c.lanes)] }

// mayBeginLocked reports whether the next chunk may begin: its lane is idle, each slice
// of the chunk before was sent (LAN-7), and the path has room for more (LAN-10).
// So lanes take turns at the link and do not compete for it.
func (c *Conn) mayBeginLocked() bool {
	if !c.lanes[c.nextOut].idle() {
		return false
	}
	before := c.latestLocked()
	v := before.sender.Vars()
	if v.State == statemachine.SenderIdle {
		return true
	}
	if v.Sent.Count() < v.NumSlices {
		return false
	}
	path, ok := before.scheduler.(pathSharer)
	return !ok || c.inFlightLocked() < path.PathSlices()
}

// inFlightLocked returns how many slices were sent and are not known to have arrived.
func (c *Conn) inFlightLocked() (n int) {
	for i := range c.lanes {
		if v := c.lanes[i].sender.Vars(); v.State != statemachine.SenderIdle {
			n += v.Sent.Minus(v.Acked).Count()
		}
	}
	return n
}

// pathSharer is a scheduler that lets lanes share what one of them has learned
// about the path.
type pathSharer interface {
	// Adopt takes over what the scheduler of another lane knows.
	Adopt(from statemachine.Scheduler)
	// PathSlices returns how many slices fit into the path.
	PathSlices() int
}

// sharePathLocked gives a lane that is about to begin what the latest one has learned
// (LAN-9).
func (c *Conn) sharePathLocked(l *lane) {
	if path, ok := l.scheduler.(pathSharer); ok && len(c.lanes) > 1 {
		path.Adopt(c.latestLocked().scheduler)
	}
}

// turnLocked returns the receiver of the next chunk to deliver (LAN-5).
func (c *Conn) turnLocked() *statemachine.Receiver { return c.lanes[c.nextIn].receiver }

// deadlineLocked returns the first deadline of all machines. A sender that must wait
// has none before it may go on, or gives up.
func (c *Conn) deadlineLocked() machine.Micros {
	first, allowed := c.ackDeadlineLocked(), c.allowedAtLocked()
	for i := range c.lanes {
		l := &c.lanes[i]
		at := l.sender.Deadline()
		if at < allowed {
			at = min(allowed, l.givesUpAt())
		}
		first = min(first, at)
	}
	return first
}

// ackDeadlineLocked returns the first deadline of the receivers.
func (c *Conn) ackDeadlineLocked() machine.Micros {
	first := machine.Never
	for i := range c.lanes {
		first = min(first, c.lanes[i].receiver.Deadline())
	}
	return first
}
