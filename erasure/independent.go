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
		return !d.matrix.determines(id, d)
	}
	return d.matrix.independent(id, d)
}

// determines reports whether a source slice follows from the repair slices that are held.
func (m *matrix) determines(slice int, d *Decoder) bool {
	column := bytes.IndexByte(m.sliceOf(), byte(slice))
	row := bytes.IndexByte(m.columnOf(), byte(column))
	return row >= 0 && m.freeColumn(row, d) < 0
}

// independent reports whether the row of a repair slice follows from no others. What it
// makes in the place of the next row is nothing that is held.
func (m *matrix) independent(id int, d *Decoder) bool {
	if m.rows == len(m.blocks)*(SliceSize/m.stride) {
		m.blocks = append(m.blocks, d.pool.Take())
	}
	memory := takeScratch(d.pool, 32, m.stride)
	defer memory.put(d.pool)
	m.express(id-d.numSlices, d, &memory)
	return m.freeColumn(m.rows, d) >= 0
}
