package rateless

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/statemachine"
)

// For what a transmission goes out: the slices of the chunk, more for those that may be lost,
// one when the timer runs out, and a probe of a peer that could not take the chunk.
func TestWhy(t *testing.T) {
	f := fly(t, Default(), 256)
	f.sends(16)
	check.Equal(t, "the slices", f.Why(0), eventlog.First)
	f = fly(t, Default(), 8)
	f.within(7 * 85)
	check.Equal(t, "the last of them", f.Why(0), eventlog.First)
	f.sends(1)
	check.Equal(t, "one more", f.Why(0), eventlog.Repair)
	f.at(f.Deadline())
	_, ok := f.Next(f.clock)
	check.That(t, ok, "the timer runs out")
	check.Equal(t, "then", f.Why(0), eventlog.Timeout)
	f.Held(f.clock)
	f.at(f.Deadline())
	_, ok = f.Next(f.clock)
	check.That(t, ok, "the peer is asked")
	check.Equal(t, "of a peer that holds", f.Why(0), eventlog.Probe)
	f.wasHeld = true
	f.begin(8)
	f.sends(1)
	check.Equal(t, "of a peer that held for long", f.Why(0), eventlog.Probe)
}

// The log gets the figures with a slice and with news, at most once a round trip.
func TestFiguresOfTheLog(t *testing.T) {
	s := check.Must(New(Default()))
	var at []core.Micros
	s.Begin(statemachine.Flight{NumSlices: 40, Log: func(e eventlog.Event) {
		if e.Kind == eventlog.Metrics {
			at = append(at, e.At)
		}
	}})
	for _, now := range []core.Micros{0, 85, 170} {
		s.Next(now)
	}
	s.Acked(50*ms, statemachine.Progress{Have: 1, Top: 1})
	s.Acked(60*ms, statemachine.Progress{Have: 2, Top: 2})
	s.Next(110 * ms)
	check.Equal(t, "figures", at, []core.Micros{0, 50 * ms, 110 * ms})
}
