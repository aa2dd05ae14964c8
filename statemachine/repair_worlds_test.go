package statemachine_test

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/chunks"
	memory "github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/rateless"
)

// What holds of repair slices alone.

// Random and adversarial erasures: whichever slices of a chunk are lost, as soon as those
// that arrived have the rank of the chunk, it is delivered exactly, and not before.
func TestErasures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := chunktest.Chunk(rapid.OneOf(rapid.IntRange(1, 12*1024), rapid.SampledFrom([]int{60_000})).Draw(t, "size"), 9)
		e := erasure.Encode(data)
		r := check.Must(chunks.NewCheckedReceiver(statemachine.ReceiverConfig{Kind: codec.Repair}, t.Fatalf))
		ids := drawErasures(t, e.NumSlices())
		for i, id := range ids {
			now := core.Micros(i)
			r.HandleSlice(now, codec.Slice{SliceID: id, NumSlices: e.NumSlices(), LastBytes: e.LastBytes(), Data: e.Slice(id)})
			if r.State() == statemachine.ReceiverReady {
				got, err := r.Read(now, nil)
				check.Same(t, "error", err, nil)
				check.Bytes(t, "chunk", got, data)
				return
			}
		}
		t.Fatalf("%d ids are not enough for %d slices", len(ids), e.NumSlices())
	})
}

// drawErasures draws the ids that arrive, in their order: some of the first survive, or
// none, or only the last, or those that a burst leaves; then repair slices from any place.
func drawErasures(t *rapid.T, k int) (ids []int) {
	switch rapid.IntRange(0, 3).Draw(t, "erasures") {
	case 0: // by chance
		loss := rapid.IntRange(0, 99).Draw(t, "loss")
		chance := rapid.SliceOfN(rapid.IntRange(0, 99), k, k).Draw(t, "chances")
		for id, c := range chance {
			if c >= loss {
				ids = append(ids, id)
			}
		}
	case 1: // a burst
		from := rapid.IntRange(0, k-1).Draw(t, "from")
		to := rapid.IntRange(from, k).Draw(t, "to")
		for id := range k {
			if id < from || id >= to {
				ids = append(ids, id)
			}
		}
	case 2: // only the last
		ids = append(ids, k-1)
	}
	first := rapid.IntRange(k, erasure.MaxIDs-2*k-20).Draw(t, "first repair slice")
	for id := first; id < first+k+20; id++ {
		ids = append(ids, id)
	}
	if rapid.Bool().Draw(t, "backward") {
		for i, j := 0, len(ids)-1; i < j; i, j = i+1, j-1 {
			ids[i], ids[j] = ids[j], ids[i]
		}
	}
	return ids
}

// A slice that comes again is acked again, in every state, so a lost ack never stalls.
func TestEverySliceIsAnswered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := chunktest.Chunk(rapid.IntRange(1, 6*1024).Draw(t, "size"), 9)
		e := erasure.Encode(data)
		r := check.Must(statemachine.NewReceiver(statemachine.ReceiverConfig{Kind: codec.Repair}))
		now := core.Micros(0)
		for _, id := range rapid.SliceOfN(rapid.IntRange(0, 20), 1, 60).Draw(t, "ids") {
			now += 3 * ms
			r.HandleSlice(now, codec.Slice{SliceID: id, NumSlices: e.NumSlices(), LastBytes: e.LastBytes(), Data: e.Slice(id)})
			a, ok := r.Poll(now)
			v := r.Vars()
			want := codec.Ack{NumSlices: e.NumSlices(), Have: v.Have, Top: v.Top}
			if v.PreviousSlices > 0 {
				want.Have, want.Top = e.NumSlices(), v.PreviousTop
			}
			check.That(t, ok, "an ack goes out at once")
			check.Equal(t, "ack", a, want)
		}
	})
}

// One forged slice is noticed by any equation that is not needed and that it breaks; where
// only source slices were held, by every one (RPR-11). Nothing else is reported.
func TestAForgedSliceIsNoticed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := chunktest.Chunk(rapid.IntRange(1, 8*1024).Draw(t, "size"), 9)
		e := erasure.Encode(data)
		k := e.NumSlices()
		r := check.Must(chunks.NewCheckedReceiver(statemachine.ReceiverConfig{Kind: codec.Repair}, t.Fatalf))
		ids := rapid.Permutation(chunktest.Range(0, rapid.SampledFrom([]int{k - 1, 3 * k}).Draw(t, "largest id"))).Draw(t, "ids")
		give := func(id int, forged bool) {
			s := codec.Slice{SliceID: id, NumSlices: k, LastBytes: e.LastBytes(), Data: e.Slice(id)}
			if forged {
				s.Data = append([]byte(nil), s.Data...)
				// Behind LastBytes a change may touch what fills up the last slice alone.
				s.Data[rapid.IntRange(0, e.LastBytes()-1).Draw(t, "at")] ^= byte(rapid.IntRange(1, 255).Draw(t, "bits"))
			}
			r.HandleSlice(0, s)
		}
		give(ids[0], true)
		for _, id := range ids[1:] {
			if r.State() != statemachine.ReceiverReady {
				give(id, false)
			}
		}
		if r.State() != statemachine.ReceiverReady {
			t.Skip("the rank is too small")
		}
		spare := 3*k + 1 + rapid.IntRange(0, 50).Draw(t, "spare")
		give(spare, false)
		got, err := r.Read(0, nil)
		check.Same(t, "error", err, nil)
		check.That(t, !bytes.Equal(got, data), "the chunk is spoiled")
		breaks := len(ids) == k || !bytes.Equal(erasure.Encode(got).Slice(spare), e.Slice(spare))
		check.That(t, !breaks || r.Stats().Inconsistent > 0, "it is noticed")
	})
}

// Whatever is sent to it, genuine or forged, of any form, a receiver does what its oracle does,
// keeps the memory that is allowed, and sends no more acks than slices came.
func TestAnySlices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := check.Must(chunks.NewCheckedReceiver(statemachine.ReceiverConfig{Kind: codec.Repair}, t.Fatalf))
		now := core.Second
		for range rapid.IntRange(1, 30).Draw(t, "slices") {
			k := rapid.SampledFrom([]int{1, 2, 3, 20}).Draw(t, "of")
			s := codec.Slice{
				ChunkID: r.Vars().ChunkID + uint16(rapid.IntRange(-1, 1).Draw(t, "chunk")), NumSlices: k,
				SliceID: rapid.IntRange(0, erasure.MaxIDs-1).Draw(t, "id"), LastBytes: rapid.SampledFrom([]int{1, 700, 1024}).Draw(t, "last bytes"),
			}
			size := 1024
			if k == 1 || s.SliceID == k-1 {
				size = s.LastBytes
			}
			s.Data = chunktest.Chunk(size, rapid.Uint32().Draw(t, "content"))
			now += rapid.SampledFrom([]core.Micros{0, 1, ms, 5 * core.Second}).Draw(t, "later")
			for range rapid.IntRange(1, 3).Draw(t, "copies") {
				r.HandleSlice(now, s)
			}
			if rapid.Bool().Draw(t, "polled") {
				for _, ok := r.Poll(now); ok; _, ok = r.Poll(now) {
				}
				_, _ = r.Read(now, nil)
			}
		}
		if held, most := memory.Footprint(r.Receiver), int64(20*(1024+256+1024)+48*1024); held > most {
			t.Fatalf("RPV-BND-1: it keeps %d bytes, though it may keep %d", held, most)
		}
	})
}

// Ids are used up in a loss that lasts long, and come again: nothing else changes, once
// slices come through (RPN-2 to RPN-5). The oracle knows every number.
func TestIDsWrap(t *testing.T) {
	rule := func() statemachine.Scheduler { return check.Must(rateless.New(rateless.Default())) }
	w := check.Must(chunk.NewWorld(statemachine.SenderConfig{Kind: codec.Repair, Scheduler: rule()}, statemachine.ReceiverConfig{Kind: codec.Repair, GiveUp: year}, 50*ms))
	w.Sender = check.Must(chunks.NewCheckedSender(statemachine.SenderConfig{Kind: codec.Repair, GiveUp: year, Scheduler: rule()}, chunks.Rule{}.Oracle(), t.Fatalf))
	w.Receiver = check.Must(chunks.NewCheckedReceiver(statemachine.ReceiverConfig{Kind: codec.Repair, GiveUp: year}, t.Fatalf))
	n := 0
	w.Down = func(now core.Micros, _ codec.Packet) []core.Micros {
		if n++; n > 1 && now < 35_000*core.Second && n%5000 != 0 {
			return nil
		}
		return []core.Micros{now + 25*ms}
	}
	w.Up = memory.Outage(w.Up, 0, 35_000*core.Second)
	took, err := w.Transfer(chunktest.Chunk(4*1024, 1))
	check.Same(t, "error", err, nil)
	check.That(t, w.Sender.Stats().SlicesSent > erasure.MaxIDs, "ids came again")
	check.That(t, took > 35_000*core.Second && took < 35_002*core.Second, fmt.Sprint("it ended soon after the loss: ", took))
	w.Finish()
	check.That(t, w.Intact(), "the chunk is what was submitted")
}
