package erasure_test

import (
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/check"
)

// rowBlocks is how many blocks rows take, if m slices were missing at first.
func rowBlocks(rows, m int) int {
	each := erasure.SliceSize / ((m + 31) / 32 * 32)
	return (rows + each - 1) / each
}

// The blocks that a decoder has of its pool are those of its documentation, exactly: after
// each Add, and at most within it and within Rebuild.
func TestMemory(t *testing.T) {
	for _, k := range []int{1, 2, 31, 32, 33, 100, 256} {
		for _, m := range []int{0, 1, k / 3, k/3 + 1, k - 1, k} {
			if m > k || m < 0 {
				continue
			}
			e, p := erasure.Encode(pattern(k*erasure.SliceSize)), newPool()
			d := receiver(p, e, upTo(m, k)...)
			check.Equal(t, "blocks of source slices", len(p.taken), k-m)
			for id, rows := k, 0; d.Rank() < k; id++ {
				held := len(p.taken)
				if rows > 0 && d.Independent(id) {
					check.Equal(t, "blocks with the row after these", len(p.taken), d.Rank()+1+rowBlocks(rows+1, m))
				}
				p.most = 0
				if d.Add(id, e.Slice(id)) {
					rows++
					check.Equal(t, fmt.Sprintf("blocks with %d rows, %d of %d missing", rows, m, k), len(p.taken), d.Rank()+1+rowBlocks(rows, m))
				}
				check.That(t, p.most <= max(held, len(p.taken))+8, "Add takes 8 blocks more at most")
			}
			held := len(p.taken)
			d.Rebuild()
			check.Equal(t, "blocks after Rebuild", len(p.taken), held)
			want := held
			if m > 0 {
				want += m + 32
			}
			check.Equal(t, fmt.Sprintf("blocks at most, %d of %d missing", m, k), p.most, want)
			d.Release()
			check.Equal(t, "blocks after Release", len(p.taken), 0)
		}
	}
}

// A peer that sends all repair slices there are does not get more than this: 256 slices, an
// index, 64 blocks of rows, and 288 blocks while the chunk is rebuilt.
func TestMemoryOfAHostilePeer(t *testing.T) {
	p, rng := newPool(), seeded(7)
	var d erasure.Decoder
	d.Begin(256, 1024, p)
	for range 20_000 {
		d.Add(256+rng.IntN(8192-256), []byte{byte(rng.Uint32())})
		if rng.IntN(100) == 0 {
			d.Rebuild()
		}
	}
	check.Equal(t, "blocks", len(p.taken), 256+1+64)
	check.Equal(t, "blocks at most", p.most, 256+1+64+256+32)
	d.Release()
	check.Equal(t, "blocks after Release", len(p.taken), 0)
}

// Once the pool is warm and the tables are large enough, a chunk allocates nothing.
func TestAllocations(t *testing.T) {
	for _, c := range []struct {
		k, missing int
	}{{32, 0}, {32, 5}, {256, 0}, {256, 13}, {256, 256}} {
		e := erasure.Encode(pattern(c.k * erasure.SliceSize))
		var p heap
		var d erasure.Decoder
		got := testing.AllocsPerRun(3, func() {
			d.Begin(c.k, erasure.SliceSize, &p)
			for id := c.missing; d.Rank() < c.k; id++ {
				d.Add(id, e.Slice(id))
			}
			d.Rebuild()
			d.Release()
		})
		check.Equal(t, fmt.Sprintf("allocations of a chunk of %d slices, %d missing", c.k, c.missing), got, 0)
	}
	e := erasure.Encode(pattern(5000))
	e.Slice(5)
	check.Equal(t, "allocations of a slice that is kept", testing.AllocsPerRun(3, func() { e.Slice(4); e.Slice(5) }), 0)
	check.Equal(t, "of one that is not", testing.AllocsPerRun(3, func() { e.Slice(5000) }), 1)
}

// A rebuild is done in steps: a step that may do little does one row or one column, whatever the chunk, and what comes
// of it is the same.
func TestStepsOfARebuild(t *testing.T) {
	for _, missing := range []int{0, 13, 256} {
		e := erasure.Encode(pattern(256 * erasure.SliceSize))
		p := newPool()
		var d erasure.Decoder
		d.Begin(256, erasure.SliceSize, p)
		for id := missing; d.Rank() < 256; id++ {
			check.That(t, !d.Step(1), "nothing is rebuilt before it can be")
			d.Add(id, e.Slice(id))
		}
		steps := 1
		for !d.Step(1) {
			steps++
		}
		check.Equal(t, fmt.Sprintf("steps of %d missing", missing), steps, 2*missing+1)
		for i, s := range d.Rebuild() {
			check.Bytes(t, "slice", s[:], e.Slice(i))
		}
		d.Begin(256, erasure.SliceSize, p)
		for id := 256; d.Rank() < 256; id++ {
			d.Add(id, e.Slice(id))
		}
		for range 300 {
			d.Step(1)
		}
		d.Release() // in the middle
		check.Equal(t, "blocks that are not back", len(p.taken), 0)
	}
}
