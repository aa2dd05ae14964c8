package rateless

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/eventlog"
)

// For what a transmission goes out: the slices of the chunk, more for those that may be lost,
// one when the timer runs out, and a probe of a peer that could not take the chunk.
func TestWhy(t *testing.T) {
	f := fly(t, Default(), 256)
	f.sends(16)
	check.Equal(t, "the slices", f.Why(0), eventlog.First)
	f = fly(t, Default(), 8)
	f.sends(9)
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
}
