package erasure

import "github.com/chunkwire/chunkwire/bitset"

// addSum adds repair slice j, as far as it is of some source slices.
func (d *Decoder) addSum(dst *[SliceSize]byte, j int, of bitset.Set) {
	memory := takeScratch(d.pool, exponents, SliceSize)
	defer memory.put(d.pool)
	s := sums{memory: [exponents][]byte(memory.vectors[:])}
	var a [MaxSlices]byte
	coefficients(a[:d.numSlices], j)
	for i := range of.All() {
		s.add(int(a[i]), d.slices[i][:])
	}
	s.addTo(dst[:])
}

// takeOutSources leaves of the repair slices that are held what they are of the slices that
// are missing.
func (d *Decoder) takeOutSources() {
	m := &d.matrix
	for row, column := range m.columnOf() {
		d.addSum(d.slices[m.sliceOf()[column]], m.id(row)-d.numSlices, d.sources)
	}
}

// part is how many bytes of all slices are solved at a time.
const part = 256

// solve puts in the place of each repair slice the slice for which it is held: the sum, over
// the solved columns, of the entries of its row times the repair slices.
func (d *Decoder) solve() {
	memory := takeScratch(d.pool, 32, part)
	defer memory.put(d.pool)
	var blocks [MaxSlices * part / SliceSize]*[SliceSize]byte
	solved := blocks[:(d.matrix.rows*part+SliceSize-1)/SliceSize]
	for n := range solved {
		solved[n] = d.pool.Take()
	}
	for at := 0; at < SliceSize; at += part {
		d.solvePart(at, solved, &memory)
	}
	for _, b := range solved {
		d.pool.Put(b)
	}
}

func (d *Decoder) solvePart(at int, solved []*[SliceSize]byte, memory *scratch) {
	m := &d.matrix
	of := func(row int) []byte { return solved[row*part/SliceSize][row*part%SliceSize:][:part] }
	for _, b := range solved {
		clear(b[:])
	}
	products := multiples{[16][]byte(memory.vectors[:16]), [16][]byte(memory.vectors[16:])}
	for _, column := range m.columnOf() {
		products.of(d.slices[m.sliceOf()[column]][at : at+part])
		for row := range m.rows {
			products.addTo(of(row), m.row(row)[column])
		}
	}
	for row, column := range m.columnOf() {
		copy(d.slices[m.sliceOf()[column]][at:at+part], of(row))
	}
}
