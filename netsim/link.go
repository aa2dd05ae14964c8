package netsim

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// maxPayload keeps serialization times far from overflow.
const maxPayload = 1 << 24

// Link is one direction of a network path: a policer, a bottleneck with a
// queue, then delay, then random faults. The same seed and the same calls give the
// same results.
//
// A Link has no clock: the caller says what time it is. Send does not allocate,
// except for the queue to grow to its longest. A Link is not safe for
// concurrent use.
type Link struct {
	path       Path
	random     rand.PCG
	blemish    rand.PCG
	policer    policer
	bottleneck bottleneck
	lost       bool          // the fate of the last datagram behind the bottleneck
	bad        bool          // the state for the next datagram (Path.Bad)
	now        time.Duration // time of the last Send
	last       time.Duration // latest arrival of a datagram not held back
	stats      LinkStats
}

// NewLink returns an idle link at time zero. It fails if p is not valid.
func NewLink(p Path, seed uint64) (*Link, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return newLink(p, seed), nil
}

// newLink is NewLink for a path that was validated.
func newLink(p Path, seed uint64) *Link {
	l := new(Link)
	l.random.Seed(seed, 0)
	l.blemish.Seed(seed, 1)
	l.bottleneck.pie.random.Seed(seed, 2)
	l.setPath(p)
	return l
}

// SetPath changes the link from the next Send on. What was sent before still
// arrives as computed, and what is queued still takes its place in the queue. It
// fails if p is not valid, and then changes nothing.
func (l *Link) SetPath(p Path) error {
	if err := p.Validate(); err != nil {
		return err
	}
	l.setPath(p)
	return nil
}

func (l *Link) setPath(p Path) {
	l.path = p
	l.bad = l.bad && p.Bad != (BadState{})
	l.policer.set(p.PoliceRate, p.PoliceBurst)
	l.bottleneck.set(&l.path)
}

// Send puts a datagram of payload bytes on the link at time now and returns when
// it arrives. Times count from any fixed instant the caller likes.
//
// Send panics if now is before zero or before the last Send, or if payload is
// negative or above 16 MiB.
func (l *Link) Send(now time.Duration, payload int) Arrivals { return l.send(now, payload, false) }

// SendECT is Send of a datagram that allows marks: an AQM can mark it in place of dropping it
// ([Path.AQMMarks]).
func (l *Link) SendECT(now time.Duration, payload int) Arrivals { return l.send(now, payload, true) }

func (l *Link) send(now time.Duration, payload int, ect bool) Arrivals {
	l.check(now, payload)
	l.now = now
	l.stats.Sent++
	l.stats.SentBytes += int64(payload)

	chance := draw(&l.random, &l.path, l.lost, l.bad)
	fault := blemish(&l.blemish, &l.path, l.bad)
	l.lost, l.bad = chance.lost, fault.bad
	out, marked, ok := l.queue(now, payload+l.path.Overhead, ect)
	if !ok {
		return Arrivals{}
	}
	// A lost datagram holds its place in the order too. Otherwise a change of
	// Loss would move the arrivals of those that survive.
	l.last = max(l.last, out+l.path.Delay+chance.jitter)
	switch {
	case l.path.Outage:
		l.stats.LostOutage++
		return Arrivals{}
	case chance.lost:
		l.stats.LostRandom++
		return Arrivals{}
	}
	arrivals := l.arrive(chance, marked)
	if fault.corrupt && payload > 0 {
		arrivals.flip = 1 + fault.among(8*payload)
		l.stats.Corrupted++
	}
	return arrivals
}

// queue returns when a datagram of size bytes has left the bottleneck, and
// whether it is marked; or false if it does not get there.
func (l *Link) queue(now time.Duration, size int, ect bool) (out time.Duration, marked, ok bool) {
	if !l.policer.pass(now, size) {
		l.stats.LostPolicer++
		return 0, false, false
	}
	if out, marked, ok = l.bottleneck.pass(now, size, ect); !ok {
		l.stats.LostQueue++
	}
	return out, marked, ok
}

// Wait returns how long a datagram that is sent at time now waits in the queue
// for those ahead of it.
func (l *Link) Wait(now time.Duration) time.Duration {
	return max(0, l.bottleneck.end()-now)
}

func (l *Link) check(now time.Duration, payload int) {
	if now < l.now {
		panic(fmt.Sprintf("netsim: time goes back from %v to %v", l.now, now))
	}
	if payload < 0 || payload > maxPayload {
		panic(fmt.Sprintf("netsim: payload of %d bytes", payload))
	}
}

// arrive lists the arrivals of a datagram that gets through.
func (l *Link) arrive(chance chances, marked bool) Arrivals {
	first := l.hold(chance.held)
	l.stats.Delivered++
	if marked {
		l.stats.Marked++
	}
	if !chance.duplicated {
		return Arrivals{at: [2]time.Duration{first}, n: 1, marked: marked}
	}
	second := l.hold(chance.copyHeld)
	l.stats.Delivered++
	l.stats.Duplicated++
	return Arrivals{at: [2]time.Duration{min(first, second), max(first, second)}, n: 2, marked: marked}
}

// hold returns the arrival of the datagram at hand or of its copy.
func (l *Link) hold(held bool) time.Duration {
	if !held {
		return l.path.onTick(l.last)
	}
	l.stats.Reordered++
	return l.path.onTick(l.last + l.path.holdBack())
}

// Stats returns what has happened on the link so far.
func (l *Link) Stats() LinkStats { return l.stats }
