package flows

import (
	"errors"
	"fmt"
	"time"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/queue"
	"github.com/chunkwire/chunkwire/netsim"
)

// Path is what all flows of a world share.
type Path struct {
	Down, Up netsim.Path
	Changes  []Change // in order of time
	Fair     bool     // the link down has FQ-CoDel; Down.Rate and Down.Queue do not change then
}

// link returns that of one direction, before any change.
func (p *Path) link(side int) *netsim.Path { return [2]*netsim.Path{&p.Down, &p.Up}[side] }

// Change sets both links anew at a time.
type Change struct {
	At       core.Micros
	Down, Up netsim.Path
}

// Slot is the time over which a world sums up what happens.
const Slot = 100 * core.Millisecond

// World is flows over one path, in virtual time from 0 on. Its own times are finer than the
// machines' microseconds, since a link's are. The same flows over the same path with the same
// seed do the same.
type World struct {
	path   Path
	links  [2]*netsim.Link // down and up
	fair   *fairQueue      // before the link down, if there is one
	events queue.Queue[event]
	now    time.Duration
	flows  []*Flow
	ends   []worldEnd
	due    []core.Micros // when each of ends has something to do
	awake  []int         // ends to poll now

	waits     [2][]uint32 // microseconds in the queue of each link, of each datagram that came to it
	waitsUpTo [2][]int    // so many in each slot and those before
}

// worldEnd is one of the two ends of a flow: the one that sends over link side.
type worldEnd struct {
	End
	flow *Flow
	side int
}

// event is a datagram on its way to an end, or a call.
type event struct {
	to   int
	d    Datagram
	call func()
}

// NewWorld returns a world without flows. It fails if a path is not valid.
func NewWorld(path Path, seed uint64) (*World, error) {
	down, err1 := netsim.NewLink(path.Down, 2*seed)
	up, err2 := netsim.NewLink(path.Up, 2*seed+1)
	w := &World{path: path, links: [2]*netsim.Link{down, up}}
	if path.Fair {
		w.fair = &fairQueue{path: &w.path.Down, flows: map[int]*fairFlow{}}
	}
	err := errors.Join(err1, err2)
	for _, c := range path.Changes {
		err = errors.Join(err, c.Down.Validate(), c.Up.Validate())
		w.At(c.At, func() { _, _ = down.SetPath(c.Down), up.SetPath(c.Up) }) // they are valid
	}
	return w, err
}

// Add adds a flow: a sends over the link down, b over the link up.
func (w *World) Add(name string, a, b End) *Flow {
	f := &Flow{Name: name}
	w.flows = append(w.flows, f)
	for side, end := range [2]End{a, b} {
		w.ends = append(w.ends, worldEnd{end, f, side})
		w.due = append(w.due, 0)
		w.awake = append(w.awake, len(w.ends)-1)
	}
	return f
}

// Flows returns the flows, in the order in which they were added.
func (w *World) Flows() []*Flow { return w.flows }

// Now returns the virtual time.
func (w *World) Now() core.Micros { return core.FromDuration(w.now) }

// At calls do at a time, or at once when that is past.
func (w *World) At(at core.Micros, do func()) {
	w.events.Push(max(w.now, at.Duration()), event{call: do})
}

// Run goes on until a time, or until nothing more happens.
func (w *World) Run(until core.Micros) {
	w.poll()
	for {
		next := w.next()
		if next == queue.Never || next > until.Duration() {
			return
		}
		w.now = max(w.now, next)
		for w.events.Next() <= w.now {
			w.handle(w.events.Pop())
		}
		w.wake()
		w.poll()
	}
}

// next returns when something happens next.
func (w *World) next() time.Duration {
	first := core.Never
	for _, at := range w.due {
		first = min(first, at)
	}
	return min(w.events.Next(), first.Duration())
}

// wake notes the ends whose deadline has come.
func (w *World) wake() {
	now := w.Now()
	for i, at := range w.due {
		if at <= now {
			w.due[i] = core.Never // so that it is noted once
			w.awake = append(w.awake, i)
		}
	}
}

// handle hands over a datagram, or makes a call.
func (w *World) handle(e event) {
	if e.call != nil {
		e.call()
		return
	}
	end := &w.ends[e.to]
	if news := end.Handle(w.Now(), e.d); news {
		end.flow.arrived(w.slot(), 1-end.side, e.d.Size+w.path.link(1-end.side).Overhead)
	}
	w.due[e.to] = w.Now()
}

func (w *World) slot() int { return int(w.Now() / Slot) }

// mostAtOnce is more than any end sends at one time.
const mostAtOnce = 1 << 16

// poll sends what the ends that are awake have to send. It panics if an end never stops, or
// wants to be polled again at the same time without end.
func (w *World) poll() {
	now := w.Now()
	for _, i := range w.awake {
		end := &w.ends[i]
		n := 0
		for ; n < mostAtOnce; n++ {
			d, ok := end.Poll(now)
			if !ok {
				break
			}
			w.send(i, d)
		}
		if w.due[i] = end.Deadline(); w.due[i] <= now || n == mostAtOnce {
			panic(fmt.Sprintf("flows: an end of %s never stops at %d us", end.flow.Name, now))
		}
	}
	w.awake = w.awake[:0]
}

// send puts a datagram of an end on its link, or in the queue before it.
func (w *World) send(from int, d Datagram) {
	end := &w.ends[from]
	link := w.links[end.side]
	if w.fair != nil && end.side == Down {
		for _, lost := range w.fair.push(waiting{from, d.Size + w.path.Down.Overhead, w.now, d}) {
			w.dropped(lost)
		}
		w.serve()
		return
	}
	w.noteWait(end.side, link.Wait(w.now))
	w.carry(from, d)
}

// serve gives the link down what its queue has for it.
func (w *World) serve() {
	for w.links[Down].Wait(w.now) == 0 {
		next, lost, ok := w.fair.pop(w.now)
		for _, one := range lost {
			w.dropped(one)
		}
		if !ok {
			return
		}
		w.noteWait(Down, w.now-next.came)
		w.carry(next.from, next.d)
		w.events.Push(w.now+w.links[Down].Wait(w.now), event{call: w.serve})
	}
}

// dropped counts what the queue before the link down drops.
func (w *World) dropped(lost waiting) {
	c := w.ends[lost.from].flow.at(w.slot(), Down)
	c.Sent++
	if lost.d.Data {
		c.Data++
	}
	c.LostQueue++
}

// carry puts a datagram of an end on its link.
func (w *World) carry(from int, d Datagram) {
	end := &w.ends[from]
	link := w.links[end.side]
	send := link.Send
	if d.ECT {
		send = link.SendECT
	}
	before := link.Stats()
	arrivals := send(w.now, d.Size)
	end.flow.sent(w.slot(), end.side, d.Data, before, link.Stats())
	if d.Marked && arrivals.Len() > 0 {
		end.flow.at(w.slot(), end.side).Marked++
	}
	d.Marked = d.Marked || arrivals.Marked()
	for i := range arrivals.Len() {
		w.events.Push(arrivals.At(i), event{to: from ^ 1, d: d})
	}
}

// noteWait notes how long a datagram that comes to a link must wait.
func (w *World) noteWait(side int, wait time.Duration) {
	upTo := w.waitsUpTo[side]
	for len(upTo) <= w.slot() {
		upTo = append(upTo, len(w.waits[side]))
	}
	w.waits[side] = append(w.waits[side], uint32(wait.Microseconds()))
	upTo[w.slot()]++
	w.waitsUpTo[side] = upTo
}
