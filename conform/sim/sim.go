package sim

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/queue"
	"github.com/chunkwire/chunkwire/netsim"
)

// Never is a time that does not come.
const Never = queue.Never

// End is one machine, or several behind one address.
type End[P any] interface {
	// Handle takes a packet that arrived at now.
	Handle(now core.Micros, p P)
	// Poll returns a packet to send at now, or false when none is due.
	Poll(now core.Micros) (P, bool)
	// Deadline returns when Poll has something to do next.
	Deadline() core.Micros
}

// Carrier decides what becomes of a packet that the end number from sends: it
// calls deliver once for each copy that arrives, with the time and the number of
// the end where it does.
type Carrier[P any] func(now time.Duration, from int, p P, deliver func(at time.Duration, to int, p P))

// World is ends and a network between them, in virtual time from 0 on. Its own
// times are finer than the machines' microseconds, since a link's are.
type World[P any] struct {
	ends    []End[P]
	carry   Carrier[P]
	deliver func(at time.Duration, to int, p P) // what carry is given
	now     time.Duration
	events  queue.Queue[event[P]]
	steps   int64

	stepsNow int // calls of Step since the time was another
}

// event is a packet on its way, or a call.
type event[P any] struct {
	to     int
	packet P
	call   func()
}

// NewWorld returns a world of these ends, numbered from 0.
func NewWorld[P any](carry Carrier[P], ends ...End[P]) *World[P] {
	w := &World[P]{ends: ends, carry: carry}
	w.deliver = func(at time.Duration, to int, p P) {
		w.events.Push(max(w.now, at), event[P]{to: to, packet: p})
	}
	return w
}

// Now returns the virtual time in the machines' unit.
func (w *World[P]) Now() core.Micros { return core.FromDuration(w.now) }

// Steps returns how many packets were sent and handed over so far.
func (w *World[P]) Steps() int64 { return w.steps }

// At calls do at a time, or at once when that is past: an application's call, or a
// change of the network. Packets that are due at the same time may come before or
// after it, in the order in which they were sent.
func (w *World[P]) At(at core.Micros, do func()) {
	w.events.Push(max(w.now, at.Duration()), event[P]{call: do})
}

// mostAtOnce is more than any end sends, and than happens, at one time.
const mostAtOnce = 1 << 16

// Flush sends what the ends have to send now. Step does it; call it after a change
// from outside. It panics if an end never stops sending.
func (w *World[P]) Flush() {
	for from, end := range w.ends {
		w.flush(from, end)
	}
}

func (w *World[P]) flush(from int, end End[P]) {
	now := w.Now()
	for range mostAtOnce {
		p, ok := end.Poll(now)
		if !ok {
			return
		}
		w.steps++
		w.carry(w.now, from, p, w.deliver)
	}
	panic(fmt.Sprintf("sim: end %d never stops sending at %d us", from, now))
}

// next returns when the next event is, or Never.
func (w *World[P]) next() time.Duration {
	next := w.events.Next()
	for _, end := range w.ends {
		next = min(next, end.Deadline().Duration())
	}
	return max(w.now, next)
}

// Step goes on to the next event, handles all that is due at its time, and sends
// what follows. It returns false, and changes nothing, if nothing will happen until
// limit.
func (w *World[P]) Step(limit core.Micros) bool {
	next := w.next()
	if next == Never || next > limit.Duration() {
		return false
	}
	w.advance(next)
	for w.events.Next() <= w.now {
		w.handle(w.events.Pop())
	}
	w.Flush()
	return true
}

// advance lets time go on. A deadline that does not move although it has passed would
// keep a world at one time without end.
func (w *World[P]) advance(next time.Duration) {
	if next > w.now {
		w.stepsNow = 0
	}
	if w.stepsNow++; w.stepsNow > mostAtOnce {
		panic(fmt.Sprintf("sim: time stands still at %d us: a deadline has passed", w.Now()))
	}
	w.now = next
}

func (w *World[P]) handle(e event[P]) {
	if e.call != nil {
		e.call()
		return
	}
	w.steps++
	w.ends[e.to].Handle(w.Now(), e.packet)
}

// Run steps until done returns true, and returns true then; or false if nothing
// more happens until limit.
func (w *World[P]) Run(limit core.Micros, done func() bool) bool {
	for !done() {
		if !w.Step(limit) {
			return false
		}
	}
	return true
}

// Together runs worlds side by side that share a link: the one whose next event comes
// first is always the one that steps. Otherwise it is like Run.
func Together[P any](limit core.Micros, done func() bool, worlds ...*World[P]) bool {
	for !done() {
		first := slices.MinFunc(worlds, func(a, b *World[P]) int { return cmp.Compare(a.next(), b.next()) })
		if !first.Step(limit) {
			return false
		}
	}
	return true
}

// Wait lets a time go by, with all that happens in it.
func (w *World[P]) Wait(d core.Micros) {
	over := false
	w.At(w.Now()+d, func() { over = true })
	w.Run(core.Never, func() bool { return over })
}

// Links returns the carrier of two ends with a link each way: down from end 0 to
// end 1, up from 1 to 0. The size of a packet is its datagram's, in bytes.
func Links[P any](down, up *netsim.Link, size func(P) int) Carrier[P] {
	return LinksWithLosses(down, up, size, func(time.Duration, int, P, netsim.LinkStats, netsim.LinkStats) {})
}

// LinksWithLosses is Links, which calls lost for each packet that does not arrive, with the
// link's counts before and after it.
func LinksWithLosses[P any](down, up *netsim.Link, size func(P) int, lost func(now time.Duration, from int, p P, before, after netsim.LinkStats)) Carrier[P] {
	return func(now time.Duration, from int, p P, deliver func(time.Duration, int, P)) {
		link := down
		if from == 1 {
			link = up
		}
		before := link.Stats()
		arrivals := link.Send(now, size(p))
		if arrivals.Len() == 0 {
			lost(now, from, p, before, link.Stats())
		}
		for i := range arrivals.Len() {
			deliver(arrivals.At(i), 1-from, p)
		}
	}
}
