package adaptive

import (
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/statemachine"
)

// whys takes the slices that are sent within a millisecond, and returns the reason of each.
func (f *flight) whys() (list []string) {
	for now := f.clock; now <= f.clock+ms; {
		if id, ok := f.Next(now); ok {
			list = append(list, f.Why(id))
		} else {
			now = f.Deadline()
		}
	}
	return list
}

// Why a slice is sent again, and how the log reports its loss.
func TestWhy(t *testing.T) {
	f := warm(t, Adaptive(), 50*ms, 80_000, 4)
	f.sends(0, 1, 2, 3)
	f.seen = nil
	f.at(10*second+50*ms).acked(2, 3)
	check.Equal(t, "overtaken, then copies", f.whys(), []string{eventlog.Lost, eventlog.Lost, eventlog.Extra, eventlog.Extra})
	f.at(f.Deadline())
	check.Equal(t, "by the timer", f.whys()[:2], []string{eventlog.Timeout, eventlog.Timeout})
	var told []string
	for _, e := range f.seen {
		if e.Kind == eventlog.SliceLost {
			told = append(told, e.Why)
		}
	}
	check.Equal(t, "told", told, []string{eventlog.Overtaken, eventlog.Overtaken, eventlog.Timeout, eventlog.Timeout})
	f = warm(t, Adaptive(), 50*ms, 80_000, 1)
	f.sends(0)
	f.after(50 * ms).Held(f.clock)
	f.at(f.Deadline())
	check.Equal(t, "a probe", f.whys(), []string{eventlog.Probe})
}

// The log gets the figures with a slice and with news, at most once a round trip.
func TestFiguresOfTheLog(t *testing.T) {
	s := newScheduler(t, Adaptive())
	var at []core.Micros
	s.Begin(statemachine.Flight{NumSlices: 40, LastBytes: codec.SliceSize, Log: func(e eventlog.Event) {
		if e.Kind == eventlog.Metrics {
			at = append(at, e.At)
		}
	}})
	for _, now := range []core.Micros{0, 85, 170} {
		s.Next(now)
	}
	s.Acked(50*ms, statemachine.Progress{News: core.SetOf(0)})
	s.Acked(60*ms, statemachine.Progress{News: core.SetOf(1)})
	s.Next(110 * ms)
	check.Equal(t, "figures", at, []core.Micros{0, 50 * ms, 110 * ms})
}

// REC-1, LAN-9: what is in flight on the path, also with a hold; the slices of a lane go with it to another path
// (CXL-10), and it takes over the patience.
func TestWhatALaneHasInFlight(t *testing.T) {
	f, other := overtaken(t), fly(t, Adaptive(), 8)
	old := f.path
	other.sends(0, 1, 2, 3, 4, 5, 6, 7)
	other.patience = 7 * ms
	f.Adopt(other.Scheduler)
	check.Equal(t, "on the old path, and on the new one", []int{old.Vars().Flight, f.path.Vars().Flight}, []int{0, 39 + 8})
	check.Equal(t, "patience", f.patience, 7*ms)
	f.lost = core.SetOf(4, 5)
	f.noteFlight()
	f.Held(f.clock)
	check.Equal(t, "with a hold", f.path.Vars().Flight, 39+8)
}

// LOS-3: what time alone makes lost is in flight no more, and is no news.
func TestTimeIsNoNews(t *testing.T) {
	f := warm(t, Adaptive(), 50*ms, 80_000, 8)
	f.sends(0, 1, 2, 3, 4, 5, 6, 7)
	f.patience = 60 * ms
	f.at(10*second + 50*ms).acked(7)
	silent := f.path.SilentAt()
	f.runTimers(f.gapAt)
	check.Equal(t, "lost", f.lost, core.SetOf(0))
	check.Equal(t, "in flight", f.path.Vars().Flight, 6)
	check.Equal(t, "news", f.path.SilentAt(), silent)
}

// ROOM-7: of the smallest slice as of any.
func TestASliceOfTheTimerNeedsNoRoom(t *testing.T) {
	f := warm(t, Adaptive(), 50*ms, 80_000, 8)
	f.sends(0, 1, 2, 3, 4, 5, 6, 7)
	f.lost, f.byTimer = core.SetOf(0), core.SetOf(0)
	f.path.Flight(&f.share, 10_000)
	f.now = f.path.SilentAt() - 1
	check.Equal(t, "before a silence", f.due(), none)
	f.now++
	check.Equal(t, "in it", f.due(), 0)
	f.now, f.held = 0, true
	check.Equal(t, "with a hold", f.due(), 0)
}

// REC-12: the latest slice that was sent on another path is not lost on this one; the first one on this path is.
func TestWhatAMoveMakesOfLosses(t *testing.T) {
	f := warm(t, Adaptive(), 50*ms, 80_000, 8)
	check.Equal(t, "before", len(f.within(210)), 4)
	f.Moved()
	f.after(ms).sends(4, 5, 6, 7)
	lost := f.path.Losses().Lost
	f.after(50*ms).acked(6, 7)
	check.Equal(t, "lost", f.path.Losses().Lost-lost, 2*16)
}
