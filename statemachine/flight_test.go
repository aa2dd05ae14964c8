package statemachine

import (
	"slices"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
)

// flight is a Base with a chunk in flight, and a clock. Time stands still
// unless the test moves it.
type flight struct {
	t *testing.T
	*Base
	now  Micros
	seen []Observation
}

// atOnce is a pace without limits, so that only losses decide what is sent.
var atOnce = Profile{}

// fly starts a chunk of n full slices at time 0.
func fly(t *testing.T, p Profile, n int) *flight {
	f := &flight{t: t, Base: NewBase(p)}
	f.begin(n)
	return f
}

func (f *flight) begin(n int) {
	f.Begin(Flight{
		Now: f.now, NumSlices: n, LastBytes: codec.SliceSize,
		Observe: func(o Observation) { f.seen = append(f.seen, o) },
	})
}

// at moves the clock.
func (f *flight) at(now Micros) *flight {
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
	return slices.Collect(drain(func() (int, bool) { return f.Next(f.now) }))
}

// acked tells of slices that arrived.
func (f *flight) acked(arrived ...int) {
	f.Acked(f.now, ids(arrived...))
}

// silentUntil makes sure that nothing goes out before then, and that the
// deadline says so.
func (f *flight) silentUntil(then Micros) {
	f.t.Helper()
	wantEqual(f.t, "deadline", f.Deadline(), then)
	f.at(then - 1).sends()
	f.at(then)
}

// sampled returns the round-trip times that were measured.
func (f *flight) sampled() (rtt []Micros) {
	for _, o := range f.seen {
		if o.Kind == MeasuredRTT {
			rtt = append(rtt, o.RTT)
		}
	}
	return rtt
}
