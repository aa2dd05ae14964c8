package erasure_test

import (
	"crypto/subtle"
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/erasure"
)

// XOR of 1 KiB is the measure of the bounds below.
func BenchmarkXOR(b *testing.B) {
	var dst, src [erasure.SliceSize]byte
	for b.Loop() {
		subtle.XORBytes(dst[:], dst[:], src[:])
	}
}

// A repair slice that is made anew.
func BenchmarkEncode(b *testing.B) {
	for _, k := range []int{256, 32, 1} {
		b.Run(fmt.Sprint(k), func(b *testing.B) {
			e := erasure.Encode(pattern(k * erasure.SliceSize))
			n := 0
			for b.Loop() {
				e.Slice(k + 256 + n%7000) // is not kept
				n++
			}
		})
	}
}

// All that a receiver does with repair slices when some of 256 slices are missing.
func BenchmarkRebuild(b *testing.B) {
	for _, missing := range []int{1, 13, 51, 128, 256} {
		b.Run(fmt.Sprint(missing), func(b *testing.B) {
			const k = erasure.MaxSlices
			e := erasure.Encode(pattern(k * erasure.SliceSize))
			for id := range 2 * k {
				e.Slice(id)
			}
			var d erasure.Decoder
			var p blocks
			for b.Loop() {
				b.StopTimer()
				d.Begin(k, erasure.SliceSize, &p)
				for id := range k {
					if id*missing/k == (id+1)*missing/k {
						d.Add(id, e.Slice(id))
					}
				}
				b.StartTimer()
				for id := k; d.Rank() < k; id++ {
					d.Add(id, e.Slice(id))
				}
				if d.Rebuild() == nil {
					b.Fatal("it is not rebuilt")
				}
			}
			d.Release()
		})
	}
}

// Chunks of which only repair slices arrive, without and with the end.
func BenchmarkHostile(b *testing.B) {
	const k = erasure.MaxSlices
	e := erasure.Encode(pattern(k * erasure.SliceSize))
	for _, rank := range []int{0, 64, 128, 192, 254} {
		b.Run(fmt.Sprintf("Add at rank %d", rank), func(b *testing.B) {
			var p blocks
			var d erasure.Decoder
			data := e.Slice(k)
			for b.Loop() {
				b.StopTimer()
				d.Begin(k, erasure.SliceSize, &p)
				for id := 300; d.Rank() < rank; id++ {
					d.Add(id, data)
				}
				b.StartTimer()
				d.Add(8000, data)
			}
		})
	}
}
