package erasure

import "github.com/chunkwire/chunkwire/bitset"

// addSum adds repair slice j, as far as it is of some source slices.
func (d *Decoder) addSum(dst *[SliceSize]byte, j int, of bitset.Set) {
	memory := takeScratch(d.pool, exponents, SliceSize)
	defer memory.put(d.pool)
	s := memory.sums()
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

// solve puts in the place of each repair slice the slice for which it is held: the sum, over
// the solved columns, of the entries of its row times the repair slices.
func (d *Decoder) solve() {
	m := &d.matrix
	var blocks [MaxSlices]*[SliceSize]byte
	solved := blocks[:m.rows]
	for row := range solved {
		solved[row] = d.pool.Take()
		clear(solved[row][:])
	}
	memory := takeScratch(d.pool, 2*halves, SliceSize)
	defer memory.put(d.pool)
	products := memory.multiples()
	for _, column := range m.columnOf() {
		products.of(d.slices[m.sliceOf()[column]][:])
		for row, s := range solved {
			products.addTo(s[:], m.row(row)[column])
		}
	}
	for row, column := range m.columnOf() {
		slice := m.sliceOf()[column]
		d.pool.Put(d.slices[slice])
		d.slices[slice] = solved[row]
	}
}
