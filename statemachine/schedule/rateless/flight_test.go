package rateless

import (
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/statemachine"
)

const (
	ms     = core.Millisecond
	second = core.Second
)

// flight is a Scheduler with a chunk in flight, and a clock. Time stands still
// unless the test moves it.
type flight struct {
	t *testing.T
	*Scheduler
	clock core.Micros
	seen  []eventlog.Event
}

// fly starts the first chunk of a connection, of n full slices, at time 0.
func fly(t *testing.T, p Profile, n int) *flight {
	t.Helper()
	f := &flight{t: t, Scheduler: check.Must(New(p))}
	f.begin(n)
	return f
}

// warm starts a chunk of n slices at 10 s on a connection that has measured a round trip
// with a limit of more than a chunk and a pace of 7/8 of so many nanoseconds a slice, and has counted no loss.
func warm(t *testing.T, p Profile, roundTrip core.Micros, perSlice int64, n int) *flight {
	t.Helper()
	if p.MaxRate == 0 && !p.burst {
		p.MaxRate = min(max(8_528_000_000_000*8/7/perSlice, statemachine.MinRate), statemachine.MaxRate)
	}
	f := fly(t, p, 1)
	f.clock = 10*second - roundTrip
	f.begin(1)
	f.within(0)
	f.at(10*second).acked(1, 1)
	f.takes(perSlice)
	f.begin(n)
	return f.loses(0, 256)
}

// loses sets what was counted, in slices.
func (f *flight) loses(lost, arrived int64) *flight {
	l := f.path.Losses()
	l.Lost, l.Arrived = 16*lost, 16*arrived
	return f
}

// takes lets the limit open to 1,000 slices a round trip and more: as many arrive at once, in flight.
func (f *flight) takes(int64) {
	f.path.Flight(&f.share, 1000)
	f.path.Arrived(f.clock, 1000, 0)
	f.noteFlight()
}

func (f *flight) begin(n int) {
	f.Begin(statemachine.Flight{
		Now: f.clock, ChunkID: 7, NumSlices: n, LastBytes: codec.SliceSize,
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

// sends makes sure that exactly so many slices go out, each as soon as the pace lets
// it, within the next 4 ms.
func (f *flight) sends(want int) {
	f.t.Helper()
	if got := f.within(4 * ms); got != want {
		f.t.Fatalf("at %d %d slices go out, want %d", f.clock, got, want)
	}
}

// within takes what goes out until d has passed. The clock stays.
func (f *flight) within(d core.Micros) (sent int) {
	for now := f.clock; now <= f.clock+d; {
		if number, ok := f.Next(now); ok {
			check.Equal(f.t, "number", number, f.sent-1)
			sent++
		} else {
			now = f.Deadline()
		}
	}
	return sent
}

// acked takes an ack with news.
func (f *flight) acked(have, top int) *flight {
	f.Acked(f.clock, statemachine.Progress{Have: have, Top: top})
	return f
}

// silentUntil makes sure that nothing goes out before then, and that the deadline says
// so.
func (f *flight) silentUntil(then core.Micros) {
	f.t.Helper()
	if _, ok := f.Next(f.clock); ok {
		f.t.Fatalf("at %d a slice goes out", f.clock)
	}
	check.Equal(f.t, "deadline", f.Deadline(), then)
	if _, ok := f.Next(then - 1); ok {
		f.t.Fatalf("at %d a slice goes out", then-1)
	}
	f.at(then)
}

// counted makes sure of what is counted as lost and as arrived, in slices.
func (f *flight) counted(lost, arrived int64) {
	f.t.Helper()
	check.Equal(f.t, "lost and arrived", []int64{f.path.Losses().Lost, f.path.Losses().Arrived}, []int64{16 * lost, 16 * arrived})
}
