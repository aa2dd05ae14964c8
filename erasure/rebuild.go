package erasure

// takeOutSources leaves of each repair slice that is held what the missing slices are in it.
func (d *Decoder) takeOutSources() {
	m := &d.matrix
	for row, column := range m.columnOf() {
		var a [MaxSlices]byte
		coefficients(a[:d.numSlices], m.id(row)-d.numSlices)
		for i := range a[:d.numSlices] {
			if !d.sources.Has(i) {
				a[i] = absent
			}
		}
		d.addSum(d.slices[m.sliceOf()[column]], a[:d.numSlices])
	}
}

// solve makes the missing slices out of what the repair slices say of them.
func (d *Decoder) solve() {
	m := &d.matrix
	var s sum
	var order [8 * MaxSlices]byte
	var ends [8]int
	for column, slice := range m.sliceOf() {
		s.vectors[column] = d.slices[slice][:]
	}
	solved := make([]*[SliceSize]byte, m.rows)
	for row := range m.rows {
		r := m.row(row)
		n := 0
		for bit := range ends {
			for column, factor := range r[:m.columns] {
				if factor>>bit&1 == 1 {
					order[n] = byte(column)
					n++
				}
			}
			ends[bit] = n
		}
		s.order, s.ends = order[:], ends[:]
		solved[row] = d.pool.Take()
		clear(solved[row][:])
		s.addTo(solved[row][:])
	}
	for row, column := range m.columnOf() {
		slice := m.sliceOf()[column]
		d.pool.Put(d.slices[slice])
		d.slices[slice] = solved[row]
	}
}
