package erasure

import (
	"bytes"

	"github.com/chunkwire/chunkwire/bitset"
)

// Pool is where a Decoder has all its memory from, rows and scratch included. Blocks may
// hold anything when they are taken.
type Pool interface {
	Take() *[SliceSize]byte
	Put(*[SliceSize]byte)
}

// Decoder rebuilds a chunk from any k independent ids. The zero value is ready for Begin,
// and holds no ids before it. It is not safe for concurrent use.
type Decoder struct {
	pool      Pool
	numSlices int
	lastBytes int
	sources   bitset.Set         // source slices that are here
	slices    []*[SliceSize]byte // at the place of each slice: it, or a repair slice for it
	matrix    matrix
	rebuilt   bool
}

// Begin makes the decoder ready for a chunk of 1 to 256 slices, the last of 1 to 1,024
// bytes. What it held is given back. With other numbers it holds no ids.
func (d *Decoder) Begin(numSlices, lastBytes int, p Pool) {
	d.Release()
	if numSlices < 1 || numSlices > MaxSlices || lastBytes < 1 || lastBytes > SliceSize {
		return
	}
	d.pool, d.numSlices, d.lastBytes = p, numSlices, lastBytes
	d.slices = append(d.slices, make([]*[SliceSize]byte, numSlices)...)
}

// Release gives all memory back. The slices of Rebuild must not be used after it.
func (d *Decoder) Release() {
	d.matrix.release(d.pool)
	for _, s := range d.slices {
		if s != nil {
			d.pool.Put(s)
		}
	}
	clear(d.slices)
	*d = Decoder{slices: d.slices[:0], matrix: d.matrix}
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

// Add takes the slice with an id, and copies its data. It returns false, and holds nothing
// of it, if the rows of the ids that are held determine its own: then it would add nothing.
// So it does with what is no id. Data that are too short count as filled up with zeros.
func (d *Decoder) Add(id int, data []byte) bool {
	switch {
	case id < 0 || id >= MaxIDs || d.Rank() == d.numSlices:
		return false
	case id < d.numSlices:
		return d.addSource(id, data)
	}
	return d.addRepair(id, data)
}

func (d *Decoder) addSource(id int, data []byte) bool {
	if d.sources.Has(id) {
		return false
	}
	if d.slices[id] == nil {
		d.matrix.drop(id)
	} else {
		p := d.matrix.move(id, d.slices)
		if p < 0 {
			return false
		}
		d.slices[p] = d.slices[id]
	}
	d.sources.Add(id)
	d.slices[id] = d.copy(data)
	return true
}

func (d *Decoder) addRepair(id int, data []byte) bool {
	if d.matrix.has(id) {
		return false
	}
	if d.matrix.rows == 0 {
		d.matrix.begin(d)
	}
	p := d.matrix.add(id, d)
	if p < 0 {
		return false
	}
	d.slices[p] = d.copy(data)
	return true
}

func (d *Decoder) copy(data []byte) *[SliceSize]byte {
	s := d.pool.Take()
	clear(s[copy(s[:], data):])
	return s
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

// Matches reports whether the slice with an id has these data, in the chunk as it was
// rebuilt. It is false before Rebuild.
func (d *Decoder) Matches(id int, data []byte) bool {
	if !d.rebuilt || id < 0 || id >= MaxIDs {
		return false
	}
	if id < d.numSlices {
		return bytes.Equal(d.slices[id][:d.size(id)], data)
	}
	var a [MaxSlices]byte
	coefficients(a[:d.numSlices], id-d.numSlices)
	s := d.pool.Take()
	defer d.pool.Put(s)
	clear(s[:])
	d.addSum(s, a[:d.numSlices])
	return bytes.Equal(s[:d.size(id)], data)
}

// size returns the size of the slice with an id.
func (d *Decoder) size(id int) int {
	if id == d.numSlices-1 || d.numSlices == 1 {
		return d.lastBytes
	}
	return SliceSize
}

// addSum adds slice i times x^a[i], for all i that are not absent.
func (d *Decoder) addSum(dst *[SliceSize]byte, a []byte) {
	var s sum
	for i := range a {
		s.vectors[i] = d.slices[i][:]
	}
	var sorted sorting
	s.sort(&sorted, a)
	s.addTo(dst[:])
}
