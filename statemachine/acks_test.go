package statemachine

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/core"
)

// Control state is one pending ack a chunk, not a queue: after any flood three acks are
// due at the most (ACQ-2).
func TestPendingAcksDoNotPileUp(t *testing.T) {
	r := readyReceiver()
	previous, early, foreign := chunktest.Slice(7, 0, 2), chunktest.Slice(8, 0, 3), chunktest.Slice(9, 0, 3)
	for range 10_000 {
		give(r, previous, early, foreign)
	}
	r.Poll(r.Deadline())
	r.Poll(r.now)
	noAck(t, r, r.now)
	check.Equal(t, "deadline", r.Deadline(), core.Never)
}

// A flood of duplicates does not make a flood of acks (AKT-2).
func TestAFloodOfDuplicates(t *testing.T) {
	r := receivingReceiver()
	before, start := r.Stats().AcksSent, r.now
	for now := start; now < start+core.Second; now += 50 {
		r.HandleSlice(now, chunktest.Slice(8, 0, 3))
		for _, ok := r.Poll(now); ok; _, ok = r.Poll(now) {
		}
	}
	if n := r.Stats().AcksSent - before; n < 490 || n > 500 {
		t.Errorf("%d acks in a second", n)
	}
}

// Polling a receiver at its deadline always yields an ack or the end; polling it a
// microsecond before yields nothing (RCV-17).
func TestAReceiversDeadlineIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := check.Must(NewReceiver(ReceiverConfig{GiveUp: core.Micros(rapid.SampledFrom([]int64{1, 1500, 10_000_000}).Draw(t, "give up"))}))
		now := core.Micros(rapid.Int64Range(0, 1_000_000).Draw(t, "start"))
		for range 80 {
			switch rapid.IntRange(0, 5).Draw(t, "event") {
			case 0:
				_, _ = r.Read(now, nil)
			case 1:
				now += core.Micros(rapid.Int64Range(0, 3000).Draw(t, "later"))
			default:
				chunkID := r.chunkID + uint16(rapid.IntRange(-1, 1).Draw(t, "chunk"))
				r.HandleSlice(now, chunktest.Slice(chunkID, rapid.IntRange(0, 2).Draw(t, "slice"), 3))
				continue
			}
			for _, ok := r.Poll(now); ok; _, ok = r.Poll(now) {
			}
			now = checkReceiverDeadline(t, r, now)
		}
	})
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
