package statemachine

import (
	"github.com/chunkwire/chunkwire/codec"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
)

// inconsistent expects how many differences were counted, and that the chunk is delivered
// all the same.
func inconsistent(t *testing.T, r *Receiver, want int64) {
	t.Helper()
	check.Same(t, "inconsistent", r.Stats().Inconsistent, want)
	check.Same(t, "state", r.State(), ReceiverReady)
}

// A dependent slice is an equation that is not needed: it is compared with the chunk
// (RPR-11). Here alike[1] depends on alike[0].
func TestADependentSliceIsCompared(t *testing.T) {
	for name, c := range map[string]struct {
		slices []codec.Slice
		want   int64
	}{
		"all is right":                       {ids(0, 3, alike[0], alike[1], 0, 1), 0},
		"the dependent one is forged":        {[]codec.Slice{sliceOf(0, alike[0], 3), forged(sliceOf(0, alike[1], 3)), sliceOf(0, 0, 3), sliceOf(0, 1, 3)}, 1},
		"the one that it depends on is":      {[]codec.Slice{forged(sliceOf(0, alike[0], 3)), sliceOf(0, alike[1], 3), sliceOf(0, 0, 3), sliceOf(0, 1, 3)}, 1},
		"a source slice is":                  {[]codec.Slice{sliceOf(0, alike[0], 3), sliceOf(0, alike[1], 3), forged(sliceOf(0, 0, 3)), sliceOf(0, 1, 3)}, 0}, // those two say the same
		"only a second dependent one is":     {[]codec.Slice{sliceOf(0, alike[0], 3), sliceOf(0, alike[1], 3), forged(sliceOf(0, alike[1], 3)), sliceOf(0, 0, 3), sliceOf(0, 1, 3)}, 0},
		"it came before the chunk was whole": {[]codec.Slice{sliceOf(0, alike[0], 3), sliceOf(0, 0, 3), forged(sliceOf(0, alike[1], 3)), sliceOf(0, 1, 3)}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			inconsistent(t, give(newReceiver(codec.Repair, 0), c.slices...), c.want)
		})
	}
}

// A forged slice of which something else is seen changes the chunk and nothing more: the
// acks, the counts and the row are those of a genuine one (RPR-11).
func TestAForgedSliceChangesNothingElse(t *testing.T) {
	for _, at := range []int{0, 1, 2, 3} {
		genuine := ids(0, 3, alike[0], alike[1], 0, 1)
		spoiled := ids(0, 3, alike[0], alike[1], 0, 1)
		spoiled[at] = forged(spoiled[at])
		a, b := give(newReceiver(codec.Repair, 0), genuine...), give(newReceiver(codec.Repair, 0), spoiled...)
		check.Equal(t, "variables", b.Vars(), a.Vars())
		check.Same(t, "ack", nextAck(t, b, 0), nextAck(t, a, 0))
		want := a.Stats()
		want.Inconsistent = b.Stats().Inconsistent
		check.Equal(t, "counts", b.Stats(), want)
		got, err := b.Read(0, nil)
		check.Same(t, "error", err, nil)
		check.Same(t, "size", len(got), 2*1024+lastBytes)
	}
}

// What follows the end of the chunk in the last slice is zeros, in a rebuilt one too
// (RPR-11).
func TestTheEndOfARebuiltSliceIsZero(t *testing.T) {
	for at, want := range map[int]int64{0: 0, lastBytes - 1: 0, lastBytes: 1, 1023: 1} {
		bad := sliceOf(0, 2, 2)
		bad.Data = append([]byte(nil), bad.Data...)
		bad.Data[at] ^= 1
		inconsistent(t, give(newReceiver(codec.Repair, 0), sliceOf(0, 0, 2), bad), want)
		inconsistent(t, give(newReceiver(codec.Repair, 0), sliceOf(0, 1, 2), bad), 0) // the last slice came itself
	}
}

// The chunk that is compared is that which is delivered, with zeros behind its end: each
// forged byte is counted once (RPR-11).
func TestTheChunkThatIsComparedIsThatWhichIsDelivered(t *testing.T) {
	for _, c := range []struct {
		at   []int
		want int64
	}{{[]int{1023}, 1}, {[]int{0}, 1}, {[]int{0, 1023}, 2}} {
		bad := sliceOf(0, alike[0], 3)
		bad.Data = append([]byte(nil), bad.Data...)
		for _, at := range c.at {
			bad.Data[at] ^= 1
		}
		inconsistent(t, give(newReceiver(codec.Repair, 0), bad, sliceOf(0, alike[1], 3), sliceOf(0, 0, 3), sliceOf(0, 1, 3)), c.want)
	}
}

// A chunk of one slice has no such end, since its repair slices are as long as it is.
func TestTheEndOfOneSlice(t *testing.T) {
	inconsistent(t, give(newReceiver(codec.Repair, 0), forged(sliceOf(0, 4, 1))), 0)
}

// While a chunk waits to be read, the first repair slice that comes of it is compared
// (RPR-11).
func TestALateSliceIsCompared(t *testing.T) {
	otherEnd := sliceOf(0, 6, 3)
	otherEnd.LastBytes++
	for name, c := range map[string]struct {
		late []codec.Slice
		want int64
	}{
		"it is right":                   {ids(0, 3, 6), 0},
		"it is forged":                  {[]codec.Slice{forged(sliceOf(0, 6, 3))}, 1},
		"only the second is":            {[]codec.Slice{sliceOf(0, 6, 3), forged(sliceOf(0, 7, 3))}, 0},
		"two are":                       {[]codec.Slice{forged(sliceOf(0, 6, 3)), forged(sliceOf(0, 7, 3))}, 1},
		"a source slice is":             {[]codec.Slice{forged(sliceOf(0, 1, 3))}, 0},
		"a source slice comes before":   {[]codec.Slice{sliceOf(0, 1, 3), forged(sliceOf(0, 6, 3))}, 1},
		"one that was held is":          {[]codec.Slice{forged(sliceOf(0, 4, 3))}, 0},
		"one that was held comes first": {[]codec.Slice{sliceOf(0, 4, 3), forged(sliceOf(0, 6, 3))}, 1},
		"it has another last_bytes":     {[]codec.Slice{forged(otherEnd), sliceOf(0, 7, 3)}, 0},
		"another last_bytes, then one":  {[]codec.Slice{otherEnd, forged(sliceOf(0, 7, 3))}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := give(newReceiver(codec.Repair, 0), ids(0, 3, 0, 2, 4)...)
			give(r, c.late...)
			check.Same(t, "row", r.row, "U15")
			inconsistent(t, r, c.want)
			got, _ := r.Read(0, nil)
			check.Bytes(t, "chunk", got, chunkOf(0, 3))
		})
	}
}

// One difference of each kind is counted for a chunk, and for the next one again.
func TestEachChunkIsCompared(t *testing.T) {
	r := newReceiver(codec.Repair, 0)
	for n := range int64(3) {
		id := uint16(n)
		give(r, sliceOf(id, alike[0], 3), forged(sliceOf(id, alike[1], 3)), sliceOf(id, 0, 3), sliceOf(id, 1, 3), forged(sliceOf(id, 9, 3)))
		inconsistent(t, r, 2*(n+1))
		_, _ = r.Read(0, nil)
	}
}

// What is not here any more is not compared (U3, U12).
func TestNothingIsComparedWhenTheChunkWasRead(t *testing.T) {
	r := give(newReceiver(codec.Repair, 0), ids(0, 3, 0, 1, 2)...)
	_, _ = r.Read(0, nil)
	give(r, forged(sliceOf(0, 6, 3)), sliceOf(1, 0, 3), forged(sliceOf(0, 6, 3)))
	check.Same(t, "row", r.row, "U12")
	check.Same(t, "inconsistent", r.Stats().Inconsistent, 0)
}

// A chunk that replaces another forgets the slice that was kept (RPR-7).
func TestAReplacedChunkForgetsTheSpareSlice(t *testing.T) {
	other := ids(0, 3, alike[0], alike[1])
	for i := range other {
		other[i].LastBytes++
	}
	r := give(newReceiver(codec.Repair, 0), other...)
	check.That(t, heldBy(r).spare.data != nil, "one is kept")
	r.Poll(giveUp / 2)
	give(r, ids(0, 3, 0)...)
	check.Same(t, "row", r.row, "U10")
	check.That(t, heldBy(r).spare.data == nil, "it is forgotten")
	inconsistent(t, give(r, ids(0, 3, 1, 2)...), 0)
}

// A dependent source slice is not kept.
func TestASourceSliceIsNoSpareOne(t *testing.T) {
	i, j := rowsWithout(2)
	r := give(newReceiver(codec.Repair, 0), append(ids(0, 3, 3+i, 3+j), forged(sliceOf(0, 2, 3)))...)
	check.Same(t, "row", r.row, "U8")
	inconsistent(t, give(r, sliceOf(0, 0, 3)), 0)
}
