package fuzz

import (
	"bytes"
	"errors"

	"github.com/chunkwire/chunkwire/bitpack"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// An input is a byte for how many bytes stand in the writer's buffer before; a script
// of writes, up to an operation that ends it; and a script of reads. What is read is
// what was written.
var targetBits = newTarget("Bits", "bit writer and reader do what a slice of bools does", runBits, seedBits)

func runBits(t T, data []byte) {
	s := script{data}
	prefix := bytes.Repeat([]byte{untouched}, int(s.byte()%16))
	w := bitWriter{T: t, w: bitpack.NewWriter(prefix)}
	for s.more() && w.write(&s) {
	}
	stream := w.finish(prefix)
	r := bitReader{T: t, r: bitpack.NewReader(stream), bits: unpack(stream)}
	for s.more() {
		r.read(&s)
	}
	r.toTheEnd()
}

// bitWriter is a bitpack.Writer beside a model of it.
type bitWriter struct {
	T
	w     bitpack.Writer
	bits  []bool // what was written
	fault bool   // a write did not fit; nothing is written any more
}

// write does one operation of the script; false ends it.
func (m *bitWriter) write(s *script) bool {
	m.Helper()
	switch op := s.byte() % 16; op {
	case 0, 1, 2: // any value, which may not fit
		n, v := int(s.byte()%32)+1, s.uint32()
		m.put("bits", uint64(v), n, v>>n == 0, func() { m.w.Bits(v, n) })
	case 3, 4, 5: // one that fits
		n := int(s.byte()%32) + 1
		v := s.uint32() & (^uint32(0) >> (32 - n))
		m.put("bits", uint64(v), n, true, func() { m.w.Bits(v, n) })
	case 6, 7, 8:
		low, high := readRange(s)
		v := int64(s.uint64())
		if op != 6 { // within the range
			v = low + int64(uint64(v)%(uint64(high-low)+1))
		}
		m.put("int", uint64(v)-uint64(low), widthOf(low, high), low <= v && v <= high, func() { m.w.Int(v, low, high) })
	case 9:
		v := s.byte()&1 == 1
		m.put("bool", asBit(v), 1, true, func() { m.w.Bool(v) })
	case 10, 11:
		m.put("align", 0, m.padding(), true, m.w.Align)
	case 12, 13:
		b := s.take(int(s.byte() % 40))
		m.put("align of bytes", 0, m.padding(), true, func() { m.w.Bytes(b) })
		for _, v := range b {
			m.model(uint64(v), 8)
		}
		m.check("bytes")
	case 14:
		bad := pick(s, []int{0, -1, 33, 64, -32})
		mustPanic(m.T, "Bits of an impossible width", func() { m.w.Bits(0, bad) })
		mustPanic(m.T, "Int of an empty range", func() { m.w.Int(0, 1, 0) })
		mustPanic(m.T, "Int of one value", func() { m.w.Int(1, 1, 1) })
		mustPanic(m.T, "Int of a range that is too wide", func() { m.w.Int(0, 0, 1<<32) })
	case 15:
		return false
	}
	return true
}

// put writes to both. Of what does not fit nothing is written, nor of anything
// after it.
func (m *bitWriter) put(what string, v uint64, n int, fits bool, write func()) {
	m.Helper()
	m.fault = m.fault || !fits
	m.model(v, n)
	write()
	if what != "align of bytes" {
		m.check(what)
	}
}

func (m *bitWriter) model(v uint64, n int) {
	for k := 0; k < n && !m.fault; k++ {
		m.bits = append(m.bits, v>>k&1 == 1)
	}
}

func (m *bitWriter) padding() int { return (8 - len(m.bits)%8) % 8 }

func (m *bitWriter) check(what string) {
	m.Helper()
	if verbose() {
		m.Logf("wrote %s: %d bits", what, len(m.bits))
	}
	if m.w.Len() != len(m.bits) {
		m.Fatalf("after %s: %d bits, want %d", what, m.w.Len(), len(m.bits))
	}
}

// finish returns the bytes that were written, after what was there before.
func (m *bitWriter) finish(prefix []byte) []byte {
	m.Helper()
	out, err := m.w.Finish()
	if len(out) < len(prefix) || !allUntouched(out[:len(prefix)]) {
		m.Fatalf("what stood in the buffer has changed")
	}
	got := out[len(prefix):]
	if m.fault {
		if !errors.Is(err, bitpack.ErrValue) || len(got) != 0 {
			m.Fatalf("a value did not fit, but Finish returned %x, %v", got, err)
		}
		return pack(m.bits)
	}
	if want := pack(m.bits); err != nil || !bytes.Equal(got, want) {
		m.Fatalf("wrote %x, %v, want %x", got, err, want)
	}
	return got
}

// readRange reads the limits of a ranged integer (BIT-3): near each other or not.
func readRange(s *script) (low, high int64) {
	low = int64(s.uint64())
	span := uint64(s.byte())
	if span >= 128 {
		span = uint64(s.uint32())
	}
	if high = int64(uint64(low) + max(span, 1)); high < low {
		low, high = low-1<<33, high-1<<33 // it has overflown
	}
	return low, high
}

// widthOf is BIT-3: the smallest n for which 2^n > high - low.
func widthOf(low, high int64) int {
	n := 0
	for uint64(1)<<n <= uint64(high)-uint64(low) {
		n++
	}
	return n
}

func asBit(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}

// pack is BIT-1 and BIT-7.
func pack(bits []bool) []byte {
	b := make([]byte, (len(bits)+7)/8)
	for i, bit := range bits {
		if bit {
			b[i/8] |= 1 << (i % 8)
		}
	}
	return b
}

// unpack is BIT-1.
func unpack(b []byte) []bool {
	bits := make([]bool, 8*len(b))
	for i := range bits {
		bits[i] = b[i/8]>>(i%8)&1 == 1
	}
	return bits
}

func mustPanic(t T, what string, f func()) {
	t.Helper()
	panicked := true
	func() {
		defer func() { recover() }()
		f()
		panicked = false
	}()
	if !panicked {
		t.Fatalf("%s did not panic", what)
	}
}

// seedBits writes packets as bytes and reads them back by fields, and reads what was
// written by scripts of all operations.
func seedBits(files []testvectors.File) (seeds [][]byte) {
	var every []byte
	for op := range byte(15) {
		every = append(append(every, op), noise[:20]...)
	}
	for i := range 16 {
		seeds = append(seeds, append([]byte{byte(i)}, every[i:]...), append([]byte{byte(i)}, noise[i*64:i*64+200]...))
	}
	for _, q := range codecRequests(files, contract.OpDecodeBody) {
		b := bytesOf(q.Hex)
		b = b[:min(len(b), 39)]
		seed := append([]byte{0, 12, byte(len(b))}, b...)
		seed = append(seed, 15, 0, 15, 0, 7, 0, 7, 6, 7, byte(len(b)/2), 1, 31, 5, 6, 2, 31)
		seeds = append(seeds, seed)
	}
	return seeds
}
