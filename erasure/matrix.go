package erasure

import (
	"bytes"
	"encoding/binary"
)

// matrix says what the repair slices that are held say about the source slices that are
// missing. Its columns are the slices that were missing when the first repair slice came.
// A column is in one of three states:
//
//   - known: the source slice has come since. All its entries are 0.
//   - free: nothing is held for the slice.
//   - solved: a repair slice is held for it, and a row belongs to it.
//
// A row is the source slice of its column, as a sum: over the free columns of their source
// slices, and over the solved columns of the repair slices that are held for them. When no
// column is free the rows are the inverse of the matrix of coefficients.
type matrix struct {
	columns int
	rows    int
	stride  int                // bytes of a row: columns, rounded up to strips
	index   *[SliceSize]byte   // ids of the rows, columns of the rows, slices of the columns
	blocks  []*[SliceSize]byte // the rows
}

// The parts of index.
const (
	indexIDs     = 0
	indexColumns = 2 * MaxSlices
	indexSlices  = 3 * MaxSlices
)

func (m *matrix) id(row int) int {
	return int(binary.LittleEndian.Uint16(m.index[indexIDs+2*row:]))
}

// columnOf returns the columns of the rows.
func (m *matrix) columnOf() []byte { return m.index[indexColumns:][:m.rows] }

// sliceOf returns the slices of the columns.
func (m *matrix) sliceOf() []byte { return m.index[indexSlices:][:m.columns] }

// row returns a row that has been added, or is the next.
func (m *matrix) row(n int) []byte {
	each := SliceSize / m.stride
	return m.blocks[n/each][n%each*m.stride:][:m.stride]
}

// begin takes the slices that are missing for columns. There are no rows yet.
func (m *matrix) begin(d *Decoder) {
	m.columns = 0
	if m.index == nil {
		m.index = d.pool.Take()
	}
	for i, s := range d.slices {
		if s == nil {
			m.index[indexSlices+m.columns] = byte(i)
			m.columns++
		}
	}
	m.stride = (m.columns + strip - 1) / strip * strip
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

// has reports whether there is a row of a repair slice.
func (m *matrix) has(id int) bool {
	for row := range m.rows {
		if m.id(row) == id {
			return true
		}
	}
	return false
}

// drop makes a free column known.
func (m *matrix) drop(slice int) {
	if m.rows == 0 {
		return
	}
	column := bytes.IndexByte(m.sliceOf(), byte(slice))
	for row := range m.rows {
		m.row(row)[column] = 0
	}
}

// move makes a solved column known. Its row, and the repair slice that is held for it, go
// to a free column whose slice it returns; or it returns -1 if there is none, because the
// slice follows from what is held.
func (m *matrix) move(slice int, held []*[SliceSize]byte) int {
	from := bytes.IndexByte(m.sliceOf(), byte(slice))
	row := bytes.IndexByte(m.columnOf(), byte(from))
	to := m.pivot(row, held)
	if to < 0 {
		return -1
	}
	m.exchange(row, to)
	for n := range m.rows {
		r := m.row(n)
		r[to], r[from] = r[from], 0
	}
	m.columnOf()[row] = byte(to)
	return int(m.sliceOf()[to])
}

// add adds the row of a repair slice, and returns the slice for which it is held; or it
// returns -1 if the row follows from what is held.
func (m *matrix) add(id int, d *Decoder) int {
	if m.rows/(SliceSize/m.stride) == len(m.blocks) {
		m.blocks = append(m.blocks, d.pool.Take())
	}
	m.express(id-d.numSlices, d)
	to := m.pivot(m.rows, d.slices)
	if to < 0 {
		return -1
	}
	binary.LittleEndian.PutUint16(m.index[indexIDs+2*m.rows:], uint16(id))
	m.rows++
	m.columnOf()[m.rows-1] = byte(to)
	m.exchange(m.rows-1, to)
	return int(m.sliceOf()[to])
}

// express makes the next row repair slice j, as a sum of what the columns stand for.
func (m *matrix) express(j int, d *Decoder) {
	var a [MaxSlices]byte
	coefficients(a[:d.numSlices], j)
	next := m.row(m.rows)
	clear(next)
	for column, slice := range m.sliceOf() {
		if d.slices[slice] == nil {
			next[column] = powers[a[slice]]
		}
	}
	var s sum
	var ofRow [MaxSlices]byte
	for row, column := range m.columnOf() {
		s.vectors[row] = m.row(row)
		ofRow[row] = a[m.sliceOf()[column]]
	}
	var sorted sorting
	s.sort(&sorted, ofRow[:m.rows])
	s.addTo(next)
}

// pivot returns a free column in which a row is not 0, or -1.
func (m *matrix) pivot(row int, held []*[SliceSize]byte) int {
	r := m.row(row)
	for column, slice := range m.sliceOf() {
		if held[slice] == nil && r[column] != 0 {
			return column
		}
	}
	return -1
}

// exchange solves a row for the slice of a column, and puts it into the other rows.
func (m *matrix) exchange(row, column int) {
	r := m.row(row)
	factor := inverse(r[column])
	r[column] = 1
	multiply(r, factor)
	for n := range m.rows {
		if other := m.row(n); n != row && other[column] != 0 {
			factor := other[column]
			other[column] = 0
			addProduct(other, r, factor)
		}
	}
}

func multiply(v []byte, factor byte) {
	for i := range v {
		v[i] = times(v[i], factor)
	}
}

func addProduct(dst, v []byte, factor byte) {
	for i := range v {
		dst[i] ^= times(v[i], factor)
	}
}
