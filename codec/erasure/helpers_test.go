package erasure_test

import (
	"math/rand/v2"

	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/check"
)

// pool is a pool that knows what is taken. Its blocks are never empty.
type pool struct {
	free  []*[erasure.SliceSize]byte
	taken map[*[erasure.SliceSize]byte]bool
	most  int
}

func newPool() *pool { return &pool{taken: map[*[erasure.SliceSize]byte]bool{}} }

func (p *pool) Take() *[erasure.SliceSize]byte {
	b := new([erasure.SliceSize]byte)
	if n := len(p.free); n > 0 {
		b, p.free = p.free[n-1], p.free[:n-1]
	}
	for i := range b {
		b[i] = 0xA5
	}
	p.taken[b] = true
	p.most = max(p.most, len(p.taken))
	return b
}

func (p *pool) Put(b *[erasure.SliceSize]byte) {
	if !p.taken[b] {
		panic("a block is put back that is not taken")
	}
	delete(p.taken, b)
	p.free = append(p.free, b)
}

// heap is a pool for measuring: it does nothing else.
type heap struct{ free []*[erasure.SliceSize]byte }

func (p *heap) Take() *[erasure.SliceSize]byte {
	n := len(p.free)
	if n == 0 {
		return new([erasure.SliceSize]byte)
	}
	b := p.free[n-1]
	p.free = p.free[:n-1]
	return b
}

func (p *heap) Put(b *[erasure.SliceSize]byte) { p.free = append(p.free, b) }

// pattern is the content of the worked examples: byte t of slice i is t + 31 i.
func pattern(size int) []byte {
	chunk := make([]byte, size)
	for n := range chunk {
		chunk[n] = byte(n%erasure.SliceSize + n/erasure.SliceSize*31)
	}
	return chunk
}

// noise is a chunk of k slices of random bytes.
func noise(rng *rand.Rand, k, lastBytes int) []byte {
	chunk := make([]byte, (k-1)*erasure.SliceSize+lastBytes)
	for n := range chunk {
		chunk[n] = byte(rng.Uint32())
	}
	return chunk
}

// plainTimesX, plainPower and product are GF(2^8) as RPC-3 has it, bit by bit.
func plainTimesX(b byte) byte {
	if b < 128 {
		return 2 * b
	}
	return byte(2*int(b)-256) ^ 0x1D
}

func plainPower(n int) byte {
	b := byte(1)
	for range n {
		b = plainTimesX(b)
	}
	return b
}

var products = func() (table [256][256]byte) {
	for a := range table {
		for b := range table {
			for bit, x := 0, byte(a); bit < 8; bit, x = bit+1, plainTimesX(x) {
				if b>>bit&1 == 1 {
					table[a][b] ^= x
				}
			}
		}
	}
	return table
}()

// plainMix is RPC-1.
func plainMix(h uint32) uint32 {
	h ^= h >> 16
	h = uint32(uint64(h) * 0x85EBCA6B % (1 << 32))
	h ^= h >> 13
	h = uint32(uint64(h) * 0xC2B2AE35 % (1 << 32))
	h ^= h >> 16
	return h
}

// row is RPC-5: the row of an id of a chunk of k slices.
func row(k, id int) []byte {
	r := make([]byte, k)
	if id < k {
		r[id] = 1
		return r
	}
	for i := range r {
		j := id - k
		r[i] = plainPower(int(plainMix(uint32(32*j+i/8+6535)) >> (4 * (i % 8)) % 16))
	}
	return r
}

// rank is Gaussian elimination, row by row: the rows that are left have different first
// columns, and what follows from them leaves nothing.
type rank struct{ rows [][]byte }

// add reports whether a row is independent of those before it.
func (r *rank) add(row []byte) bool {
	left := append([]byte(nil), row...)
	for column := range left {
		if left[column] == 0 {
			continue
		}
		at := r.first(column)
		if at == nil {
			r.rows = append(r.rows, left)
			return true
		}
		factor := products[left[column]][inverseOf(at[column])]
		for i := range left {
			left[i] ^= products[factor][at[i]]
		}
	}
	return false
}

// first returns the row whose first column that is not 0 this is.
func (r *rank) first(column int) []byte {
	for _, row := range r.rows {
		first := 0
		for row[first] == 0 {
			first++
		}
		if first == column {
			return row
		}
	}
	return nil
}

func inverseOf(b byte) byte {
	for c := range products[b] {
		if products[b][c] == 1 {
			return byte(c)
		}
	}
	panic("0 has no inverse")
}

// joined is a chunk out of its slices.
func joined(slices []*[erasure.SliceSize]byte, size int) []byte {
	var chunk []byte
	for _, s := range slices {
		chunk = append(chunk, s[:]...)
	}
	return chunk[:size]
}

// rebuilds makes sure that a decoder has the chunk, and then gives all back.
func rebuilds(t check.T, d *erasure.Decoder, p *pool, chunk []byte) {
	t.Helper()
	check.Equal(t, "rank", d.Rank(), (len(chunk)+erasure.SliceSize-1)/erasure.SliceSize)
	check.Bytes(t, "the chunk", joined(d.Rebuild(), len(chunk)), chunk)
	check.Bytes(t, "the chunk again", joined(d.Rebuild(), len(chunk)), chunk)
	d.Release()
	check.Equal(t, "blocks taken after Release", len(p.taken), 0)
}

// receiver begins a decoder for an encoded chunk, and gives it slices.
func receiver(p erasure.Pool, e *erasure.Encoded, ids ...int) *erasure.Decoder {
	d := &erasure.Decoder{}
	d.Begin(e.NumSlices(), e.LastBytes(), p)
	for _, id := range ids {
		d.Add(id, e.Slice(id))
	}
	return d
}

// upTo returns the numbers from a to b-1.
func upTo(a, b int) (numbers []int) {
	for ; a < b; a++ {
		numbers = append(numbers, a)
	}
	return numbers
}

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }
