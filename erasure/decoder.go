package erasure

import (
	"bytes"

	"github.com/chunkwire/chunkwire/bitset"
)

// Pool is where a Decoder has its memory from, rows and scratch included. Blocks may hold
// anything when they are taken.
type Pool interface {
	Take() *[SliceSize]byte
	Put(*[SliceSize]byte)
}

// Decoder rebuilds a chunk from any k independent ids. The zero value is ready for Begin,
// and holds no ids before it. It is not safe for concurrent use.
//
// While it holds n ids, r of them repair slices that came when m source slices were
// missing, it has n blocks of its pool, and if r is not 0 one block and the rows: r times
// m bytes, where m is rounded up to a multiple of 32 and no row crosses a block.
// [Decoder.Add] takes 8 blocks more at most and gives them back, [Decoder.Rebuild] 72.
type Decoder struct {
	pool      Pool
	numSlices int
	lastBytes int
	sources   bitset.Set         // the source slices that are here
	slices    []*[SliceSize]byte // each source slice, or the repair slice that is held for it
	matrix    matrix
	rebuilt   bool
}

// fewSlices is for how many slices an idle decoder keeps its table.
const fewSlices = 32

// Begin makes the decoder ready for a chunk of 1 to 256 slices, the last of 1 to 1,024
// bytes, and gives back what it held. With other numbers it does no more than that.
func (d *Decoder) Begin(numSlices, lastBytes int, p Pool) {
	d.Release()
	if numSlices < 1 || numSlices > MaxSlices || lastBytes < 1 || lastBytes > SliceSize {
		return
	}
	d.pool, d.numSlices, d.lastBytes = p, numSlices, lastBytes
	if cap(d.slices) < numSlices {
		d.slices = make([]*[SliceSize]byte, numSlices)
	}
	d.slices = d.slices[:numSlices]
}

// Release gives all memory back. The slices of Rebuild must not be used after it.
func (d *Decoder) Release() {
	d.matrix.release(d.pool)
	for _, s := range d.slices {
		if s != nil {
			d.pool.Put(s)
		}
	}
	table := d.slices[:0]
	clear(d.slices)
	if cap(table) > fewSlices {
		table = nil
	}
	*d = Decoder{slices: table}
}

// Rank returns how many independent ids are held.
func (d *Decoder) Rank() int { return d.sources.Count() + d.matrix.rows }

// Has reports whether an id is held. One that Add refused is not.
func (d *Decoder) Has(id int) bool {
	if id < d.numSlices {
		return d.sources.Has(id)
	}
	return d.matrix.has(id)
}

// Add takes the slice with an id, and copies its data: what is too short counts as filled
// up with zeros. It returns false, and holds nothing of it, if its row follows from those
// of the ids that are held, as that of an id does that is held; and if it is no id.
func (d *Decoder) Add(id int, data []byte) bool {
	if id < 0 || id >= MaxIDs || d.Rank() == d.numSlices || d.Has(id) {
		return false
	}
	place := d.place(id)
	if place < 0 {
		return false
	}
	s := d.pool.Take()
	clear(s[copy(s[:], data):])
	d.slices[place] = s
	if id < d.numSlices {
		d.sources.Add(id)
	}
	return true
}

// place returns where the slice with an id is to be held: as a source slice, or for one. It
// is -1 if its row follows from what is held.
func (d *Decoder) place(id int) int {
	switch {
	case id >= d.numSlices:
		return d.matrix.add(id, d)
	case d.slices[id] == nil:
		d.matrix.know(id)
	case !d.matrix.move(id, d):
		return -1
	}
	return id
}

// Rebuild returns all slices in order, the last filled up with zeros, once Rank is their
// number, and nil before. They stay the decoder's, and are read-only.
func (d *Decoder) Rebuild() []*[SliceSize]byte {
	if d.numSlices == 0 || d.Rank() < d.numSlices {
		return nil
	}
	if !d.rebuilt && d.matrix.rows > 0 {
		d.takeOutSources()
		d.solve()
	}
	d.rebuilt = true
	return d.slices
}

// Matches reports whether the slice with an id has these data in the chunk that Rebuild
// returned. It is false before.
func (d *Decoder) Matches(id int, data []byte) bool {
	switch {
	case !d.rebuilt || id < 0 || id >= MaxIDs:
		return false
	case id < d.numSlices:
		return bytes.Equal(d.slices[id][:d.size(id)], data)
	}
	s := d.pool.Take()
	defer d.pool.Put(s)
	clear(s[:])
	all := bitset.FirstN(d.numSlices)
	d.addSum(s, id-d.numSlices, all)
	return bytes.Equal(s[:d.size(id)], data)
}

// size returns the size of the slice with an id.
func (d *Decoder) size(id int) int {
	if d.numSlices == 1 || id == d.numSlices-1 {
		return d.lastBytes
	}
	return SliceSize
}
