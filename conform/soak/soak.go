// Package soak runs random worlds in virtual time: ends, applications and a network that a seed draws, with
// troubles for a while and then without, until nothing is left to do. A world is a table of what may happen
// (Plan) and a course (Live); what is checked at each step is for the judges of its kind, which keep the first
// violation here. Worlds of whole connections with any channels stand in conform/sim/connectionsim; the command
// fuzz/storm runs them.
package soak

import (
	"fmt"
	"time"

	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
)

// Kind is a kind of random worlds.
type Kind struct {
	Name string
	// Run runs the world of a seed, and fails with what is violated. The same seed gives the same world.
	Run func(seed uint64, log *Log) (Counts, error)
	// Rows is a report of the worlds that were run.
	Rows []Row
}

// World is what every random world has: chance, counts, the time, a log, and the first violation.
type World struct {
	sim.Draw
	Counts
	Timeline
	Log    *Log
	GoodAt core.Micros // when all became good; Never before that

	failure error
	faults  [2]*sim.Faults
}

// Timeline is a sim.World, of whatever packets.
type Timeline interface {
	Now() core.Micros
	At(at core.Micros, do func())
	Run(limit core.Micros, done func() bool) bool
}

// New returns a world of which a seed decides all; a stream is for worlds of one kind. Its timeline is to
// be set.
func New(seed, stream uint64, log *Log) World {
	w := World{Draw: sim.NewDraw(seed, stream), Log: log, GoodAt: core.Never}
	w.Counts[Worlds] = 1
	return w
}

// Good reports whether the troubles are over.
func (w *World) Good() bool { return w.GoodAt != core.Never }

// Note adds a line to the log.
func (w *World) Note(format string, args ...any) { w.Log.Add(w.now(), format, args...) }

// now returns the time; nothing happens before there is a timeline.
func (w *World) now() core.Micros {
	if w.Timeline == nil {
		return 0
	}
	return w.Now()
}

// Check keeps the first violation, and when it was.
func (w *World) Check(err error) {
	if w.failure == nil && err != nil {
		w.failure = fmt.Errorf("at %s: %w", Clock(w.now()), err)
	}
}

// Failed reports whether there was a violation.
func (w *World) Failed() bool { return w.failure != nil }

// Result returns the counts, and the first violation.
func (w *World) Result() (Counts, error) { return w.Counts, w.failure }

// Trouble is something that may happen in a world: as often as one of Times says. Draw draws what happens.
type Trouble struct {
	Times []int
	Draw  func() (do func())
}

// Plan draws how often each trouble happens, and when, at the latest at a time.
func (w *World) Plan(until core.Micros, troubles ...Trouble) {
	for _, t := range troubles {
		for range sim.Among(w.Draw, t.Times...) {
			do := t.Draw()
			w.At(w.Time(0, until), do)
		}
	}
}

// Course is how a world goes on.
type Course struct {
	Troubles core.Micros  // for how long there are any
	Rests    core.Micros  // from then until what is left is looked at
	Settles  core.Micros  // how long all may take that is left when the troubles are over
	Good     func()       // ends them
	Left     func() error // what is left to do; nil: nothing
}

// Live lets all happen: troubles, and then what is left. A panic is a violation.
func (w *World) Live(c Course) {
	w.At(c.Troubles, func() { w.becomeGood(c.Good) })
	w.Guard(func() {
		w.Run(c.Troubles+c.Rests, w.Failed)
		if !w.Run(c.Troubles+c.Settles, func() bool { return w.Failed() || w.Good() && c.Left() == nil }) {
			w.Check(fmt.Errorf("%v after all is good: %w", c.Settles.Duration(), c.Left()))
		}
	})
	w.Counts[LongestEnd] = int64(max(0, w.Now()-c.Troubles))
	w.Counts[Time] = int64(w.Now())
}

func (w *World) becomeGood(ends func()) {
	if !w.Good() {
		w.GoodAt = w.Now()
		ends()
	}
}

// Guard makes a panic a violation.
func (w *World) Guard(do func()) {
	defer func() {
		if p := recover(); p != nil {
			w.Check(fmt.Errorf("panic: %v", p))
		}
	}()
	do()
}

// DrawPath draws the path of one way, with faults; its outages begin before a time.
func (w *World) DrawPath(seed uint64, way int, until core.Micros) error {
	f, path, err := w.Faults(2*seed+uint64(way), until)
	w.Note("path %d: %+v, %v", way, path, f)
	w.faults[way] = f
	return err
}

// MendPaths makes both paths good.
func (w *World) MendPaths() {
	for _, f := range w.faults {
		w.Check(f.Link.SetPath(netsim.Path{Delay: 20 * time.Millisecond}))
	}
}

// Send counts a datagram and sends it one way. It calls arrives for each copy that arrives.
func (w *World) Send(now time.Duration, way, size int, arrives func(at time.Duration)) {
	f := w.faults[way]
	w.Counts[Datagrams]++
	w.Log.Mark(uint64(now), uint64(way), uint64(size))
	if f.Lost(core.FromDuration(now)) && !w.Good() {
		w.Counts[Lost]++
		return
	}
	arrivals := f.Link.Send(now, size)
	if arrivals.Len() == 0 {
		w.Counts[Lost]++
	}
	for i := range arrivals.Len() {
		arrives(arrivals.At(i))
	}
}
