package statemachine

import (
	"testing"

	"github.com/chunkwire/chunkwire/internal/check"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/machine/machinetest"
	"github.com/chunkwire/chunkwire/sim/chunk/chunktest"
)

// startedAckTimer is a timer at the start of a chunk; an ack went out at 100 ms.
func startedAckTimer() ackTimer {
	t := ackTimer{at: machine.Never}
	t.sent(100 * ms)
	t.startChunk()
	return t
}

// There is no ack from which to keep a distance (AKT-2).
func TestTheFirstAckEverIsNotDelayed(t *testing.T) {
	timer := ackTimer{at: machine.Never}
	timer.startChunk()
	timer.newSlice(7, 0)
	check.Equal(t, "due at", timer.at, 7)
}

// Soon, or at once (AKT-2 to AKT-4).
func TestWhenAnAckIsDueForNewSlices(t *testing.T) {
	for _, c := range []struct {
		name  string
		now   machine.Micros
		order []int
		want  machine.Micros
	}{
		{"in order, soon", 101 * ms, []int{0}, 102 * ms},
		{"in order, all within the interval", 101 * ms, []int{0, 1, 2}, 102 * ms},
		{"the interval has just not passed", 102*ms - 1, []int{0}, 102 * ms},
		{"the interval has just passed", 102 * ms, []int{0}, 102 * ms},
		{"long after the interval", 500 * ms, []int{0}, 500 * ms},
		{"a gap at the chunk's start", 101 * ms, []int{1}, 101 * ms},
		{"a gap", 101 * ms, []int{0, 2}, 101 * ms},
		{"a step back", 101 * ms, []int{0, 1, 0}, 101 * ms},
		{"15 unreported", 101 * ms, chunktest.Range(0, 14), 102 * ms},
		{"16 unreported", 101 * ms, chunktest.Range(0, 15), 101 * ms},
	} {
		timer := startedAckTimer()
		for _, id := range c.order {
			timer.newSlice(c.now, id)
		}
		if timer.at != c.want {
			t.Errorf("%s: due at %d, want %d", c.name, timer.at, c.want)
		}
	}
}

// One slice behind a gap, and no more (AKT-4).
func TestTheNewSliceAfterAGapIsAckedAtOnceToo(t *testing.T) {
	timer := startedAckTimer()
	timer.newSlice(101*ms, 3)
	timer.sent(101 * ms)
	timer.newSlice(101*ms, 4)
	check.Equal(t, "due at, for the slice after the gap", timer.at, 101*ms)
	timer.sent(101 * ms)
	timer.newSlice(101*ms, 5)
	check.Equal(t, "due at, for the one after that", timer.at, 103*ms)
}

// Neither a count nor a gap of the chunk before is left (AKT-1).
func TestAChunkStartsItsTimingAnew(t *testing.T) {
	timer := startedAckTimer()
	for id := range 15 {
		timer.newSlice(101*ms, id)
	}
	timer.newSlice(101*ms, 20) // a gap, and the 16th
	timer.sent(101 * ms)
	timer.unreported = 15
	timer.startChunk()
	timer.newSlice(101*ms, 0)
	check.Equal(t, "due at", timer.at, 103*ms)
}

// AKT-6.
func TestWhatIsDueOnlyBecomesEarlier(t *testing.T) {
	timer := startedAckTimer()
	timer.soon(101 * ms)
	timer.soon(101*ms + 1)
	check.Equal(t, "due at", timer.at, 102*ms)
	timer.atOnce(101*ms + 5)
	check.Equal(t, "at once", timer.at, 101*ms+5)
	timer.atOnce(101*ms + 9)
	timer.soon(105 * ms)
	check.Equal(t, "not later again", timer.at, 101*ms+5)
}

// From its time on, until it is sent (AKT-5).
func TestAnAckIsDueFromItsTimeOn(t *testing.T) {
	timer := startedAckTimer()
	check.That(t, !timer.due(machine.Never-1), "nothing is due")
	timer.soon(0)
	check.That(t, !timer.due(102*ms-1), "not before its time")
	check.That(t, timer.due(102*ms), "due at its time")
	timer.sent(102 * ms)
	check.Equal(t, "after it was sent", timer.at, machine.Never)
	timer.soon(102 * ms)
	check.Equal(t, "the next one", timer.at, 104*ms)
}

// The count begins anew with each ack (AKT-5).
func TestSentAcksReportWhatIsNew(t *testing.T) {
	timer := startedAckTimer()
	for id := range 15 {
		timer.newSlice(101*ms, id)
	}
	timer.sent(101 * ms)
	timer.newSlice(101*ms, 15)
	check.Equal(t, "due at", timer.at, 103*ms)
}

// The constants are the specification's (SPC-5, LIM-5).
func TestConstants(t *testing.T) {
	check.Same(t, "difference", machinetest.CheckConstants("../spec/protocol.json", map[string]int64{
		"ACK_INTERVAL": int64(ackInterval), "ACK_EVERY": ackEvery, "DEFAULT_GIVE_UP": int64(DefaultGiveUp), "MAX_GIVE_UP": int64(MaxGiveUp),
	}), nil)
}
