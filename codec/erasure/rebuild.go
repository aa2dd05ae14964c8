package erasure

import (
	"crypto/subtle"

	"github.com/chunkwire/chunkwire/core"
)

// partOf makes a vector what some source slices are of repair slice j.
func (d *Decoder) partOf(dst *[SliceSize]byte, j int, sources core.Set) {
	var b blocks
	copy(b[:], d.slices)
	var a [MaxSlices]byte
	coefficients(a[:d.numSlices], j)
	for i := range a[:d.numSlices] {
		if !sources.Has(i) {
			a[i] = absent
		}
	}
	b.sum(dst, a[:d.numSlices])
}

// takeOutSources leaves of the repair slices that are held what they are of the slices that
// are missing.
func (d *Decoder) takeOutSources() {
	known := d.pool.Take()
	defer d.pool.Put(known)
	m := &d.matrix
	for row, column := range m.columnOf() {
		d.partOf(known, m.id(row)-d.numSlices, d.sources)
		s := d.slices[m.sliceOf()[column]]
		subtle.XORBytes(s[:], s[:], known[:])
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
	memory := takeScratch(d.pool, SliceSize)
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
