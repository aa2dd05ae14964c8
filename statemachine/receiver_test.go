package statemachine

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/core"
)

func TestAReadAppends(t *testing.T) {
	r := newReceiver(0)
	chunk := chunktest.Chunk(2500, 4)
	give(r, chunktest.Slices(0, chunk)...)
	check.Equal(t, "size to read", r.readSize, 2500)
	got, err := r.Read(0, []byte("head"))
	check.Same(t, "error", err, nil)
	check.Bytes(t, "chunk", got, append([]byte("head"), chunk...))
	check.Equal(t, "size to read", r.readSize, 0)
	check.That(t, r.read == nil, "the receiver releases what it delivered")

	dst := []byte("kept")
	got, err = r.Read(0, dst)
	check.Same(t, "error", err, ErrNothingToRead)
	check.Bytes(t, "what was given", got, dst)
}

// The network reuses its buffers (RCV-11).
func TestAReceiverCopiesWhatItIsGiven(t *testing.T) {
	r := newReceiver(0)
	chunk := chunktest.Chunk(2500, 4)
	for _, s := range chunktest.Slices(0, chunk) {
		buffer := append([]byte(nil), s.Data...)
		s.Data = buffer
		give(r, s)
		clear(buffer)
	}
	got, _ := r.Read(0, nil)
	check.Bytes(t, "chunk", got, chunk)
}

// A slice that cannot be represented is not of this protocol, and is ignored
// in every state.
func TestInvalidSlicesAreIgnored(t *testing.T) {
	good := chunktest.Slice(8, 1, 3)
	for _, c := range []struct {
		name  string
		wrong func(s *codec.Slice)
	}{
		{"no slices", func(s *codec.Slice) { s.NumSlices = 0 }},
		{"257 slices", func(s *codec.Slice) { s.NumSlices = 257 }},
		{"slice -1", func(s *codec.Slice) { s.SliceID = -1 }},
		{"slice 3 of 3", func(s *codec.Slice) { s.SliceID = 3 }},
		{"too short", func(s *codec.Slice) { s.Data = s.Data[:1023] }},
		{"empty", func(s *codec.Slice) { s.Data = nil }},
		{"too long", func(s *codec.Slice) { s.Data = make([]byte, 1025) }},
	} {
		for _, from := range []func() *Receiver{waitingReceiver, receivingReceiver, readyReceiver, failedReceiver} {
			r := from()
			before, received, deadline := *r, receivedOf(r).received, r.Deadline()
			s := good
			c.wrong(&s)
			give(r, s)
			if r.Stats().Ignored != before.stats.Ignored+1 || r.state != before.state || r.pending != before.pending ||
				receivedOf(r).received != received || r.Deadline() != deadline {
				t.Errorf("%s: not ignored in %v", c.name, before.state)
			}
		}
	}
}

func TestReceiverStats(t *testing.T) {
	r := newReceiver(0)
	chunk := chunktest.Slices(0, chunktest.Chunk(2500, 1))
	r.HandleSlice(10*ms, chunk[0])
	r.HandleSlice(11*ms, chunk[0])
	r.HandleSlice(12*ms, chunktest.Slice(0, 0, 2))
	r.HandleSlice(13*ms, chunktest.Slice(9, 0, 2))
	r.HandleSlice(15*ms, chunk[1])
	check.Equal(t, "fixed num_slices", r.numSlices, 3)
	r.HandleSlice(17*ms, chunk[2])
	check.Equal(t, "fixed num_slices", r.numSlices, 0)
	r.HandleSlice(18*ms, chunk[2])
	r.HandleSlice(18*ms, chunktest.Slice(1, 0, 2))
	r.Poll(18 * ms)
	_, _ = r.Read(18*ms, nil)
	check.Equal(t, "stats", r.Stats(), ReceiverStats{
		Chunks: 1, ChunkBytes: 2500, SlicesReceived: 8, SlicesStored: 3, Duplicates: 2,
		Held: 1, Conflicts: 1, Ignored: 1, AcksSent: 1, LastChunkTime: 7 * ms,
	})
}

// A machine gives up at its time and not before: after a microsecond, and after 2^61,
// the longest there is; nothing is arriving any more then (RCV-15, RCV-19).
func TestTheShortestAndTheLongestTimeToGiveUp(t *testing.T) {
	for _, wait := range []core.Micros{1, MaxGiveUp - 1, MaxGiveUp} {
		r := check.Must(NewReceiver(ReceiverConfig{GiveUp: wait}))
		give(r, chunktest.Slice(0, 0, 2))
		r.Poll(wait - 1)
		check.Same(t, "error before", r.Err(), nil)
		r.Poll(wait)
		check.Same(t, "error", r.Err(), ErrGaveUp)
		check.That(t, r.numSlices == 0 && receivedOf(r).received.Empty(), "nothing is arriving any more")
	}
}

// Ids are compared for equality only. A chunk from exactly half the range away is
// neither the current nor the previous one (CID-3, RCV-3, RCV-4).
func TestOnlyEqualityOfIDsCounts(t *testing.T) {
	for _, first := range []uint16{0, 1, 32767, 32768, 65535} {
		r := newReceiver(first)
		give(r, chunktest.Slice(first, 0, 1))
		_, _ = r.Read(0, nil)
		want := map[uint16]core.Row{first: "R3", first + 1: "R1"}
		for _, away := range []uint16{0, 1, 2, 32767, 32768, 32769, 65534, 65535} {
			twin, ledger := *r, *receivedOf(r)
			ledger.slices = nil
			twin.ledger = &ledger
			ours := twin.HandleSlice(0, chunktest.Slice(first+away, 0, 1))
			row, known := want[first+away]
			if !known {
				row = "R4"
			}
			if twin.row != row || ours != known {
				t.Errorf("chunk %d after %d: row %v, ours %v; want %v", first+away, first, twin.row, ours, row)
			}
		}
	}
}

// A read without a buffer allocates one of the chunk's size, and not by doubling.
func TestAReadAllocatesOnce(t *testing.T) {
	r := newReceiver(0)
	give(r, chunktest.Slices(0, chunktest.Chunk(codec.MaxChunkSize, 1))...)
	got, _ := r.Read(0, nil)
	check.Equal(t, "room", cap(got), codec.MaxChunkSize)
}

// Slices may come in any order, any number of times, of any chunk: what is delivered
// is the chunk (SAFE-1, SAFE-5).
func TestSlicesInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		chunk := chunktest.Chunk(rapid.IntRange(1, 20_000).Draw(t, "size"), 1)
		list := chunktest.Slices(0, chunk)
		late := chunktest.Slices(65535, chunktest.Chunk(3000, 2))
		early := chunktest.Slices(1, chunktest.Chunk(3000, 3))
		r := newReceiver(0)
		for _, s := range rapid.Permutation(slices.Concat(list, list, late, late, early)).Draw(t, "order") {
			r.HandleSlice(0, s)
		}
		got, err := r.Read(0, nil)
		check.Same(t, "error", err, nil)
		check.Bytes(t, "chunk", got, chunk)
	})
}
