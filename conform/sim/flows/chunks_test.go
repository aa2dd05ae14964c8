package flows_test

import (
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/measure"
	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine/schedule/adaptive"
	"github.com/chunkwire/chunkwire/statemachine/schedule/rateless"
)

func chunks(w *flows.World, o flows.Options) *flows.Chunks {
	return check.Must(w.AddChunks("chunks", o))
}

// One stream that has the link alone sends nothing twice and uses nearly all of it.
func TestStreamAlone(t *testing.T) {
	for _, repair := range both {
		w := world(s2)
		c := chunks(w, flows.Options{Lanes: lanesOf(8, repair)})
		w.Run(20 * second)
		f := w.Figures(flows.Down, 10*second, 20*second, c.Flow)
		check.That(t, f.Use > 0.95 && f.Use <= 1, "the link is used")
		check.That(t, f.Resent < 0.01 && f.LostQueue == 0 && f.Jain == 1, "nothing is lost")
		check.That(t, len(c.Delivered(flows.Down)) > 85 && c.Err() == nil, "chunks are delivered")
		check.Equal(t, "chunks back", len(c.Delivered(flows.Up)), 0)
	}
}

// Transfers here are those of package transfers, to the microsecond.
func TestChunkAloneIsATransfer(t *testing.T) {
	schemes := []measure.Scheme{
		measure.Named(func() (*adaptive.Scheduler, error) { return adaptive.New(adaptive.Adaptive()) }),
		measure.Repaired(func() (*rateless.Scheduler, error) { return rateless.New(rateless.Default()) }),
	}
	for i, repair := range both {
		for _, cell := range []measure.Cell{{Network: "S1", Loss: 5}, {Network: "S2", Loss: 0}, {Network: "S4", Loss: 20}} {
			for before := range 2 {
				w := worldOf(3, flows.Path{Down: cell.Path(), Up: cell.Path()})
				c := chunks(w, flows.Options{Lanes: lanesOf(1, repair), Chunks: 1 + before, Waiting: 1})
				w.Run(100 * second)
				last := c.Delivered(flows.Down)[before]
				want, _ := cell.Scenario(before).Transfer(3, schemes[i])
				check.Equal(t, fmt.Sprintf("%v, %v, chunk %d, in ms", cell, repair, before), float64(last.Delivered-last.Submitted)/1000, want)
			}
		}
	}
}

func TestSizesPausesAndEnds(t *testing.T) {
	for _, repair := range both {
		w := world(s2)
		c := chunks(w, flows.Options{Lanes: lanesOf(1, repair), Start: 2 * second, Chunks: 5, Waiting: 1, Pause: second, Sizes: []int{1, 3000, 100_000}})
		w.Run(60 * second)
		all := c.Delivered(flows.Down)
		check.Equal(t, "chunks", len(all), 5)
		check.Equal(t, "first", all[0].Submitted, 2*second)
		check.Equal(t, "done", c.Done(), all[4].Delivered)
		for i, one := range all {
			least := []core.Micros{0, 2 * ms, 80 * ms, 80 * ms, 80 * ms}[i]
			took := one.Delivered - one.Submitted - 25*ms
			check.That(t, took >= least && took < least+100*ms, fmt.Sprintf("chunk %d takes %d us", i, took))
			check.That(t, i == 0 || one.Submitted >= all[i-1].Delivered+second+25*ms, "it waits")
		}
		check.That(t, c.Counts(flows.Down, 0, 60*second).News == 1+3+3*98, "each slice is news once")
	}
}

func TestChunksEachSoLong(t *testing.T) {
	w := world(s2)
	c := chunks(w, flows.Options{Lanes: lanesOf(8, true), Chunks: 10, Every: 300 * ms})
	w.Run(60 * second)
	for i, one := range c.Delivered(flows.Down) {
		check.Equal(t, "submitted", one.Submitted, core.Micros(i)*300*ms)
	}
	check.That(t, c.Done() < 3500*ms, "they keep up")
}

// A reader that takes its time has no chunk sooner than that.
func TestSlowReader(t *testing.T) {
	for _, n := range []int{1, 8} {
		for _, repair := range both {
			w := world(s2)
			c := chunks(w, flows.Options{Lanes: lanesOf(n, repair), Chunks: 20, ReadEvery: 400 * ms})
			w.Run(60 * second)
			all := c.Delivered(flows.Down)
			for i := 1; i < len(all); i++ {
				check.That(t, all[i].Delivered >= all[i-1].Delivered+400*ms, "it is busy")
			}
			check.That(t, c.Done() < 9*second, "nothing else holds it up")
		}
	}
}

func TestBothWays(t *testing.T) {
	for _, repair := range both {
		w := world(s2)
		c := chunks(w, flows.Options{Lanes: lanesOf(8, repair), Chunks: 8, BothWays: true})
		w.Run(60 * second)
		check.Equal(t, "chunks", len(c.Delivered(flows.Up)), 8)
		down, up := c.Delivered(flows.Down)[7].Delivered, c.Delivered(flows.Up)[7].Delivered
		check.Equal(t, "done", c.Done(), max(down, up))
		check.That(t, c.Counts(flows.Up, 0, 60*second).News == 8*256, "each slice is news once")
	}
}

// When an application is gone nothing more is sent, and what was under way is not news.
func TestStop(t *testing.T) {
	for _, repair := range both {
		w := world(s2)
		gone, stays := chunks(w, flows.Options{Lanes: lanesOf(1, repair), Stop: 5 * second}), chunks(w, flows.Options{Lanes: lanesOf(1, repair)})
		w.Run(20 * second)
		check.Equal(t, "sent by the one that is gone", gone.Counts(flows.Down, 5*second, 20*second), flows.Counts{})
		check.That(t, gone.Err() == nil && len(gone.Delivered(flows.Down)) > 5 && gone.Done() == core.Never, "it has not failed")
		check.That(t, w.Use(flows.Down, 10*second, 20*second, stays.Flow) > 0.75, "the other one has the link")
	}
}

// A flow over a path without an end fails, and the world goes on.
func TestGivingUp(t *testing.T) {
	gone := s2
	gone.Loss = 100
	w := worldOf(1, flows.Path{Down: s2, Up: s2, Changes: []flows.Change{{At: second, Down: gone, Up: gone}}})
	c := chunks(w, flows.Options{Lanes: lanesOf(8, true)})
	w.Run(100 * second)
	check.That(t, c.Err() != nil, "it fails")
	check.That(t, len(c.Delivered(flows.Down)) > 0, "what arrived before was delivered")
	check.That(t, c.Counts(flows.Down, 60*second, 100*second).Sent == 0, "it is silent")
	if _, err := w.AddChunks("bad", flows.Options{Lanes: lanesOf(17, true)}); err == nil {
		t.Error("17 lanes are taken")
	}
}
