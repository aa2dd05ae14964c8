package repairoracle

import "bytes"

// The limits of the code and of its wire.
const (
	SliceSize = 1024
	MaxSlices = 256
	MaxIDs    = 8192
	MaxChunk  = SliceSize * MaxSlices
	CodeSeed  = 6535
)

// mix is RPC-1.
func mix(h uint32) uint32 {
	h ^= h >> 16
	h *= 0x85EBCA6B
	h ^= h >> 13
	h *= 0xC2B2AE35
	h ^= h >> 16
	return h
}

// Exponent is a(j, i), the exponent of source slice i in repair slice j (RPC-2).
func Exponent(j, i int64) int64 {
	return int64(mix(uint32(j*32+i/8+CodeSeed))>>(4*(i%8))) % 16
}

// double is x times a byte (RPC-3): x^8 = x^4 + x^3 + x^2 + 1.
func double(b byte) byte {
	if b < 128 {
		return 2 * b
	}
	return byte(2*int(b)-256) ^ 0x1D
}

// product is the product of all pairs of bytes (RPC-3): the sum of x^k times a, for each
// bit k of b.
var product = func() (p [256][256]byte) {
	for a := range p {
		for b := range p[a] {
			for k, power := 0, byte(a); k < 8; k, power = k+1, double(power) {
				if b>>k&1 == 1 {
					p[a][b] ^= power
				}
			}
		}
	}
	return p
}()

// power is x^e.
func power(e int64) byte {
	b := byte(1)
	for range e {
		b = double(b)
	}
	return b
}

// inverse is the byte whose product with b is 1. b is not 0.
func inverse(b byte) byte {
	for c := range product[b] {
		if product[b][c] == 1 {
			return byte(c)
		}
	}
	panic("repair: 0 has no inverse")
}

// Row is the row of an id of a chunk (RPC-5).
func Row(numSlices, id int64) []byte {
	row := make([]byte, numSlices)
	if id < numSlices {
		row[id] = 1
		return row
	}
	for i := range row {
		row[i] = power(Exponent(id-numSlices, int64(i)))
	}
	return row
}

// NumSlices and LastBytes are how a chunk of a size is cut (LIM-2).
func NumSlices(size int) int64 { return int64(size+SliceSize-1) / SliceSize }
func LastBytes(size int) int64 { return int64(size-1)%SliceSize + 1 }

// DataSize is how many bytes slice id of a chunk has.
func DataSize(numSlices, lastBytes, id int64) int64 {
	if id == numSlices-1 || numSlices == 1 {
		return lastBytes
	}
	return SliceSize
}

// source is source slice i, filled up with zeros to the length of a repair slice (RPC-4).
func source(chunk []byte, i int64) []byte {
	full := DataSize(NumSlices(len(chunk)), LastBytes(len(chunk)), MaxIDs)
	part := make([]byte, full)
	copy(part, chunk[i*SliceSize:])
	return part
}

// Slice is the data of slice id of a chunk: a part of it, or a repair slice (RPC-4).
func Slice(chunk []byte, id int64) []byte {
	k := NumSlices(len(chunk))
	if id < k {
		return source(chunk, id)[:DataSize(k, LastBytes(len(chunk)), id)]
	}
	var sum []byte
	for i, factor := range Row(k, id) {
		part := source(chunk, int64(i))
		if sum == nil {
			sum = make([]byte, len(part))
		}
		for t, b := range part {
			sum[t] ^= product[factor][b]
		}
	}
	return sum
}

// Decoder rebuilds a chunk. The zero value has nothing.
type Decoder struct {
	numSlices, lastBytes int64
	ids                  []int64
	data                 [][]byte
	reduced              [][]byte // the rows of ids, each reduced by those before
}

// NewDecoder returns a Decoder without a slice.
func NewDecoder(numSlices, lastBytes int64) *Decoder {
	return &Decoder{numSlices: numSlices, lastBytes: lastBytes}
}

// Rank is how many rows are independent.
func (d *Decoder) Rank() int64 { return int64(len(d.ids)) }

// IDs are those that were added, in their order.
func (d *Decoder) IDs() []int64 { return d.ids }

// Has reports whether an id was added.
func (d *Decoder) Has(id int64) bool {
	for _, held := range d.ids {
		if held == id {
			return true
		}
	}
	return false
}

// Depends reports whether the row of an id follows from those that are here.
func (d *Decoder) Depends(id int64) bool { return leading(d.reduce(id)) < 0 }

// reduce returns the row of an id without what follows from the others.
func (d *Decoder) reduce(id int64) []byte {
	row := Row(d.numSlices, id)
	for _, other := range d.reduced {
		at := leading(other)
		subtract(row, other, product[row[at]][inverse(other[at])])
	}
	return row
}

// leading is the first column of a row that is not 0, or -1.
func leading(row []byte) int {
	for i, b := range row {
		if b != 0 {
			return i
		}
	}
	return -1
}

// subtract takes a multiple of another row from a row.
func subtract(row, other []byte, factor byte) {
	if factor == 0 {
		return
	}
	for i := range row {
		row[i] ^= product[factor][other[i]]
	}
}

// Add takes a slice, and reports whether it raised the rank.
func (d *Decoder) Add(id int64, data []byte) bool {
	if d.Depends(id) {
		return false
	}
	d.reduced = append(d.reduced, d.reduce(id))
	d.ids = append(d.ids, id)
	d.data = append(d.data, data)
	return true
}

// Rebuild solves for the chunk, once the rank is its number of slices: a matrix of a row and
// the data for each id, which becomes the unit matrix and the source slices. clean says that
// what fills the last slice up is zero.
func (d *Decoder) Rebuild() (chunk []byte, clean bool) {
	size := DataSize(d.numSlices, d.lastBytes, MaxIDs)
	var rows [][]byte
	for n, id := range d.ids {
		row := make([]byte, d.numSlices+size)
		copy(row, Row(d.numSlices, id))
		copy(row[d.numSlices:], d.data[n])
		rows = append(rows, row)
	}
	for column := range rows {
		for n := column; n < len(rows); n++ {
			if rows[n][column] != 0 {
				rows[n], rows[column] = rows[column], rows[n]
				break
			}
		}
		pivot := rows[column]
		factor := inverse(pivot[column])
		for i, b := range pivot {
			pivot[i] = product[factor][b]
		}
		for n, row := range rows {
			if n != column {
				subtract(row, pivot, row[column])
			}
		}
	}
	for i, row := range rows {
		chunk = append(chunk, row[d.numSlices:][:DataSize(d.numSlices, d.lastBytes, int64(i))]...)
	}
	fill := rows[len(rows)-1][d.numSlices+d.lastBytes:]
	return chunk, bytes.Count(fill, []byte{0}) == len(fill)
}
