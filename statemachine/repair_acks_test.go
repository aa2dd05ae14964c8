package statemachine

import (
	"github.com/chunkwire/chunkwire/codec"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/acktimer"
)

// The first slice of a chunk is acked at once if no ack went out before, and else Interval
// after that (RPK-2, AKT-2, AKT-3).
func TestAcksOfSlicesInOrder(t *testing.T) {
	r := newReceiver(codec.Repair, 0)
	r.HandleSlice(0, sliceOf(0, 0, 40))
	check.Same(t, "deadline of the first", r.Deadline(), 0)
	nextAck(t, r, 0)
	r.HandleSlice(ms/2, sliceOf(0, 1, 40))
	check.Same(t, "deadline", r.Deadline(), acktimer.Interval)
	for id := 2; id < 16; id++ {
		r.HandleSlice(ms, sliceOf(0, id, 40))
	}
	noAck(t, r, acktimer.Interval-1)
	r.HandleSlice(acktimer.Interval-1, sliceOf(0, 16, 40)) // the sixteenth
	check.Same(t, "ack", nextAck(t, r, acktimer.Interval-1), codec.Ack{NumSlices: 40, Have: 17, Top: 17})
	r.HandleSlice(3*acktimer.Interval, sliceOf(0, 17, 40))
	check.Same(t, "deadline when it is long ago", r.Deadline(), 3*acktimer.Interval)
}

// Around a gap in the ids of what is stored acks go out at once: with the slice that makes
// it and the next one. A repair slice behind the last source slice makes none (RPK-2,
// AKT-4).
func TestAcksAroundAGap(t *testing.T) {
	at := core.Micros(0)
	r := newReceiver(codec.Repair, 0)
	for _, c := range []struct {
		id   int
		once bool
	}{
		{0, true}, {1, false}, {3, true}, {4, true}, {5, false}, {2, true}, {6, true}, // 2 goes back, and 6 is not 3
		{7, true}, {8, false}, {9, false}, {8191, true}, {12, true}, {13, true}, {14, false},
	} {
		r.HandleSlice(at, sliceOf(0, c.id, 15)) // repair slices from 15 on
		_, ok := r.Poll(at)
		check.Equal(t, "acked at once", ok, c.once)
		at += 10
		if !c.once {
			at = r.Deadline()
			nextAck(t, r, at)
			at += 10
		}
	}
}

// A slice that is dependent or doubled is answered soon, and is none of those that make or
// close a gap (RPK-2, RPR-12).
func TestWhatIsNotStoredMakesNoGap(t *testing.T) {
	r := newReceiver(codec.Repair, 0)
	r.HandleSlice(0, sliceOf(0, alike[0], 3))
	nextAck(t, r, 0)
	r.acks.LastAt, r.acks.AfterGap = ms, false
	r.HandleSlice(ms, sliceOf(0, alike[1], 3))
	check.Same(t, "row", r.row, "U8")
	check.Same(t, "deadline", r.Deadline(), ms+acktimer.Interval)
	r.HandleSlice(ms, sliceOf(0, alike[0], 3))
	check.Same(t, "row", r.row, "U7")
	check.Same(t, "deadline", r.Deadline(), ms+acktimer.Interval)
	check.Equal(t, "latest new slice, unreported", []int{r.acks.LastNew, r.acks.Unreported}, []int{alike[0], 0})
	r.HandleSlice(ms, sliceOf(0, 0, 3))
	check.Same(t, "deadline after a gap", r.Deadline(), ms)
}

// After id 8,191 the next one is a gap, as the ids say (RPK-2).
func TestAcksWhereIDsComeAgain(t *testing.T) {
	r := give(newReceiver(codec.Repair, 0), ids(0, 5, 8190, 8191)...)
	nextAck(t, r, 0)
	r.acks.AfterGap = false
	r.HandleSlice(10, sliceOf(0, 5, 5))
	check.Same(t, "ack at once", nextAck(t, r, 10), codec.Ack{NumSlices: 5, Have: 3, Top: 6})
}

// A chunk that is complete is acked at once; an ack of the one that is not any more current
// is replaced (RPR-9, RPK-1).
func TestACompleteChunkIsAckedAtOnce(t *testing.T) {
	r := newReceiver(codec.Repair, 0)
	r.HandleSlice(0, sliceOf(0, 0, 3))
	nextAck(t, r, 0)
	r.HandleSlice(10, sliceOf(0, 1, 3))
	noAck(t, r, 10)
	r.HandleSlice(20, sliceOf(0, 2, 3))
	check.Same(t, "ack", nextAck(t, r, 20), codec.Ack{NumSlices: 3, Have: 3, Top: 3})
	noAck(t, r, 20)
	check.Same(t, "deadline", r.Deadline(), core.Never)
}

// START forgets a hold that is due, and what was held; the ack of the chunk before stays
// (RPR-7).
func TestWhatIsForgottenWhenAChunkBegins(t *testing.T) {
	r := give(readyReceiver(codec.Repair), sliceOf(8, 0, 4), sliceOf(7, 0, 2))
	check.Same(t, "due", r.pending, PendingAcks{Previous: true, Hold: true})
	_, _ = r.Read(r.now, nil)
	give(r, sliceOf(8, 0, 3))
	check.Same(t, "due", r.pending, PendingAcks{Previous: true, Current: true})
	check.Same(t, "held slices", r.Vars().HeldSlices, 0)
	check.Same(t, "first", nextAck(t, r, acktimer.Interval), codec.Ack{ChunkID: 7, NumSlices: 2, Have: 2, Top: 2})
	check.Same(t, "second", nextAck(t, r, acktimer.Interval), codec.Ack{ChunkID: 8, NumSlices: 3, Have: 1, Top: 1})
}

// A hold may go out after the chunk was read: it says what was so when the slice came.
func TestALateHold(t *testing.T) {
	r := give(readyReceiver(codec.Repair), sliceOf(8, 6, 4))
	_, _ = r.Read(r.now, nil)
	check.Same(t, "ack", nextAck(t, r, acktimer.Interval), codec.Ack{ChunkID: 8, NumSlices: 4})
}

// All three at once go out in order, the previous chunk's first (RCV-16).
func TestAcksGoOutInOrder(t *testing.T) {
	r := receivingReceiver(codec.Repair)
	give(r, sliceOf(8, 0, 3), sliceOf(7, 5, 2))
	now := r.now + acktimer.Interval
	check.Same(t, "first", nextAck(t, r, now), codec.Ack{ChunkID: 7, NumSlices: 2, Have: 2, Top: 2})
	check.Same(t, "second", nextAck(t, r, now), codec.Ack{ChunkID: 8, NumSlices: 3, Have: 2, Top: alike[0] + 1})
	noAck(t, r, now)
}

// A sender's deadline is the scheduler's, or the end if that is earlier (SND-16, RPX-10).
func TestASendersDeadline(t *testing.T) {
	s := idleSender(codec.Repair)
	check.Same(t, "idle", s.Deadline(), core.Never)
	s = sentSender(codec.Repair)
	for _, at := range []core.Micros{0, 5, giveUp - 1, giveUp, giveUp + 1, core.Never} {
		s.sched.(*scripted).deadline = at
		check.Same(t, "sending", s.Deadline(), min(at, giveUp))
	}
}
