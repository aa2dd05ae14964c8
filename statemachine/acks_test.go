package statemachine

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/bitset"
	"github.com/chunkwire/chunkwire/internal/check"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/sim/chunk/chunktest"
)

// Whatever went out just before (RCV-12, ACQ-3).
func TestACompleteChunkIsAckedAtOnce(t *testing.T) {
	r := newReceiver(0)
	chunk := chunktest.Slices(0, chunktest.Chunk(3000, 1))
	give(r, chunk[0])
	nextAck(t, r, 0)
	give(r, chunk[1])
	noAck(t, r, 0) // in order, and too soon
	check.Equal(t, "deadline", r.Deadline(), 2*ms)
	r.HandleSlice(1, chunk[2])
	check.Equal(t, "deadline", r.Deadline(), 1)
	check.Equal(t, "ack", nextAck(t, r, 1), chunktest.Ack(0, "111"))
	noAck(t, r, 1)
	check.Equal(t, "deadline", r.Deadline(), machine.Never)
}

func TestAChunkOfOneSliceIsAckedAtOnce(t *testing.T) {
	r := newReceiver(0)
	for id := range uint16(3) {
		give(r, chunktest.Slices(id, chunktest.Chunk(100, 1))...)
		check.Equal(t, "ack", nextAck(t, r, 0), chunktest.Ack(id, "1"))
		noAck(t, r, 0)
		_, err := r.Read(0, nil)
		check.Same(t, "read", err, nil)
	}
}

// One for each chunk that has one due (AKT-2, ACQ-2).
func TestNoMoreAcksThanOneRoundInTwoMilliseconds(t *testing.T) {
	r := waitingReceiver() // the last ack went out at 0
	r.HandleSlice(3*ms, chunktest.Slice(8, 0, 3))
	nextAck(t, r, 3*ms)
	for now := 3 * ms; now < 5*ms; now += 100 {
		r.HandleSlice(now, chunktest.Slice(8, 0, 3))
		r.HandleSlice(now, chunktest.Slice(7, 0, 2))
		noAck(t, r, now)
	}
	check.Equal(t, "deadline", r.Deadline(), 5*ms)
	check.Equal(t, "ack", nextAck(t, r, 5*ms), chunktest.Ack(7, "11"))
	check.Equal(t, "ack", nextAck(t, r, 5*ms), chunktest.Ack(8, "100"))
	noAck(t, r, 5*ms)
	check.Equal(t, "acks sent", r.Stats().AcksSent, 4)
}

// Two slices come too early, one hold goes out (RCV-14, AKT-2).
func TestHoldsAreLimitedToo(t *testing.T) {
	r := readyReceiver()
	r.HandleSlice(ms, chunktest.Slice(8, 4, 9))
	r.HandleSlice(ms, chunktest.Slice(8, 5, 9))
	noAck(t, r, 2*ms-1)
	check.Equal(t, "hold", nextAck(t, r, 2*ms), chunktest.Ack(8, "000000000"))
	noAck(t, r, 2*ms)
	check.Equal(t, "held", r.Stats().Held, 2)
}

// Where several are due (RCV-16).
func TestTheOrderInWhichAcksGoOut(t *testing.T) {
	r := readyReceiver()
	r.HandleSlice(5*ms, chunktest.Slice(8, 0, 3))
	r.HandleSlice(5*ms, chunktest.Slice(7, 1, 2))
	check.Equal(t, "previous first", nextAck(t, r, 5*ms), chunktest.Ack(7, "11"))
	check.Equal(t, "then hold", nextAck(t, r, 5*ms), chunktest.Ack(8, "000"))
	noAck(t, r, 5*ms)
}

// A hold that is still due when the chunk starts is forgotten: the chunk's own
// ack says more (RCV-10).
func TestAHoldIsForgottenWhenTheChunkStarts(t *testing.T) {
	r := readyReceiver()
	r.HandleSlice(ms, chunktest.Slice(8, 0, 3))
	_, _ = r.Read(ms, nil)
	r.HandleSlice(ms, chunktest.Slice(8, 0, 3))
	check.Equal(t, "ack", nextAck(t, r, 2*ms), chunktest.Ack(8, "100"))
	noAck(t, r, 2*ms)
}

func TestAHoldGoesOutAlsoAfterTheRead(t *testing.T) {
	r := readyReceiver()
	r.HandleSlice(ms, chunktest.Slice(8, 0, 3))
	_, _ = r.Read(ms, nil)
	check.Equal(t, "hold", nextAck(t, r, 2*ms), chunktest.Ack(8, "000"))
	noAck(t, r, 2*ms)
}

// The ack of the chunk that completes replaces the ones that were due before (RCV-12).
func TestCompletionReplacesTheAckOfTheCurrentChunk(t *testing.T) {
	r := newReceiver(0)
	give(r, chunktest.Slice(0, 0, 2), chunktest.Slice(0, 1, 2))
	check.Equal(t, "ack", nextAck(t, r, 0), chunktest.Ack(0, "11"))
	noAck(t, r, 0)
	noAck(t, r, machine.Second)
}

// Fifteen wait (AKT-3).
func TestTheSixteenthUnreportedSliceIsAckedAtOnce(t *testing.T) {
	r := newReceiver(0)
	give(r, chunktest.Slice(0, 0, 40))
	nextAck(t, r, 0)
	for id := 1; id < 16; id++ {
		give(r, chunktest.Slice(0, id, 40))
		noAck(t, r, 0)
	}
	give(r, chunktest.Slice(0, 16, 40))
	check.Equal(t, "acked", nextAck(t, r, 0).Acked, bitset.FirstN(17))
	noAck(t, r, 0)
}

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
	check.Equal(t, "deadline", r.Deadline(), machine.Never)
}

// A flood of duplicates does not make a flood of acks (AKT-2).
func TestAFloodOfDuplicates(t *testing.T) {
	r := receivingReceiver()
	before, start := r.Stats().AcksSent, r.now
	for now := start; now < start+machine.Second; now += 50 {
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
		r := check.Must(NewReceiver(ReceiverConfig{GiveUp: machine.Micros(rapid.SampledFrom([]int64{1, 1500, 10_000_000}).Draw(t, "give up"))}))
		now := machine.Micros(rapid.Int64Range(0, 1_000_000).Draw(t, "start"))
		for range 80 {
			switch rapid.IntRange(0, 5).Draw(t, "event") {
			case 0:
				_, _ = r.Read(now, nil)
			case 1:
				now += machine.Micros(rapid.Int64Range(0, 3000).Draw(t, "later"))
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
func checkReceiverDeadline(t *rapid.T, r *Receiver, now machine.Micros) machine.Micros {
	d := r.Deadline()
	check.That(t, d > now, "the deadline has not passed")
	if d == machine.Never {
		return now
	}
	idle := func(at machine.Micros) bool {
		_, ok := r.Poll(at)
		return !ok && r.state != ReceiverFailed
	}
	check.That(t, idle(d-1), "nothing happens before the deadline")
	check.Equal(t, "deadline after a poll", r.Deadline(), d)
	check.That(t, !idle(d), "something happens at the deadline")
	return d
}
