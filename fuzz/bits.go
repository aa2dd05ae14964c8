package fuzz

import (
	"bytes"
	"errors"

	"github.com/chunkwire/chunkwire/bitpack"
	"github.com/chunkwire/chunkwire/conform/oracle/stream"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// Fields are read from a stream, past its end or not, and the values read are written again; and each field
// is given another value, which may not fit.
//
// An input is a byte for how many fields there are, the fields as readField takes them, and the stream.
var targetBits = newTarget("Bits", "bit reader and writer do what the oracle does, field by field", runBits, seedBits)

func runBits(t T, data []byte) {
	s := script{data}
	fields := make([]field, s.byte())
	for i := range fields {
		fields[i] = readField(&s)
		fields[i].writeAny(t)
	}
	r, model := bitpack.NewReader(s.left), stream.NewReader(s.left)
	before := []byte("before")
	w, written := bitpack.NewWriter(before), stream.Stream{}
	for _, f := range fields {
		got, want := f.read(&r), f.take(model)
		if verbose() {
			t.Logf("%+v: %+v; now at bit %d of %d", f, got, r.Offset(), 8*len(s.left))
		}
		if got != want || r.Offset() != model.At() || r.Remaining() != model.Left() {
			t.Fatalf("%+v is %+v, and %d bits are left, want %+v, and %d", f, got, r.Remaining(), want, model.Left())
		}
		if got.err != nil {
			continue
		}
		f.write(&w, got)
		if f.put(&written, want); w.Len() != len(written) {
			t.Fatalf("%d bits are written with %+v, want %d", w.Len(), f, len(written))
		}
	}
	if out, err := w.Finish(); err != nil || !bytes.Equal(out, append(before, written.Pack()...)) {
		t.Fatalf("wrote %x, %v, want %x behind %q", out, err, written.Pack(), before)
	}
}

// field is a field of a stream.
type field struct {
	kind      byte
	n         int // bits, or bytes
	low, high int64
	other     uint64 // a value, which may not fit
}

// The kinds of fields.
const (
	someBits = iota
	anInt
	aBool
	aligned
	someBytes
	kindsOfFields
)

// readField reads the kind, a byte; how many bits or bytes it has, a byte, or the limits of a ranged integer
// (BIT-3); and of both the other value, 8 bytes.
func readField(s *script) field {
	f := field{kind: s.byte() % kindsOfFields, n: 1}
	switch f.kind {
	case someBits:
		f.n = 1 + int(s.byte()%32)
		f.other = s.uint64() >> (s.byte() % 64) & (1<<32 - 1)
	case anInt:
		f.low, f.high = readRange(s)
		f.n = stream.Width(f.low, f.high)
		f.other = uint64(f.low) + s.uint64()>>(s.byte()%64)
	case someBytes:
		f.n = int(s.byte() % 40)
	}
	return f
}

// readRange reads the limits of a ranged integer: near each other or not.
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

// value is what a field has, or why it has none.
type value struct {
	v     uint64
	bytes string
	err   error
}

func (f field) read(r *bitpack.Reader) (got value) {
	switch f.kind {
	case someBits:
		v, err := r.Bits(f.n)
		return value{v: uint64(v), err: err}
	case anInt:
		v, err := r.Int(f.low, f.high)
		return value{v: uint64(v), err: err}
	case aBool:
		v, err := r.Bool()
		return value{v: asBit(v), err: err}
	case aligned:
		return value{err: r.Align()}
	}
	b, err := r.Bytes(f.n)
	return value{bytes: string(b), err: err}
}

// take is what the oracle reads. When it fails nothing is consumed.
func (f field) take(r *stream.Reader) value {
	before := *r
	got := f.taken(r)
	if got.err != nil {
		*r = before
	}
	return got
}

func (f field) taken(r *stream.Reader) value {
	bits := f.n
	switch f.kind {
	case aligned, someBytes:
		if !r.Align() {
			return value{err: bitpack.ErrPadding}
		}
		if bits = 8 * f.n; f.kind == aligned {
			return value{}
		}
	}
	if r.Left() < bits {
		return value{err: bitpack.ErrTruncated}
	}
	if f.kind == someBytes {
		return value{bytes: string(r.Bytes(f.n))}
	}
	v := r.Bits(f.n)
	if f.kind == anInt && v > uint64(f.high)-uint64(f.low) {
		return value{err: bitpack.ErrValue}
	}
	return value{v: uint64(f.low) + v}
}

func (f field) write(w *bitpack.Writer, v value) {
	switch f.kind {
	case someBits:
		w.Bits(uint32(v.v), f.n)
	case anInt:
		w.Int(int64(v.v), f.low, f.high)
	case aBool:
		w.Bool(v.v == 1)
	case aligned:
		w.Align()
	case someBytes:
		w.Bytes([]byte(v.bytes))
	}
}

// put writes to the oracle's stream.
func (f field) put(to *stream.Stream, v value) {
	switch f.kind {
	case aligned:
		to.Align()
	case someBytes:
		to.Bytes([]byte(v.bytes))
	default:
		to.Bits(v.v-uint64(f.low), f.n)
	}
}

// writeAny writes the other value. If it does not fit, nothing is written, nor of anything after it.
func (f field) writeAny(t T) {
	t.Helper()
	w := bitpack.NewWriter(nil)
	f.write(&w, value{v: f.other})
	w.Align()
	_, err := w.Finish()
	fits := f.kind == someBits && f.other>>f.n == 0 || f.kind == anInt && f.low <= int64(f.other) && int64(f.other) <= f.high || f.kind > anInt
	if fits != (err == nil) || err != nil && (!errors.Is(err, bitpack.ErrValue) || w.Len() != 0) {
		t.Fatalf("%+v: %d bits, %v", f, w.Len(), err)
	}
}

func asBit(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}

// seedBits reads any fields from any bytes, also from the bytes of vectors.
func seedBits(files []testvectors.File) (seeds [][]byte) {
	for i := range 64 {
		seeds = append(seeds, append([]byte{byte(i)}, noise[i*512:][:25*i+20]...))
	}
	for i, b := range bytesIn(files, contract.OpDecodeBody) {
		fields := bytes.Repeat([]byte{someBits, byte(i), 0, 0, 0, 0, 0, 0, 0, 0, 0, aligned, aBool, someBytes, byte(i % 40)}, 4)
		seeds = append(seeds, append(append([]byte{16}, fields...), b...))
	}
	return seeds
}
