package acktimer_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/acktimer"
)

const ms = core.Millisecond

// fresh is a timer at the start of a chunk, whose latest ack went out at a time.
func fresh(lastAt core.Micros) acktimer.Timer {
	t := acktimer.New()
	t.Sent(lastAt)
	t.StartChunk()
	return t
}

// Nothing is due of a new timer, and the first ack need not wait (AKT-2, AKT-6).
func TestANewTimer(t *testing.T) {
	timer := acktimer.New()
	check.Same(t, "time", timer.At, core.Never)
	check.That(t, !timer.Due(1<<61), "nothing is due")
	timer.Soon(ms)
	check.Same(t, "time", timer.At, ms)
}

// What is due is sent Interval after the ack before, or now if that is long ago (AKT-2); and
// once it has, nothing is due (AKT-5).
func TestSoon(t *testing.T) {
	timer := fresh(10 * ms)
	timer.Soon(11 * ms)
	at := 10*ms + acktimer.Interval
	check.Same(t, "time", timer.At, at)
	check.That(t, !timer.Due(at-1) && timer.Due(at) && timer.Due(20*ms), "it is due then")
	timer.Sent(13 * ms)
	check.Equal(t, "timer", timer, acktimer.Timer{At: core.Never, LastAt: 13 * ms, SentOne: true, LastNew: -1})
	timer.Soon(20 * ms)
	check.Same(t, "time", timer.At, 20*ms)
}

// What makes an ack due only makes its time earlier (AKT-6).
func TestTimesOnlyMoveForward(t *testing.T) {
	timer := fresh(0)
	timer.Soon(ms)
	timer.Soon(5 * ms)
	check.Same(t, "time", timer.At, acktimer.Interval)
	timer.AtOnce(ms)
	check.Same(t, "time", timer.At, ms)
	timer.AtOnce(3 * ms)
	timer.Soon(4 * ms)
	check.Same(t, "time", timer.At, ms)
}

// The sixteenth new slice since the latest ack is acked at once (AKT-3).
func TestEverySixteenthIsUrgent(t *testing.T) {
	timer := fresh(0)
	for id := range 15 {
		timer.NewSlice(1, id)
	}
	check.Same(t, "time", timer.At, acktimer.Interval)
	timer.NewSlice(2, 15)
	check.Same(t, "time", timer.At, 2)
	timer.Sent(2)
	timer.NewSlice(3, 16)
	check.Same(t, "time after it went out", timer.At, 2+acktimer.Interval)
}

// A slice that makes a gap, and the one after it, are acked at once (AKT-4); a chunk begins
// before its slice 0 (AKT-1).
func TestGaps(t *testing.T) {
	timer := fresh(0)
	for _, c := range []struct {
		id   int
		once bool
	}{{0, false}, {1, false}, {3, true}, {4, true}, {5, false}, {2, true}, {3, true}, {4, false}, {4, true}} {
		timer.NewSlice(5, c.id)
		check.Equal(t, "at once", timer.At == 5, c.once)
		timer.At, timer.Unreported = core.Never, 0
	}
	timer.StartChunk()
	timer.NewSlice(6, 0)
	check.Same(t, "time of the first of the next chunk", timer.At, acktimer.Interval)
}

// What is due stays due when a chunk begins (AKT-1).
func TestWhatIsDueStaysDue(t *testing.T) {
	timer := fresh(0)
	timer.NewSlice(1, 7)
	timer.StartChunk()
	check.Equal(t, "timer", timer, acktimer.Timer{At: 1, SentOne: true, LastNew: -1})
}
