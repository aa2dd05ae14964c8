package fuzz

import (
	"bytes"

	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
	"github.com/chunkwire/chunkwire/testvectors"
)

// An input is the size of a chunk, and a script of slices that arrive, genuine or forged.
var targetErasure = newTarget("Erasure", "the decoder has the oracle's rank after each slice, and its chunk; all memory is given back", runErasure, seedErasure)

// oracleSlices is up to how many slices the oracle rebuilds forged chunks: it takes long.
const oracleSlices = 12

func runErasure(t T, data []byte) {
	s := script{data}
	w := erasureWorld{T: t}
	w.begin(readSize(&s))
	for s.more() {
		w.do(&s)
	}
	for id := 0; !w.forged && w.d.Rank() < w.k; id++ {
		w.add(id, w.e.Slice(id))
	}
	w.end()
}

// erasureWorld is a decoder beside the oracle's.
type erasureWorld struct {
	T
	d      erasure.Decoder
	e      *erasure.Encoded
	k      int
	forged bool
	model  *repairoracle.Decoder
	taken  int // blocks of the pool
}

func (w *erasureWorld) Take() *[erasure.SliceSize]byte {
	w.taken++
	return (*[erasure.SliceSize]byte)(bytes.Clone(noise[w.taken:][:erasure.SliceSize]))
}

func (w *erasureWorld) Put(*[erasure.SliceSize]byte) { w.taken-- }

func (w *erasureWorld) begin(size int) {
	w.e = erasure.Encode(content(uint16(size), size))
	w.k, w.forged = w.e.NumSlices(), false
	w.model = repairoracle.NewDecoder(int64(w.k), int64(w.e.LastBytes()))
	w.d.Begin(w.k, w.e.LastBytes(), w)
}

func (w *erasureWorld) do(s *script) {
	w.Helper()
	switch op := s.byte() % 16; op {
	case 0, 1, 2, 3:
		id := int(s.byte()) % w.k
		w.add(id, w.e.Slice(id))
	case 4, 5, 6, 7, 8:
		id := w.k + int(s.uint16())%(erasure.MaxIDs-w.k)
		w.add(id, w.e.Slice(id))
	case 9: // many in a row
		for id, n := int(s.uint16())%erasure.MaxIDs, int(s.byte()); n > 0 && id < erasure.MaxIDs; n-- {
			w.add(id, w.e.Slice(id))
			id++
		}
	case 10, 11:
		id, size := int(s.uint16())%erasure.MaxIDs, int(s.uint16())%1100
		w.forged = w.forged || w.d.Independent(id)
		w.add(id, noise[id:][:size])
	case 12:
		w.askAny(int(s.uint16()) - 1000)
	case 13:
		w.d.Rebuild()
		w.matches(int(s.uint16()) % erasure.MaxIDs)
	case 14:
		w.end()
		w.begin(readSize(s))
	case 15:
		w.d.Begin(int(s.byte())-1, int(s.uint16()), w)
		w.d.Release()
		w.begin(len(w.e.Bytes()))
	}
}

// add gives a slice to both. The oracle's data have the size they should have.
func (w *erasureWorld) add(id int, data []byte) {
	w.Helper()
	k, last := int64(w.k), int64(w.e.LastBytes())
	cut := make([]byte, repairoracle.DataSize(k, last, int64(id)))
	copy(cut, data)
	want := w.model.Rank() < k && w.model.Add(int64(id), cut)
	if id%2 == 0 && w.d.Independent(id) != want {
		w.Fatalf("id %d is not independent as the oracle has it, %v", id, want)
	}
	if got := w.d.Add(id, data); got != want {
		w.Fatalf("Add(%d) = %v with rank %d of %d, want %v", id, got, w.d.Rank(), k, want)
	}
	if w.d.Rank() != int(w.model.Rank()) || w.d.Has(id) != w.model.Has(int64(id)) {
		w.Fatalf("rank %d, want %d; has %d: %v", w.d.Rank(), w.model.Rank(), id, w.d.Has(id))
	}
	if verbose() {
		w.Logf("id %d: %v, rank %d of %d, %d blocks", id, want, w.d.Rank(), k, w.taken)
	}
}

// askAny asks about what may be no id.
func (w *erasureWorld) askAny(id int) {
	w.Helper()
	want := id >= 0 && id < erasure.MaxIDs && w.d.Rank() < w.k && !w.model.Depends(int64(id))
	if got := w.d.Independent(id); got != want {
		w.Fatalf("Independent(%d) = %v, want %v", id, got, want)
	}
	if (id < 0 || id >= erasure.MaxIDs) && (w.d.Has(id) || w.d.Add(id, nil) || w.d.Matches(id, nil)) {
		w.Fatalf("%d is no id", id)
	}
}

// matches compares a slice with the chunk that was rebuilt.
func (w *erasureWorld) matches(id int) {
	w.Helper()
	got := w.d.Matches(id, w.e.Slice(id))
	if got && w.d.Rank() < w.k || !got && !w.forged && w.d.Rank() == w.k {
		w.Fatalf("Matches(%d) = %v with rank %d of %d", id, got, w.d.Rank(), w.k)
	}
}

// end rebuilds the chunk if it can be, and gives all back.
func (w *erasureWorld) end() {
	w.Helper()
	var chunk []byte
	for _, s := range w.d.Rebuild() {
		chunk = append(chunk, s[:]...)
	}
	switch want := w.e.Bytes(); {
	case w.d.Rank() < w.k:
		if chunk != nil {
			w.Fatalf("a chunk of rank %d of %d", w.d.Rank(), w.k)
		}
	case w.forged && w.k > oracleSlices:
	default:
		if w.forged {
			want, _ = w.model.Rebuild()
		}
		if !bytes.Equal(chunk[:len(want)], want) {
			w.Fatalf("the chunk of %d bytes is another", len(want))
		}
	}
	w.d.Release()
	if w.taken != 0 {
		w.Fatalf("%d blocks are not given back", w.taken)
	}
}

// seedErasure loses some slices in each of the ways there are, and forges some.
func seedErasure([]testvectors.File) (seeds [][]byte) {
	for _, size := range []int{1, 1000, 1024, 2047, 3072, 5000, 20_000, 40_000} {
		begin := sizeBytes(size)
		k := byte(len(begin))
		inARow := func(from uint16, n byte) []byte { return append(appendUint16([]byte{9}, from), n) }
		forge := func(id, n uint16) []byte { return appendUint16(appendUint16([]byte{10}, id), n) }
		seeds = append(seeds,
			bytes.Join([][]byte{begin, inARow(1, 60)}, nil),
			bytes.Join([][]byte{begin, inARow(300, 60), {13, 200, 3}}, nil),
			bytes.Join([][]byte{begin, inARow(8150, 60), {14}, begin, inARow(50, 3), {0, 0, 0, 1, 0, 2, 12, 0, 0, 12, 232, 3, 12, 233, 3, 0, 3}}, nil),
			bytes.Join([][]byte{begin, {4, k, 1, 5, 1, 2, 0, 1, 6, 0, 7, 0, 0, 7, 200, 9, 13, 1, 0}}, nil),
			bytes.Join([][]byte{begin, forge(400, 1024), inARow(0, 40), {13, 0, 4, 15, 3, 1, 1}, forge(2, 3), inARow(5, 40)}, nil),
		)
	}
	return append(seeds, append(sizeBytes(256*1024), 9, 0, 1, 255, 9, 0, 3, 9), append(sizeBytes(255*1024+7), 9, 20, 0, 255, 9, 0, 3, 90))
}
