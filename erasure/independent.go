package erasure

import "bytes"

// Independent reports whether Add would take the slice with an id: whether its row does not
// follow from the rows of the ids that are held.
func (d *Decoder) Independent(id int) bool {
	switch {
	case id < 0 || id >= MaxIDs || d.Rank() == d.numSlices || d.Has(id):
		return false
	case d.matrix.rows == 0:
		return true
	case id < d.numSlices:
		if d.slices[id] == nil {
			return true
		}
		column := bytes.IndexByte(d.matrix.sliceOf(), byte(id))
		return d.matrix.pivot(bytes.IndexByte(d.matrix.columnOf(), byte(column)), d.slices) >= 0
	}
	return d.matrix.independent(id, d)
}

// independent reports whether the row of a repair slice follows from no others. What it
// makes in the place of the next row is nothing that is held.
func (m *matrix) independent(id int, d *Decoder) bool {
	if m.rows/(SliceSize/m.stride) == len(m.blocks) {
		m.blocks = append(m.blocks, d.pool.Take())
	}
	m.express(id-d.numSlices, d)
	return m.pivot(m.rows, d.slices) >= 0
}
