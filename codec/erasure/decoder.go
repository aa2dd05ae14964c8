package erasure

import (
	"bytes"
	"math"

	"github.com/chunkwire/chunkwire/core"
)

// Pool is where a Decoder has its memory from, rows and scratch included. Blocks can hold
// anything when they are taken.
type Pool interface {
	Take() *[SliceSize]byte
	Put(*[SliceSize]byte)
}

// Decoder rebuilds a chunk from any k independent ids. The zero value is ready for Begin,
// and holds no ids before it. It is not safe for concurrent use.
//
// Of its pool it has a block for each id that is held; and if r of these are repair slices,
// the first of which came when m source slices were missing, an index of one block and r+1
// rows, m of them at most. A row is m bytes, rounded up to a multiple of 32, and does not
// cross a block. For the time of a call [Decoder.Add] takes 8 blocks more at most, and
// [Decoder.Rebuild] and [Decoder.Step] 32; and from the first step to the last there is one for each repair slice.
type Decoder struct {
	pool      Pool
	numSlices int
	lastBytes int
	sources   core.Set           // the source slices that are here
	slices    []*[SliceSize]byte // each source slice, or the repair slice that is held for it
	matrix    matrix
	work      work
}

// Begin makes the decoder ready for a chunk of 1 to 256 slices, the last of 1 to 1,024
// bytes, and gives back its former content. With other numbers it does no more than that.
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

// Release gives all memory back, except for its tables of pointers, which serve the next chunk.
// The slices of Rebuild must not be used after it.
func (d *Decoder) Release() {
	d.work.release(d.pool)
	d.matrix.release(d.pool)
	for _, s := range d.slices {
		if s != nil {
			d.pool.Put(s)
		}
	}
	clear(d.slices)
	*d = Decoder{slices: d.slices[:0], matrix: d.matrix, work: work{solved: d.work.solved}}
}

// Rank returns how many independent ids are held (RPC-5).
func (d *Decoder) Rank() int { return d.sources.Count() + d.matrix.rows }

// Has reports whether an id is held. One that Add refused is not.
func (d *Decoder) Has(id int) bool {
	if id < d.numSlices {
		return d.sources.Has(id)
	}
	return d.matrix.has(id)
}

// Independent reports whether the row of an id does not follow from the rows of the ids that
// are held, so that Add would take its slice. It is false for what is no id.
func (d *Decoder) Independent(id int) bool {
	switch {
	case id < 0 || id >= MaxIDs || d.Rank() == d.numSlices || d.Has(id):
		return false
	case id >= d.numSlices:
		return d.matrix.independent(id, d)
	}
	return d.slices[id] == nil || d.matrix.movable(id, d)
}

// Add takes the slice with an id if it is Independent, and reports whether it is. It copies
// the data: what is too long is cut, what is too short is filled up with zeros.
func (d *Decoder) Add(id int, data []byte) bool {
	if !d.Independent(id) {
		return false
	}
	place := id
	if id >= d.numSlices {
		place = d.matrix.add(id, d)
	} else if d.slices[id] != nil {
		d.matrix.move(id, d)
	}
	s := d.pool.Take()
	clear(s[copy(s[:d.size(id)], data):])
	d.slices[place] = s
	if id < d.numSlices {
		d.sources.Add(id)
	}
	return true
}

// Rebuild returns all slices in order, the last filled up with zeros, once Rank is their
// number, and nil before. They stay the decoder's, and are read-only.
func (d *Decoder) Rebuild() []*[SliceSize]byte {
	if !d.Step(math.MaxInt) {
		return nil
	}
	return d.slices
}

// Matches reports whether the slice with an id has these data in the chunk that Rebuild
// returned. It is false before.
func (d *Decoder) Matches(id int, data []byte) bool {
	switch {
	case !d.work.done || id < 0 || id >= MaxIDs:
		return false
	case id < d.numSlices:
		return bytes.Equal(d.slices[id][:d.size(id)], data)
	}
	s := d.pool.Take()
	defer d.pool.Put(s)
	d.partOf(s, id-d.numSlices, core.FirstN(d.numSlices))
	return bytes.Equal(s[:d.size(id)], data)
}

// size returns the size of the slice with an id.
func (d *Decoder) size(id int) int {
	if d.numSlices == 1 || id == d.numSlices-1 {
		return d.lastBytes
	}
	return SliceSize
}
