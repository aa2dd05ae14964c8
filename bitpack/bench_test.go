package bitpack_test

import (
	"slices"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/bitpack"
)

var sink uint64

// field is a number and the bits that it takes.
type field struct {
	v uint32
	n int
}

// mixed are values of mixed widths, 1 to 32, in no order that a processor could
// learn within one pass.
func mixed() (list [1024]field) {
	x := uint64(1)
	for i := range list {
		x = x*6364136223846793005 + 1442695040888963407
		n := int(x>>33%32) + 1
		list[i] = field{uint32(x >> 20 & (1<<n - 1)), n}
	}
	return list
}

// perValue reports the median cost of a value over short turns, which the
// machine's other load leaves alone.
func perValue(b *testing.B, pass func()) {
	costs := make([]float64, 0, b.N)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		start := time.Now()
		pass()
		costs = append(costs, float64(time.Since(start))/1024)
	}
	slices.Sort(costs)
	b.ReportMetric(costs[len(costs)/2], "ns/value")
}

// What a value of 1 to 32 bits costs.
func BenchmarkMixedWidths(b *testing.B) {
	list := mixed()
	buf := make([]byte, 0, 8*len(list))
	w := bitpack.NewWriter(buf)
	for _, f := range list {
		w.Bits(f.v, f.n)
	}
	stream, err := w.Finish()
	if err != nil {
		b.Fatal(err)
	}
	b.Run("write", func(b *testing.B) {
		perValue(b, func() {
			w := bitpack.NewWriter(buf)
			for _, f := range list {
				w.Bits(f.v, f.n)
			}
			out, _ := w.Finish()
			sink += uint64(len(out))
		})
	})
	b.Run("read", func(b *testing.B) {
		perValue(b, func() {
			r := bitpack.NewReader(stream)
			var sum uint64
			for _, f := range list {
				v, _ := r.Bits(f.n)
				sum += uint64(v)
			}
			sink = sum
		})
	})
}
