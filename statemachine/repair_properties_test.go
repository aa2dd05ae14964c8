package statemachine

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/acktimer"
)

// network carries what two machines say, in any order, again and again, or not at all.
type network struct {
	talk
	slices []codec.Slice
	acks   []codec.Ack
}

// step does one thing that can happen.
func (w *network) step(t *rapid.T) {
	switch rapid.IntRange(0, 6).Draw(t, "event") {
	case 0, 1:
		w.s.advance(w.now)
		w.slices = append(w.slices, sends(w.s, rapid.IntRange(1, 4).Draw(t, "sent"))...)
	case 2:
		for a, ok := w.r.Poll(w.now); ok; a, ok = w.r.Poll(w.now) {
			w.acks = append(w.acks, a)
		}
	case 3, 4:
		if n := len(w.slices); n > 0 {
			w.arrive(w.slices[rapid.IntRange(max(0, n-20), n-1).Draw(t, "which")])
		}
	case 5:
		if n := len(w.acks); n > 0 {
			w.hearAny(t, w.acks[rapid.IntRange(0, n-1).Draw(t, "which")])
		}
	case 6:
		w.wait(core.Micros(rapid.IntRange(0, 3000).Draw(t, "later")))
	}
}

// hearAny gives the sender an ack, after which what it knows is true and did not fall
// (RPV-SAFE-2 to RPV-SAFE-4).
func (w *network) hearAny(t *rapid.T, a codec.Ack) {
	before := w.s.Vars()
	w.hear(a)
	after := w.s.Vars()
	if after.State != SenderSending {
		check.Same(t, "chunk of the receiver", w.r.chunkID, after.ChunkID)
		return
	}
	check.That(t, after.Have >= before.Have && after.Top >= before.Top, "the counts do not fall")
	check.That(t, after.Have <= len(heldBy(w.r).held) || w.r.chunkID != after.ChunkID, "what is acked was here")
	check.That(t, after.Have <= after.Top && after.Top <= after.Transmissions && after.Have < after.NumSlices, "the counts are in order")
}

// Whatever the network does, each chunk is delivered as it was submitted, once, in order
// (RPV-SAFE-1, RPV-SAFE-5), and nothing is counted as forged.
func TestChunksOverAnyNetwork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.SampledFrom([]uint16{0, 65535}).Draw(t, "first chunk")
		w := &network{talk: talk{t: t, s: newSender(codec.Repair, first, &scripted{deadline: core.Never}), r: newReceiver(codec.Repair, first)}}
		for range rapid.IntRange(1, 3).Draw(t, "chunks") {
			w.next(rapid.SampledFrom([]int{1, 2, 3, 5}).Draw(t, "slices"))
			for range rapid.IntRange(0, 60).Draw(t, "events") {
				if w.step(t); w.s.State() == SenderIdle {
					break
				}
			}
			w.finish()
			w.read()
			check.Same(t, "inconsistent", w.r.Stats().Inconsistent, 0)
		}
	})
}

// finish is a network that loses nothing any more: from wherever the two ends are, the
// chunk is delivered after a few slices more (RPV-LIVE-2).
func (w *network) finish() {
	w.t.Helper()
	for n := 0; w.s.State() == SenderSending; n++ {
		check.That(w.t, n < 40, "the chunk is delivered")
		w.pass(1)
		w.wait(2 * ms)
		for a, ok := w.r.Poll(w.now); ok; a, ok = w.r.Poll(w.now) {
			w.hear(a)
		}
	}
}

// Slices may come in any order, any number of times, of any chunk: what is delivered is the
// chunk, and every slice of it makes an ack due (RPV-SAFE-5, RPV-LIVE-1, RCV-13).
func TestRepairSlicesInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 20).Draw(t, "slices")
		chunk := chunkOf(5, k)
		code := erasure.Encode(chunk)
		r := newReceiver(codec.Repair, 5)
		for r.State() != ReceiverReady {
			id := rapid.OneOf(rapid.IntRange(0, 2*k), rapid.IntRange(0, 8191)).Draw(t, "id")
			stray := sliceOf(rapid.SampledFrom([]uint16{3, 4, 6, 7}).Draw(t, "chunk"), 1, 3)
			check.That(t, !r.HandleSlice(0, stray), "it is not ours")
			s := codec.Slice{ChunkID: 5, SliceID: id, NumSlices: k, LastBytes: lastBytes, Data: code.Slice(id)}
			check.That(t, r.HandleSlice(0, s), "it is ours")
			check.That(t, r.Deadline() <= acktimer.Interval, "an ack is due")
			check.That(t, r.pending.Current != (r.State() == ReceiverReady), "of the chunk")
			quiet(r)
		}
		got, err := r.Read(0, nil)
		check.Same(t, "error", err, nil)
		check.Bytes(t, "chunk", got, chunk)
		check.Equal(t, "stored, inconsistent", []int64{r.stats.SlicesStored, r.Stats().Inconsistent}, []int64{int64(k), 0})
	})
}

// A receiver whose slices are forged delivers what they say, and never fails for it; what
// it counts is at most three for a chunk (RPR-11, RPH-2).
func TestForgedSlices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 5).Draw(t, "slices")
		r := newReceiver(codec.Repair, 0)
		for range 60 {
			s := sliceOf(0, rapid.IntRange(0, 3*k).Draw(t, "id"), k)
			if rapid.Bool().Draw(t, "forged") {
				s.Data = append([]byte(nil), s.Data...)
				s.Data[rapid.IntRange(0, len(s.Data)-1).Draw(t, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
			}
			give(r, s)
			check.That(t, r.Stats().Inconsistent <= 3, "at most three are counted")
		}
		if r.State() == ReceiverReady {
			got, err := r.Read(0, nil)
			check.Same(t, "error", err, nil)
			check.Same(t, "size", len(got), (k-1)*1024+lastBytes)
		}
		check.That(t, r.State() != ReceiverFailed, "it has not failed")
	})
}
