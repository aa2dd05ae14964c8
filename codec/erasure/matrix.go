package erasure

import (
	"bytes"
	"encoding/binary"
)

// matrix is what the repair slices that are held say about the source slices that are
// missing. Its columns are the slices that were missing when the first repair slice came.
// A column is
//
//   - known, if the source slice has come since: its entries mean nothing any more;
//   - solved, if a repair slice is held for it, and a row belongs to it;
//   - free otherwise.
//
// A row says what the source slice of its column is: the sum, over the free columns, of its
// entries times their source slices, and over the solved columns of its entries times the
// repair slices that are held for them, without the known source slices in these. When no
// column is free, the rows are the inverse of the matrix of coefficients.
type matrix struct {
	columns   int
	rows      int
	stride    int // from a row to the next, in bytes
	index     *[SliceSize]byte
	blocks    []*[SliceSize]byte // the rows
	expressed int                // the id whose row is in the memory of the next one; or 0
}

// index has the id and the column of each row, and the slice of each column.
const (
	rowID       = 0
	rowColumn   = 2 * MaxSlices
	columnSlice = 3 * MaxSlices
)

func (m *matrix) id(row int) int {
	return int(binary.LittleEndian.Uint16(m.index[rowID+2*row:]))
}

func (m *matrix) setID(row, id int) {
	binary.LittleEndian.PutUint16(m.index[rowID+2*row:], uint16(id))
}

// columnOf returns the columns of the rows.
func (m *matrix) columnOf() []byte { return m.index[rowColumn:][:m.rows] }

// sliceOf returns the slices of the columns.
func (m *matrix) sliceOf() []byte { return m.index[columnSlice:][:m.columns] }

// row returns a row, or the memory of the next one.
func (m *matrix) row(n int) []byte {
	each := SliceSize / m.stride
	return m.blocks[n/each][n%each*m.stride:][:m.stride]
}

func (m *matrix) has(id int) bool {
	for row := range m.rows {
		if m.id(row) == id {
			return true
		}
	}
	return false
}

// begin makes the slices that are missing columns.
func (m *matrix) begin(d *Decoder) {
	m.index = d.pool.Take()
	for i, s := range d.slices {
		if s == nil {
			m.index[columnSlice+m.columns] = byte(i)
			m.columns++
		}
	}
	m.stride = (m.columns + wide - 1) / wide * wide
	each := SliceSize / m.stride
	if need := (m.columns + each - 1) / each; cap(m.blocks) < need {
		m.blocks = make([]*[SliceSize]byte, 0, need)
	}
}

func (m *matrix) release(p Pool) {
	if m.index != nil {
		p.Put(m.index)
	}
	for _, b := range m.blocks {
		p.Put(b)
	}
	clear(m.blocks)
	*m = matrix{blocks: m.blocks[:0]}
}

// independent reports whether the row of a repair slice does not follow from what is held.
func (m *matrix) independent(id int, d *Decoder) bool {
	if m.rows == 0 {
		return true // no coefficient is 0, and a source slice is missing
	}
	m.express(id, d)
	_, ok := m.freeColumn(m.rows, d)
	return ok
}

// add adds the row of a repair slice that is independent, and returns the source slice for
// which it is held.
func (m *matrix) add(id int, d *Decoder) int {
	if m.rows == 0 {
		m.begin(d)
	}
	m.express(id, d)
	column, _ := m.freeColumn(m.rows, d)
	m.setID(m.rows, id)
	m.rows++
	m.columnOf()[m.rows-1] = byte(column)
	m.exchange(m.rows-1, column, d.pool)
	return int(m.sliceOf()[column])
}

// movable reports whether the repair slice that is held for a slice can be held for another
// one. If not, the slice follows from what is held.
func (m *matrix) movable(slice int, d *Decoder) bool {
	row, _ := m.solved(slice)
	_, ok := m.freeColumn(row, d)
	return ok
}

// move makes a solved column known that is movable: its row, and the repair slice that is
// held for it, go to a free column.
func (m *matrix) move(slice int, d *Decoder) {
	row, from := m.solved(slice)
	to, _ := m.freeColumn(row, d)
	m.exchange(row, to, d.pool)
	for n := range m.rows {
		r := m.row(n)
		r[to] = r[from]
	}
	m.columnOf()[row] = byte(to)
	d.slices[m.sliceOf()[to]] = d.slices[slice]
}

// solved returns the row and the column of a slice for which a repair slice is held.
func (m *matrix) solved(slice int) (row, column int) {
	column = bytes.IndexByte(m.sliceOf(), byte(slice))
	return bytes.IndexByte(m.columnOf(), byte(column)), column
}

// express makes the next row the row of a repair slice, as a sum over the columns.
func (m *matrix) express(id int, d *Decoder) {
	if m.expressed == id {
		return
	}
	m.expressed = id
	if m.rows == len(m.blocks)*(SliceSize/m.stride) {
		m.blocks = append(m.blocks, d.pool.Take())
	}
	var ofSlice, ofRow [MaxSlices]byte
	coefficients(ofSlice[:d.numSlices], id-d.numSlices)
	var v vectors
	for row, column := range m.columnOf() {
		v[row], ofRow[row] = m.row(row), ofSlice[m.sliceOf()[column]]
	}
	next := m.row(m.rows)
	v.sum(next, ofRow[:m.rows])
	for column, slice := range m.sliceOf() {
		if d.slices[slice] == nil {
			next[column] ^= powers[ofSlice[slice]]
		}
	}
}

// freeColumn returns a free column in which a row is not 0, if there is one.
func (m *matrix) freeColumn(row int, d *Decoder) (column int, ok bool) {
	r := m.row(row)
	for column, slice := range m.sliceOf() {
		if d.slices[slice] == nil && r[column] != 0 {
			return column, true
		}
	}
	return 0, false
}

// exchange solves a row for the source slice of a column, and puts it into the other rows:
// what the row was before is then what the column stands for.
func (m *matrix) exchange(row, column int, p Pool) {
	m.expressed = 0
	memory := takeScratch(p, m.stride)
	defer memory.put(p)
	r := m.row(row)
	factor := inverse(r[column])
	r[column] = 1
	products := memory.multiples()
	products.of(r)
	clear(r)
	products.addTo(r, factor)
	for n := range m.rows {
		if other := m.row(n); n != row {
			entry := other[column]
			other[column] = 0
			products.addTo(other, product(entry, factor))
		}
	}
}
