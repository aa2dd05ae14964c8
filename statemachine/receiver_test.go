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
	for _, kind := range kinds {
		r := newReceiver(kind, 0)
		chunk := chunkOf(0, 3)
		slices := chunktest.Slices(0, chunk)
		if kind == codec.Repair {
			slices = ids(0, 3, 4, 0, 2)
		}
		give(r, slices...)
		check.Equal(t, "size to read", r.readSize, len(chunk))
		got, err := r.Read(0, []byte("head"))
		check.Same(t, "error", err, nil)
		check.Bytes(t, "chunk", got, append([]byte("head"), chunk...))
		check.Equal(t, "size to read", r.readSize, 0)
		check.That(t, r.read == nil, "the receiver releases what it delivered")

		dst := []byte("kept")
		got, err = r.Read(0, dst)
		check.Same(t, "error", err, ErrNothingToRead)
		check.Bytes(t, "the buffer", got, dst)
	}
}

// The network reuses its buffers (RCV-11, RPR-8).
func TestAReceiverCopiesWhatItIsGiven(t *testing.T) {
	for _, kind := range kinds {
		r := newReceiver(kind, 0)
		slices := chunktest.Slices(0, chunkOf(0, 3))
		if kind == codec.Repair {
			slices = ids(0, 3, alike[0], alike[1], 1, 0)
		}
		for _, s := range slices {
			s.Data = append([]byte(nil), s.Data...)
			give(r, s)
			clear(s.Data)
		}
		got, _ := r.Read(0, nil)
		check.Bytes(t, "chunk", got, chunkOf(0, 3))
		check.Same(t, "inconsistent", r.Stats().Inconsistent, 0)
	}
}

// A slice that cannot be represented is not of this protocol, and is ignored
// in every state.
func TestInvalidSlicesAreIgnored(t *testing.T) {
	for _, c := range []struct {
		name  string
		kinds []codec.Kind
		wrong func(s *codec.Slice)
	}{
		{"no slices", kinds, func(s *codec.Slice) { s.NumSlices = 0 }},
		{"257 slices", kinds, func(s *codec.Slice) { s.NumSlices = 257 }},
		{"slice -1", kinds, func(s *codec.Slice) { s.SliceID = -1 }},
		{"slice 3 of 3", kinds[:1], func(s *codec.Slice) { s.SliceID = 3 }},
		{"id 8192", kinds, func(s *codec.Slice) { s.SliceID = 8192 }},
		{"last_bytes 0", kinds[1:], func(s *codec.Slice) { s.LastBytes = 0 }},
		{"too short", kinds, func(s *codec.Slice) { s.Data = s.Data[:1023] }},
		{"empty", kinds, func(s *codec.Slice) { s.Data = nil }},
		{"too long", kinds, func(s *codec.Slice) { s.Data = make([]byte, 1025) }},
		{"not the last's", kinds[1:], func(s *codec.Slice) { s.SliceID = 2 }},
	} {
		for _, kind := range c.kinds {
			for _, from := range []func(codec.Kind) *Receiver{waitingReceiver, receivingReceiver, readyReceiver, failedReceiver} {
				r := from(kind)
				before, stats, deadline := r.Vars(), r.stats, r.Deadline()
				s := someSlice(kind, 8, [...]int{codec.Named: 1, codec.Repair: 4}[kind], 3)
				c.wrong(&s)
				check.That(t, !r.HandleSlice(r.now, s), c.name+": it is not ours")
				before.Row = r.row
				check.Equal(t, c.name+": variables", r.Vars(), before)
				check.Same(t, c.name+": deadline", r.Deadline(), deadline)
				check.Same(t, c.name+": ignored", r.stats.Ignored, stats.Ignored+1)
			}
		}
	}
}

func TestReceiverStats(t *testing.T) {
	r := newReceiver(codec.Named, 0)
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
	for _, kind := range kinds {
		names := [...]string{codec.Named: "R", codec.Repair: "U"}
		for _, first := range []uint16{0, 1, 32767, 32768, 65535} {
			want := map[uint16]string{first: "3", first + 1: "1"}
			for _, away := range []uint16{0, 1, 2, 32767, 32768, 32769, 65534, 65535} {
				r := give(newReceiver(kind, first), someSlice(kind, first, 0, 1))
				_, _ = r.Read(0, nil)
				ours := r.HandleSlice(0, someSlice(kind, first+away, 0, 1))
				row, known := want[first+away]
				if !known {
					row = "4"
				}
				check.Equal(t, "row and whether it is ours", []any{string(r.row), ours}, []any{names[kind] + row, known})
			}
		}
	}
}

// A read without a buffer allocates one of the chunk's size, and not by doubling.
func TestAReadAllocatesOnce(t *testing.T) {
	r := newReceiver(codec.Named, 0)
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
		r := newReceiver(codec.Named, 0)
		for _, s := range rapid.Permutation(slices.Concat(list, list, late, late, early)).Draw(t, "order") {
			r.HandleSlice(0, s)
		}
		got, err := r.Read(0, nil)
		check.Same(t, "error", err, nil)
		check.Bytes(t, "chunk", got, chunk)
	})
}
