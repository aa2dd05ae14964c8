package statemachine

import (
	"testing"

	"github.com/chunkwire/chunkwire/bitset"
	"github.com/chunkwire/chunkwire/internal/check"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/sim/chunk/chunktest"
)

// Slices that disagree with the fixed number of slices (RCV-7). Nobody but a forger
// sends them, so a forged first slice must not keep the genuine ones out without end.

// Exactly half of the time to give up counts.
func TestWhenASliceReplacesNumSlices(t *testing.T) {
	for after, want := range map[machine.Micros]machine.Row{DefaultGiveUp/2 - 1: "R8", DefaultGiveUp / 2: "R9"} {
		r := receivingReceiver()
		r.HandleSlice(r.now+after, chunktest.Slice(8, 1, 2))
		check.Equal(t, "row", r.row, want)
	}
}

// A slice that conflicts is no progress, and no ack is due.
func TestConflictingSlicesChangeNothing(t *testing.T) {
	r := quiet(give(newReceiver(0), chunktest.Slice(0, 0, 3)))
	for _, s := range chunktest.Slices(0, chunktest.Chunk(2000, 1)) {
		check.That(t, r.HandleSlice(machine.Second, s), "it is of the current chunk")
		noAck(t, r, machine.Second)
	}
	check.Equal(t, "conflicts", r.Stats().Conflicts, 2)
	check.Equal(t, "received", r.received, bitset.Of(0))
	check.Equal(t, "fixed num_slices", r.numSlices, 3)
	check.Equal(t, "deadline", r.Deadline(), DefaultGiveUp)
}

// What replaces starts from nothing, and has its own time.
func TestAReplacedNumberStartsFromNothing(t *testing.T) {
	chunk := chunktest.Chunk(2000, 1)
	genuine := chunktest.Slices(0, chunk)
	r := quiet(give(newReceiver(0), chunktest.Slice(0, 0, 3), chunktest.Slice(0, 2, 3)))
	r.HandleSlice(6*machine.Second, genuine[1])
	check.Equal(t, "ack", nextAck(t, r, 6*machine.Second), chunktest.Ack(0, "01"))
	check.Equal(t, "deadline", r.Deadline(), 16*machine.Second)
	give(r, chunktest.Slice(0, 0, 3))
	check.Equal(t, "row of a slice of the replaced number", r.row, "R8")
	r.HandleSlice(7*machine.Second, genuine[0])
	check.Equal(t, "ack", nextAck(t, r, 7*machine.Second), chunktest.Ack(0, "11"))
	check.Equal(t, "time of the chunk", r.Stats().LastChunkTime, machine.Second)
	got, _ := r.Read(r.now, nil)
	check.Bytes(t, "chunk", got, chunk)
}

func TestAChunkOfOneSliceReplacesNumSlices(t *testing.T) {
	chunk := chunktest.Chunk(10, 1)
	r := quiet(give(newReceiver(0), chunktest.Slice(0, 0, 3)))
	r.HandleSlice(5*machine.Second, chunktest.Slices(0, chunk)[0])
	check.Equal(t, "ack", nextAck(t, r, 5*machine.Second), chunktest.Ack(0, "1"))
	check.Equal(t, "replaced", r.Stats().Replaced, 1)
	got, _ := r.Read(r.now, nil)
	check.Bytes(t, "chunk", got, chunk)
}

// The number of slices that the first slice fixed is the one that counts, and an id
// beyond it is refused before anything is stored.
func TestTheFixedNumberCounts(t *testing.T) {
	r := give(newReceiver(0), chunktest.Slice(0, 0, 3), chunktest.Slice(0, 200, 256))
	check.Equal(t, "row", r.row, "R8")
	s := chunktest.Slice(0, 1, 3)
	s.SliceID = 3
	give(r, s)
	check.Equal(t, "row", r.row, "R12")
	check.Equal(t, "stored", r.Stats().SlicesStored, 1)
	check.Equal(t, "slices kept", len(r.slices), 1)
}
