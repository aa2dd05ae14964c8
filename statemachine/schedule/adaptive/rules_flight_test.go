package adaptive

import (
	"slices"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/statemachine"
)

// flight is a Scheduler with a chunk in flight, and a clock. Time stands still
// unless the test moves it.
type flight struct {
	t *testing.T
	*Scheduler
	clock core.Micros
	seen  []eventlog.Event
}

func newScheduler(t *testing.T, p Profile) *Scheduler {
	t.Helper()
	s, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fly starts the first chunk of a connection, of n full slices, at time 0.
func fly(t *testing.T, p Profile, n int) *flight {
	f := &flight{t: t, Scheduler: newScheduler(t, p)}
	f.begin(n)
	return f
}

// warm starts a chunk of n slices at 10 s on a connection that has measured a
// round trip, with a limit of more than a chunk and a pace of 7/8 of so many nanoseconds a slice.
func warm(t *testing.T, p Profile, roundTrip core.Micros, perSlice int64, n int) *flight {
	t.Helper()
	if p.MaxRate == 0 && perSlice > 0 {
		p.MaxRate = min(max(8_528_000_000_000*8/7/perSlice, statemachine.MinRate), statemachine.MaxRate)
	}
	f := &flight{t: t, Scheduler: newScheduler(t, p), clock: 10*core.Second - roundTrip}
	f.begin(1)
	f.all()
	f.at(10 * core.Second).acked(0)
	f.takes(perSlice)
	f.begin(n)
	return f
}

// takes lets the limit open to 1,000 slices a round trip and more: as many arrive at once, in flight.
func (f *flight) takes(int64) {
	f.path.Flight(&f.share, 1000)
	f.path.Arrived(f.clock, 1000, 0)
	f.noteFlight()
}

// far moves the clock to where a drain is due (EST-7).
func (f *flight) far() {
	f.path.Clean(f.clock+2*core.Second, f.path.MinRTT())
	f.clock += 10 * core.Second
}

func (f *flight) begin(n int) {
	f.Begin(statemachine.Flight{
		Now: f.clock, NumSlices: n, LastBytes: codec.SliceSize,
		Log: func(o eventlog.Event) {
			if o.Kind != eventlog.Metrics { // TestReport of statemachine/schedule/control
				f.seen = append(f.seen, o)
			}
		},
	})
}

// at moves the clock.
func (f *flight) at(now core.Micros) *flight {
	f.clock = now
	return f
}

// after moves the clock on.
func (f *flight) after(d core.Micros) *flight { return f.at(f.clock + d) }

// sends makes sure that exactly these slices go out, each as soon as the pace
// lets it, within the next millisecond.
func (f *flight) sends(want ...int) {
	f.t.Helper()
	if got := f.within(ms); !slices.Equal(got, want) {
		f.t.Fatalf("at %d slices %v go out, want %v", f.clock, got, want)
	}
}

// within takes what goes out until d has passed. The clock stays.
func (f *flight) within(d core.Micros) (sent []int) {
	for now := f.clock; now <= f.clock+d; {
		if id, ok := f.Next(now); ok {
			sent = append(sent, id)
		} else {
			now = f.Deadline()
		}
	}
	return sent
}

// all takes everything that goes out within 20 ms, and moves the clock there.
func (f *flight) all() []int {
	sent := f.within(20 * ms)
	f.clock += 20 * ms
	return sent
}

// acked acks slices.
func (f *flight) acked(arrived ...int) *flight {
	f.Acked(f.clock, statemachine.Progress{News: core.SetOf(arrived...)})
	return f
}

// silentUntil makes sure that nothing goes out before then, and that the
// deadline says so.
func (f *flight) silentUntil(then core.Micros) {
	f.t.Helper()
	if id, ok := f.Next(f.clock); ok {
		f.t.Fatalf("at %d slice %d goes out", f.clock, id)
	}
	check.Equal(f.t, "deadline", f.Deadline(), then)
	if id, ok := f.Next(then - 1); ok {
		f.t.Fatalf("at %d slice %d goes out", then-1, id)
	}
	f.at(then)
}
