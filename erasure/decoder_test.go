package erasure_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/chunkwire/chunkwire/erasure"
)

type heap struct{ out int }

func (h *heap) Take() *[1024]byte {
	h.out++
	b := new([1024]byte)
	for i := range b {
		b[i] = 0xa5
	}
	return b
}
func (h *heap) Put(*[1024]byte) { h.out-- }

// naiveRank
func row(k, id int) []byte {
	r := make([]byte, k)
	if id < k {
		r[id] = 1
		return r
	}
	for i := range r {
		r[i] = pow(erasure.Exponent(id-k, i))
	}
	return r
}
func mulx(b byte) byte {
	if b&128 != 0 {
		return b<<1 ^ 0x1d
	}
	return b << 1
}
func pow(n int) byte {
	b := byte(1)
	for range n {
		b = mulx(b)
	}
	return b
}
func mul(a, b byte) byte {
	var r byte
	for i := 7; i >= 0; i-- {
		r = mulx(r)
		if b>>i&1 == 1 {
			r ^= a
		}
	}
	return r
}
func rank(rows [][]byte) int {
	rows = append([][]byte{}, rows...)
	for i := range rows {
		rows[i] = bytes.Clone(rows[i])
	}
	n := 0
	for c := 0; len(rows) > 0 && c < len(rows[0]); c++ {
		p := -1
		for r := n; r < len(rows); r++ {
			if rows[r][c] != 0 {
				p = r
				break
			}
		}
		if p < 0 {
			continue
		}
		rows[n], rows[p] = rows[p], rows[n]
		inv := byte(1)
		for mul(inv, rows[n][c]) != 1 {
			inv++
		}
		for r := n + 1; r < len(rows); r++ {
			f := mul(rows[r][c], inv)
			if f == 0 {
				continue
			}
			for x := range rows[r] {
				rows[r][x] ^= mul(f, rows[n][x])
			}
		}
		n++
	}
	return n
}

func TestQuick(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	dep := 0
	for n := range 400 {
		k := 1 + rng.IntN(12)
		if n%100 == 0 {
			k = 256
		}
		size := (k-1)*1024 + 1 + rng.IntN(1024)
		chunk := make([]byte, size)
		for i := range chunk {
			chunk[i] = byte(rng.Uint32())
		}
		e := erasure.Encode(chunk)
		var d erasure.Decoder
		h := &heap{}
		d.Begin(k, e.LastBytes(), h)
		var rows [][]byte
		for d.Rank() < k {
			id := rng.IntN(2 * k)
			if id >= k && rng.IntN(2) == 0 {
				id = k + rng.IntN(8192-k)
			}
			before := d.Rank()
			ok := d.Add(id, e.Slice(id))
			if k < 50 {
				next := append(rows, row(k, id))
				want := rank(next) > len(rows)
				if ok != want {
					t.Fatalf("k %d id %d: %v", k, id, ok)
				}
				if ok {
					rows = next
				} else if !d.Has(id) {
					dep++
				}
			}
			if ok != (d.Rank() == before+1) || ok && !d.Has(id) {
				t.Fatal("rank")
			}
		}
		var out []byte
		for _, s := range d.Rebuild() {
			out = append(out, s[:]...)
		}
		if !bytes.Equal(out[:size], chunk) {
			t.Fatalf("wrong chunk k %d", k)
		}
		if !d.Matches(k+7, e.Slice(k+7)) || !d.Matches(k-1, e.Slice(k-1)) {
			t.Fatal("match")
		}
		d.Release()
		if h.out != 0 {
			t.Fatal(h.out)
		}
	}
	t.Log(dep)
}
