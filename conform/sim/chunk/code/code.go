// Package code is what models and judges know of the code of repair slices and of the
// numbers of transmissions: the document's sentences one by one, byte by byte, by plain
// elimination. It shares nothing with package erasure, and imports no machine, so that
// the machines' own tests can use it.
package code

import "slices"

// mix is RPC-1.
func mix(h uint32) uint32 {
	h ^= h >> 16
	h *= 0x85EBCA6B
	h ^= h >> 13
	h *= 0xC2B2AE35
	return h ^ h>>16
}

// exponent is a(j, i) of RPC-2.
func exponent(j, i int) int { return int(mix(uint32(j*32+i/8+6535)) >> (4 * (i % 8)) % 16) }

// times is the product of two bytes (RPC-3).
func times(a, b byte) (product byte) {
	for ; b > 0; b >>= 1 {
		if b&1 == 1 {
			product ^= a
		}
		carry := a >> 7
		a = a<<1 ^ carry*0x1D
	}
	return product
}

// products are all products of two bytes, inverses the byte with which each gives 1.
var products, inverses = func() (all [256][256]byte, inverse [256]byte) {
	for a := range 256 {
		for b := range 256 {
			all[a][b] = times(byte(a), byte(b))
			if all[a][b] == 1 {
				inverse[a] = byte(b)
			}
		}
	}
	return all, inverse
}()

// powers are x^0 to x^15.
var powers = func() (p [16]byte) {
	p[0] = 1
	for e := 1; e < 16; e++ {
		p[e] = times(p[e-1], 2)
	}
	return p
}()

// Row returns the row of an id (RPC-5).
func Row(id, numSlices int) []byte {
	row := make([]byte, numSlices)
	if id < numSlices {
		row[id] = 1
		return row
	}
	for i := range row {
		row[i] = powers[exponent(id-numSlices, i)]
	}
	return row
}

// Slice returns the data of the slice with an id of a chunk (RPC-4).
func Slice(chunk []byte, id int) []byte {
	k := (len(chunk) + 1023) / 1024
	if id < k {
		return chunk[1024*id : min(1024*id+1024, len(chunk))]
	}
	sum := make([]byte, min(1024, len(chunk)))
	for i, factor := range Row(id, k) {
		addTimes(sum, factor, chunk[1024*i:min(1024*i+1024, len(chunk))])
	}
	return sum
}

// addTimes adds a factor times v to sum, as far as both go.
func addTimes(sum []byte, factor byte, v []byte) {
	if factor == 0 {
		return
	}
	table := &products[factor]
	for t, b := range v[:min(len(v), len(sum))] {
		sum[t] ^= table[b]
	}
}

// Span is what some rows span, by plain elimination.
type Span struct {
	numSlices int
	rows      [][]byte // each begins with a 1 at its place
	taken     [][]byte // the rows that were added, as they were, each with its data
}

// NewSpan returns the span of no row of a chunk of so many slices.
func NewSpan(numSlices int) *Span {
	return &Span{numSlices: numSlices, rows: make([][]byte, numSlices)}
}

// Rank returns how many rows are independent.
func (s *Span) Rank() int { return len(s.taken) }

// Has reports whether the row follows from those that are here.
func (s *Span) Has(row []byte) bool {
	_, place := reduce(s.rows, row)
	return place < 0
}

// Add adds a row with its data. It reports whether that is independent of the others.
func (s *Span) Add(row, data []byte) bool {
	if !insert(s.rows, row) {
		return false
	}
	s.taken = append(s.taken, slices.Concat(row, data))
	return true
}

// Solve returns the slices that the rows determine, once the rank is their number, one
// after the other.
func (s *Span) Solve() (whole []byte) {
	rows := make([][]byte, s.numSlices)
	for _, row := range s.taken {
		insert(rows, row)
	}
	for place := s.numSlices - 1; place >= 0; place-- {
		for above := range place {
			addTimes(rows[above], rows[above][place], rows[place])
		}
	}
	for _, row := range rows {
		whole = append(whole, row[s.numSlices:]...)
	}
	return whole
}

// reduce takes rows out of another one, of which it returns what is left, and where that
// begins; -1 if nothing is. Behind a row there may be its data, to which the same is done.
func reduce(rows [][]byte, row []byte) (rest []byte, place int) {
	rest = slices.Clone(row)
	for place := range rows {
		switch {
		case rest[place] == 0:
		case rows[place] == nil:
			return rest, place
		default:
			addTimes(rest, rest[place], rows[place])
		}
	}
	return rest, -1
}

// insert puts what is left of a row at its place. It reports whether something is.
func insert(rows [][]byte, row []byte) bool {
	rest, place := reduce(rows, row)
	if place < 0 {
		return false
	}
	rows[place] = make([]byte, len(rest))
	addTimes(rows[place], inverses[rest[place]], rest)
	return true
}

// MaxIDs is how many ids there are.
const MaxIDs = 8192

// ID returns the id of transmission n (RPN-2).
func ID(n, numSlices int) int {
	if n < MaxIDs {
		return n
	}
	return numSlices + (n-numSlices)%(MaxIDs-numSlices)
}

// Number returns the number of an id that arrives when top is the highest number that
// came, and one (RPN-3).
func Number(id, numSlices, top int) int {
	if id < numSlices {
		return id
	}
	r := MaxIDs - numSlices
	p := max(top, numSlices)
	d := (id - ID(p, numSlices)) % r
	if d < 0 {
		d += r
	}
	n := p + d
	if d >= r/2 {
		n -= r
	}
	if n < numSlices {
		n += r
	}
	return n
}

// Top returns the highest number up to sent whose id is the field of an ack; -1 if there
// is none (RPN-5).
func Top(field, numSlices, sent int) int {
	for n := sent; n >= 0; n-- {
		if ID(n, numSlices) == field {
			return n
		}
	}
	return -1
}

// Filled returns 1,024 bytes: data, and zeros.
func Filled(data []byte) []byte {
	return append(data[:len(data):len(data)], make([]byte, 1024-len(data))...)
}
