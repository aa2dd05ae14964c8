package statemachine

import (
	"github.com/chunkwire/chunkwire/codec"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/acktimer"
)

// Control state is one pending ack a chunk, not a queue: after any flood three acks are
// due at the most (ACQ-2).
func TestPendingAcksDoNotPileUp(t *testing.T) {
	for _, kind := range kinds {
		r := readyReceiver(kind)
		flood := []codec.Slice{someSlice(kind, 7, 0, 2), someSlice(kind, 8, 0, 3), someSlice(kind, 9, 0, 3)}
		if kind == codec.Repair {
			flood = append(flood, sliceOf(7, 9, 2))
		}
		for range 10_000 {
			give(r, flood...)
		}
		r.Poll(r.Deadline())
		r.Poll(r.now)
		noAck(t, r, r.now)
		check.Equal(t, "deadline", r.Deadline(), core.Never)
	}
}

// A flood of duplicates does not make a flood of acks, nor does one of dependent slices (AKT-2).
func TestAFloodOfDuplicates(t *testing.T) {
	for _, kind := range kinds {
		r := receivingReceiver(kind)
		flood := []codec.Slice{firstSlice(kind)}
		if kind == codec.Repair {
			flood = append(flood, sliceOf(8, alike[1], 3))
		}
		before, start := r.Stats().AcksSent, r.now
		for now := start; now < start+core.Second; now += 50 {
			for _, s := range flood {
				r.HandleSlice(now, s)
			}
			for _, ok := r.Poll(now); ok; _, ok = r.Poll(now) {
			}
		}
		if n, most := r.Stats().AcksSent-before, int64(core.Second/acktimer.Interval); n < most*98/100 || n > most {
			t.Errorf("%v slices: %d acks in a second", kind, n)
		}
	}
}

// Polling a receiver at its deadline always yields an ack or the end; polling it a
// microsecond before yields nothing (RCV-17).
func TestAReceiversDeadlineIsExact(t *testing.T) {
	for _, kind := range kinds {
		rapid.Check(t, func(t *rapid.T) {
			r := check.Must(NewReceiver(ReceiverConfig{Kind: kind, GiveUp: core.Micros(rapid.SampledFrom([]int64{1, 1500, 10_000_000}).Draw(t, "give up"))}))
			now := core.Micros(rapid.Int64Range(0, 1_000_000).Draw(t, "start"))
			for range 80 {
				switch rapid.IntRange(0, 5).Draw(t, "event") {
				case 0:
					_, _ = r.Read(now, nil)
				case 1:
					now += core.Micros(rapid.Int64Range(0, 3000).Draw(t, "later"))
				default:
					chunkID := r.chunkID + uint16(rapid.IntRange(-1, 1).Draw(t, "chunk"))
					r.HandleSlice(now, someSlice(kind, chunkID, rapid.IntRange(0, 2+4*int(kind)).Draw(t, "slice"), 3))
					continue
				}
				for _, ok := r.Poll(now); ok; _, ok = r.Poll(now) {
				}
				now = checkReceiverDeadline(t, r, now)
			}
		})
	}
}

// checkReceiverDeadline goes on to the deadline, if there is one, and returns it.
func checkReceiverDeadline(t *rapid.T, r *Receiver, now core.Micros) core.Micros {
	d := r.Deadline()
	check.That(t, d > now, "the deadline has not passed")
	if d == core.Never {
		return now
	}
	idle := func(at core.Micros) bool {
		_, ok := r.Poll(at)
		return !ok && r.state != ReceiverFailed
	}
	check.That(t, idle(d-1), "nothing happens before the deadline")
	check.Equal(t, "deadline after a poll", r.Deadline(), d)
	check.That(t, !idle(d), "something happens at the deadline")
	return d
}
