package base

import (
	"slices"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/statemachine"
)

const (
	ms   = core.Millisecond
	year = 365 * 24 * 3600 * core.Second

	fullDatagram = codec.MaxDatagramSize - 1 // of a slice that is not the last
)

// flight is a scheduler with a chunk in flight, and a clock. Time stands still
// unless the test moves it.
type flight struct {
	t *testing.T
	*Scheduler
	now  core.Micros
	seen []eventlog.Event
}

// atOnce is a pace without limits, so that only losses decide what is sent.
var atOnce = Profile{Cap: maxCost}

// fly starts a chunk of n full slices at time 0.
func fly(t *testing.T, p Profile, n int) *flight {
	f := &flight{t: t, Scheduler: check.Must(New(p))}
	f.begin(n)
	return f
}

func (f *flight) begin(n int) {
	f.Begin(statemachine.Flight{
		Now: f.now, NumSlices: n, Bytes: fullDatagram, LastBytes: codec.MaxDatagramSize,
		Log: func(o eventlog.Event) { f.seen = append(f.seen, o) },
	})
}

// at moves the clock.
func (f *flight) at(now core.Micros) *flight {
	f.now = now
	return f
}

// sends makes sure that exactly these slices go out now.
func (f *flight) sends(want ...int) {
	f.t.Helper()
	if got := f.all(); !slices.Equal(got, want) {
		f.t.Fatalf("at %d slices %v go out, want %v", f.now, got, want)
	}
}

// all takes everything that goes out now.
func (f *flight) all() []int {
	var list []int
	for range 1000 {
		id, ok := f.Next(f.now)
		if !ok {
			return list
		}
		list = append(list, id)
	}
	f.t.Fatalf("at %d slices go out without end", f.now)
	return nil
}

// acked acks slices.
func (f *flight) acked(arrived ...int) {
	f.Acked(f.now, statemachine.Progress{News: core.SetOf(arrived...)})
}

// sampled returns the round-trip times that were measured.
func (f *flight) sampled() (rtt []core.Micros) {
	for _, o := range f.seen {
		if o.Kind == eventlog.RTTSampled {
			rtt = append(rtt, o.RTT)
		}
	}
	return rtt
}
