package fuzz

import (
	"bytes"
	"errors"

	"github.com/chunkwire/chunkwire/bitpack"
	"github.com/chunkwire/chunkwire/conform/oracle/stream"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// An input is a byte for how many bytes stand in the writer's buffer before; a script
// of writes, up to an operation that ends it; and a script of reads. What is read is
// what was written.
var targetBits = newTarget("Bits", "bit writer and reader do what the oracle does, bit by bit", runBits, seedBits)

func runBits(t T, data []byte) {
	s := script{data}
	prefix := bytes.Repeat([]byte{untouched}, int(s.byte()%16))
	w := bitWriter{T: t, w: bitpack.NewWriter(prefix)}
	for s.more() && w.write(&s) {
	}
	written := w.finish(prefix)
	r := bitReader{T: t, r: bitpack.NewReader(written), model: *stream.NewReader(written)}
	for s.more() {
		r.read(&s)
	}
	r.toTheEnd()
}

// bitWriter is a bitpack.Writer beside the oracle's.
type bitWriter struct {
	T
	w     bitpack.Writer
	bits  stream.Stream // what was written
	fault bool          // a write did not fit; nothing is written any more
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
		m.put("int", uint64(v)-uint64(low), stream.Width(low, high), low <= v && v <= high, func() { m.w.Int(v, low, high) })
	case 9:
		v := s.byte()&1 == 1
		m.put("bool", asBit(v), 1, true, func() { m.w.Bool(v) })
	case 10, 11:
		m.do("align", m.bits.Align, m.w.Align)
	case 12, 13:
		b := s.take(int(s.byte() % 40))
		m.do("bytes", func() { m.bits.Bytes(b) }, func() { m.w.Bytes(b) })
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

// put writes n bits to both.
func (m *bitWriter) put(what string, v uint64, n int, fits bool, write func()) {
	m.Helper()
	m.fault = m.fault || !fits
	m.do(what, func() { m.bits.Bits(v, n) }, write)
}

// do writes to both. Of what does not fit nothing is written, nor of anything after it.
func (m *bitWriter) do(what string, model, write func()) {
	m.Helper()
	if !m.fault {
		model()
	}
	write()
	m.check(what)
}

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
		return m.bits.Pack()
	}
	if want := m.bits.Pack(); err != nil || !bytes.Equal(got, want) {
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

const untouched = 0xA5

func allUntouched(b []byte) bool {
	for _, v := range b {
		if v != untouched {
			return false
		}
	}
	return true
}

func asBit(v bool) uint64 {
	if v {
		return 1
	}
	return 0
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
	for _, b := range bytesIn(files, contract.OpDecodeBody) {
		b = b[:min(len(b), 39)]
		seed := append([]byte{0, 12, byte(len(b))}, b...)
		seed = append(seed, 15, 0, 15, 0, 7, 0, 7, 6, 7, byte(len(b)/2), 1, 31, 5, 6, 2, 31)
		seeds = append(seeds, seed)
	}
	return seeds
}
