package erasure_test

import (
	"crypto/subtle"
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/check"
)

// XOR of 1 KiB is what the other figures are compared with.
func BenchmarkXOR(b *testing.B) {
	dst, src := new([erasure.SliceSize]byte), new([erasure.SliceSize]byte)
	for b.Loop() {
		subtle.XORBytes(dst[:], dst[:], src[:])
	}
}

// A repair slice that is made anew.
func BenchmarkEncode(b *testing.B) {
	for _, k := range []int{256, 32, 1} {
		b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) {
			e := erasure.Encode(pattern(k * erasure.SliceSize))
			n := 0
			for b.Loop() {
				e.Slice(k + 256 + n%4096) // is not kept
				n++
			}
		})
	}
}

// missing begins a decoder for a chunk of 256 slices of which m are missing, all over it.
func missing(p erasure.Pool, e *erasure.Encoded, m int) *erasure.Decoder {
	const k = erasure.MaxSlices
	d := &erasure.Decoder{}
	d.Begin(k, erasure.SliceSize, p)
	for id := range k {
		if id*m/k == (id+1)*m/k {
			d.Add(id, e.Slice(id))
		}
	}
	return d
}

// All that a receiver does with repair slices, if some of 256 slices are missing. With 256
// it is what a peer can make of 256 datagrams.
func BenchmarkRebuild(b *testing.B) {
	e := erasure.Encode(pattern(erasure.MaxSlices * erasure.SliceSize))
	var p heap
	for _, m := range []int{1, 13, 51, 128, 256} {
		b.Run(fmt.Sprintf("%d of 256", m), func(b *testing.B) {
			check.Events(b, 1, func() func() {
				d := missing(&p, e, m)
				for id := 256; id < 256+m; id++ {
					e.Slice(id)
				}
				return func() {
					for id := 256; d.Rank() < 256; id++ {
						d.Add(id, e.Slice(id))
					}
					d.Rebuild()
					d.Release()
				}
			})
		})
	}
}

// One slice more when 256 were missing at first and so many repair slices are held. With
// 254 it is the dearest Add there is.
func BenchmarkAdd(b *testing.B) {
	e := erasure.Encode(pattern(erasure.MaxSlices * erasure.SliceSize))
	var p heap
	for _, rows := range []int{0, 64, 128, 254} {
		for name, id := range map[string]int{"repair": 8000, "source": 0} {
			b.Run(fmt.Sprintf("%s slice after %d", name, rows), func(b *testing.B) {
				check.Events(b, 1, func() func() {
					d, data := receiver(&p, e, upTo(300, 300+rows)...), e.Slice(id)
					return func() {
						d.Add(id, data)
						d.Release()
					}
				})
			})
		}
	}
}
