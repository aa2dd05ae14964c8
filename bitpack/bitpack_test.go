package bitpack_test

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"github.com/chunkwire/chunkwire/bitpack"
	"github.com/chunkwire/chunkwire/conform/oracle/stream"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// op is one thing written, and later read back.
type op struct {
	kind      string
	v         uint64
	n         int
	low, high int64
	raw       []byte
}

func drawOp(t *rapid.T) op {
	o := op{kind: rapid.SampledFrom([]string{"bits", "int", "bool", "align", "bytes"}).Draw(t, "kind")}
	switch o.kind {
	case "bits":
		o.n = rapid.IntRange(1, 32).Draw(t, "width")
		o.v = rapid.Uint64Range(0, 1<<o.n-1).Draw(t, "value")
	case "int":
		o.low = rapid.Int64Range(math.MinInt64, math.MaxInt64-1).Draw(t, "low")
		o.high = o.low + rapid.Int64Range(1, min(math.MaxUint32, math.MaxInt64-max(o.low, 0))).Draw(t, "span")
		o.v = uint64(rapid.Int64Range(o.low, o.high).Draw(t, "value"))
	case "bool":
		o.v = uint64(rapid.IntRange(0, 1).Draw(t, "value"))
	case "bytes":
		o.raw = rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "raw")
	}
	return o
}

func (o op) write(w *bitpack.Writer, model *stream.Stream) {
	switch o.kind {
	case "bits":
		w.Bits(uint32(o.v), o.n)
		model.Bits(o.v, o.n)
	case "int":
		w.Int(int64(o.v), o.low, o.high)
		model.Int(int64(o.v), o.low, o.high)
	case "bool":
		w.Bool(o.v == 1)
		model.Bool(o.v == 1)
	case "align":
		w.Align()
		model.Align()
	case "bytes":
		w.Bytes(o.raw)
		model.Bytes(o.raw)
	}
}

func (o op) readBack(t *rapid.T, r *bitpack.Reader) {
	var got uint64
	var err error
	switch o.kind {
	case "bits":
		var v uint32
		v, err = r.Bits(o.n)
		got = uint64(v)
	case "int":
		var v int64
		v, err = r.Int(o.low, o.high)
		got = uint64(v)
	case "bool":
		var v bool
		if v, err = r.Bool(); v {
			got = 1
		}
	case "align":
		err = r.Align()
	case "bytes":
		var raw []byte
		raw, err = r.Bytes(len(o.raw))
		if !bytes.Equal(raw, o.raw) {
			t.Fatalf("read bytes %x, wrote %x", raw, o.raw)
		}
	}
	if err != nil || got != o.v {
		t.Fatalf("read back %+v as %d, %v", o, got, err)
	}
}

// Any script of writes gives the bits of the oracle's stream, behind what the
// buffer held, and reads back as what was written (BIT-1 to BIT-7).
func TestScriptsAgreeWithTheOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ops := rapid.SliceOf(rapid.Custom(drawOp)).Draw(t, "ops")
		prefix := rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(t, "prefix")
		w := bitpack.NewWriter(bytes.Clone(prefix))
		var model stream.Stream
		for _, o := range ops {
			o.write(&w, &model)
			if w.Len() != len(model) {
				t.Fatalf("Len is %d after %d bits", w.Len(), len(model))
			}
		}
		got, err := w.Finish()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(append(prefix, model.Pack()...), got); diff != "" {
			t.Fatalf("bytes differ (-model +writer):\n%s", diff)
		}
		r := bitpack.NewReader(got[len(prefix):])
		for _, o := range ops {
			o.readBack(t, &r)
		}
		if r.Offset() != len(model) || r.Remaining() != 8*len(model.Pack())-len(model) {
			t.Fatalf("offset %d, %d remain, of %d bits", r.Offset(), r.Remaining(), len(model))
		}
	})
}

// Every field of every width at every position is refused one bit too early,
// and read whole when the last bit is there.
func TestReaderStopsAtTheLastBit(t *testing.T) {
	ones := bytes.Repeat([]byte{0xff}, 10)
	for skip := 1; skip <= 15; skip++ {
		for n := 1; n <= 32; n++ {
			whole := (skip + n + 7) / 8
			r := bitpack.NewReader(ones[:whole])
			if _, err := r.Bits(skip); err != nil {
				t.Fatal(err)
			}
			if v, err := r.Bits(n); err != nil || v != ^uint32(0)>>(32-n) {
				t.Fatalf("%d bits at %d: %x, %v", n, skip, v, err)
			}
			if skip > 8*(whole-1) {
				continue // without its last byte the stream would not reach the field
			}
			r = bitpack.NewReader(ones[: whole-1 : whole-1])
			if _, err := r.Bits(skip); err != nil {
				t.Fatal(err)
			}
			if v, err := r.Bits(n); !errors.Is(err, bitpack.ErrTruncated) || v != 0 || r.Offset() != skip {
				t.Fatalf("%d bits at %d of %d bytes: %x, %v, offset %d", n, skip, whole-1, v, err, r.Offset())
			}
		}
	}
}

// A value wider than its field fails, and is not cut off (BIT-2, BIT-3).
func TestWriterRefusesWhatDoesNotFit(t *testing.T) {
	cases := map[string]func(*bitpack.Writer){
		"bits one too wide":                      func(w *bitpack.Writer) { w.Bits(1<<10, 10) },
		"int below":                              func(w *bitpack.Writer) { w.Int(0, 1, 1024) },
		"int above":                              func(w *bitpack.Writer) { w.Int(1025, 1, 1024) },
		"int above, but no wider than the field": func(w *bitpack.Writer) { w.Int(12, 0, 10) },
	}
	for name, fault := range cases {
		t.Run(name, func(t *testing.T) {
			w := bitpack.NewWriter([]byte("kept"))
			w.Bits(5, 3)
			fault(&w)
			// The first fault sticks, whatever follows.
			w.Bits(1, 1)
			w.Int(1, 1, 2)
			w.Align()
			w.Bytes([]byte("dropped"))
			if w.Len() != 3 {
				t.Errorf("Len is %d, want the 3 bits before the fault", w.Len())
			}
			got, err := w.Finish()
			if !errors.Is(err, bitpack.ErrValue) || string(got) != "kept" {
				t.Errorf("Finish: %q, %v", got, err)
			}
		})
	}
}

func TestReaderRefuses(t *testing.T) {
	cases := map[string]struct {
		buf    []byte
		read   func(*bitpack.Reader) error
		want   error
		offset int
	}{
		"bits of an empty stream": {nil, func(r *bitpack.Reader) error { _, err := r.Bits(1); return err }, bitpack.ErrTruncated, 0},
		"bool of an empty stream": {nil, func(r *bitpack.Reader) error { _, err := r.Bool(); return err }, bitpack.ErrTruncated, 0},
		"int cut short":           {[]byte{1}, func(r *bitpack.Reader) error { _, err := r.Int(0, 256); return err }, bitpack.ErrTruncated, 0},
		"int above its range":     {[]byte{3}, func(r *bitpack.Reader) error { _, err := r.Int(5, 7); return err }, bitpack.ErrValue, 0},
		"padding":                 {[]byte{0x80}, func(r *bitpack.Reader) error { _, _ = r.Bits(7); return r.Align() }, bitpack.ErrPadding, 7},
		"padding before bytes":    {[]byte{2, 9}, func(r *bitpack.Reader) error { _, _ = r.Bits(1); _, err := r.Bytes(1); return err }, bitpack.ErrPadding, 1},
		"bytes cut short":         {[]byte{1, 9}, func(r *bitpack.Reader) error { _, _ = r.Bits(1); _, err := r.Bytes(2); return err }, bitpack.ErrTruncated, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := bitpack.NewReader(c.buf)
			if err := c.read(&r); !errors.Is(err, c.want) || r.Offset() != c.offset {
				t.Errorf("got %v at %d, want %v at %d", err, r.Offset(), c.want, c.offset)
			}
		})
	}
}

func TestReaderDoesNotCopyAndGivesNoSpareCapacity(t *testing.T) {
	buf := []byte{1, 2, 3, 4}
	r := bitpack.NewReader(buf)
	got, err := r.Bytes(2)
	if err != nil || &got[0] != &buf[0] || cap(got) != 2 {
		t.Errorf("got %v, capacity %d, %v", got, cap(got), err)
	}
}

// The smallest width that holds every value of a range (BIT-3).
func TestWidth(t *testing.T) {
	cases := []struct {
		low, high int64
		want      int
	}{
		{0, 1, 1}, {0, 2, 2}, {0, 255, 8}, {1, 256, 8}, {0, 256, 9}, {1, 1024, 10},
		{0, math.MaxUint32, 32}, {math.MinInt64, math.MinInt64 + math.MaxUint32, 32}, {math.MaxInt64 - 1, math.MaxInt64, 1},
	}
	for _, c := range cases {
		if got := bitpack.Width(c.low, c.high); got != c.want {
			t.Errorf("Width(%d, %d) = %d, want %d", c.low, c.high, got, c.want)
		}
	}
}

func TestMisusePanics(t *testing.T) {
	var w bitpack.Writer
	r := bitpack.NewReader(make([]byte, 16))
	cases := map[string]func(){
		"write 0 bits":   func() { w.Bits(0, 0) },
		"write 33 bits":  func() { w.Bits(0, 33) },
		"read 0 bits":    func() { _, _ = r.Bits(0) },
		"read 33 bits":   func() { _, _ = r.Bits(33) },
		"empty range":    func() { bitpack.Width(1, 0) },
		"single value":   func() { bitpack.Width(7, 7) },
		"range too wide": func() { bitpack.Width(0, math.MaxUint32+1) },
		"any int64":      func() { bitpack.Width(math.MinInt64, math.MaxInt64) },
		"negative bytes": func() { _, _ = r.Bytes(-1) },
	}
	for name, misuse := range cases {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("did not panic")
				}
			}()
			misuse()
		})
	}
}

func TestNothingIsAllocated(t *testing.T) {
	buf := make([]byte, 0, 64)
	var sum uint64
	allocs := testing.AllocsPerRun(100, func() {
		w := bitpack.NewWriter(buf)
		w.Bits(5, 3)
		w.Int(7, 1, 1024)
		w.Bytes(buf[:9])
		out, _ := w.Finish()
		r := bitpack.NewReader(out)
		v, _ := r.Bits(3)
		_, _ = r.Bytes(1000)
		sum += uint64(v)
	})
	if allocs != 0 || sum == 0 {
		t.Errorf("%v allocations a run", allocs)
	}
}
