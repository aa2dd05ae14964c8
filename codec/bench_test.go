package codec_test

import (
	"bytes"
	"hash/crc32"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
)

// work does something n times.
type work func(n int)

// Results go here, so that the compiler keeps the work.
var (
	sinkCRC uint32
	sinkErr error
)

var (
	copySource = bytes.Repeat([]byte{0xa5}, codec.SliceSize)
	copyTarget = make([]byte, codec.SliceSize)
	crcSource  = bytes.Repeat([]byte{0xa5}, 1036)
)

// The floors: what no codec can do without.
func copying(n int) {
	for range n {
		copy(copyTarget, copySource)
	}
}

func summing(n int) {
	for range n {
		sinkCRC = crc32.ChecksumIEEE(crcSource)
	}
}

func copyingAndSumming(n int) {
	copying(n)
	summing(n)
}

// compare reports what one subject costs, and that over what one floor costs.
// The two take short turns, so that the machine's other load meets both, and the
// figures are medians over the turns.
func compare(b *testing.B, unit string, floor, subject work) {
	const turn = 1000
	turns := (b.N + turn - 1) / turn
	costs, ratios := make([]float64, 0, turns), make([]float64, 0, turns)
	b.ReportAllocs()
	b.ResetTimer()
	for left := b.N; left > 0; left -= turn {
		n := min(left, turn)
		start := time.Now()
		floor(n)
		middle := time.Now()
		subject(n)
		cost := float64(time.Since(middle))
		costs = append(costs, cost/float64(n))
		ratios = append(ratios, cost/float64(middle.Sub(start)))
	}
	b.ReportMetric(median(costs), "ns/op")
	b.ReportMetric(median(ratios), unit)
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// The floors beside the copy, and the checksum when each sum waits for the one
// before it: a processor works on several independent sums at once.
func BenchmarkFloor(b *testing.B) {
	inTurn := func(n int) {
		for range n {
			sinkCRC = crc32.Update(sinkCRC&1, crc32.IEEETable, crcSource)
		}
	}
	b.Run("copy of 1024 bytes", func(b *testing.B) { compare(b, "x-copy", copying, copying) })
	b.Run("crc of 1036 bytes", func(b *testing.B) { compare(b, "x-copy", copying, summing) })
	b.Run("crc of 1036 bytes, one after another", func(b *testing.B) { compare(b, "x-crc", summing, inTurn) })
}

func encodeSliceBody(s codec.Slice) work {
	dst := make([]byte, 0, codec.MaxDatagramSize)
	return func(n int) {
		for range n {
			_, sinkErr = codec.Named.AppendSliceBody(dst, s)
		}
	}
}

func encodeAckBody(a codec.Ack) work {
	dst := make([]byte, 0, codec.MaxDatagramSize)
	return func(n int) {
		for range n {
			_, sinkErr = codec.Named.AppendAckBody(dst, a)
		}
	}
}

func decodeSliceBody(body []byte) work {
	return func(n int) {
		for range n {
			_, sinkErr = codec.Named.DecodeSliceBody(body)
		}
	}
}

func decodeAckBody(body []byte) work {
	return func(n int) {
		for range n {
			_, sinkErr = codec.Named.DecodeAckBody(body)
		}
	}
}

func encodeSlice(s codec.Slice) work {
	dst := make([]byte, 0, codec.MaxDatagramSize)
	return func(n int) {
		for range n {
			_, sinkErr = framer.AppendSlice(dst, s)
		}
	}
}

func encodeAck(a codec.Ack) work {
	dst := make([]byte, 0, codec.MaxDatagramSize)
	return func(n int) {
		for range n {
			_, sinkErr = framer.AppendAck(dst, a)
		}
	}
}

func decodeDatagram(d []byte) work {
	return func(n int) {
		for range n {
			_, sinkErr = framer.Decode(d)
		}
	}
}

// Bare bodies, over the copy.
func BenchmarkBody(b *testing.B) {
	full, last := slice(1, 0, 2, copySource), slice(1, 1, 2, copySource)
	acks := ack(1, strings.Repeat("10", 128))
	fullBody, _ := appendBody(codec.Named, full)
	lastBody, _ := appendBody(codec.Named, last)
	ackBody, _ := appendBody(codec.Named, acks)
	cases := []struct {
		name string
		run  work
	}{
		{"encode slice", encodeSliceBody(full.Slice)},
		{"encode last slice", encodeSliceBody(last.Slice)},
		{"decode slice", decodeSliceBody(fullBody)},
		{"decode last slice", decodeSliceBody(lastBody)},
		{"refuse slice", decodeSliceBody(fullBody[:1000])},
		{"encode ack of 256", encodeAckBody(acks.Ack)},
		{"decode ack of 256", decodeAckBody(ackBody)},
		{"refuse ack", decodeAckBody(ackBody[:34])},
	}
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) { compare(b, "x-copy", copying, c.run) })
	}
}

// Whole datagrams, over the checksum, and the copy where there is one.
func BenchmarkDatagram(b *testing.B) {
	full, acks := slice(1, 0, 2, copySource), ack(1, strings.Repeat("10", 128))
	good, _ := framer.Append(nil, full)
	goodAck, _ := framer.Append(nil, acks)
	flipped, badEnd := bytes.Clone(good), bytes.Clone(good)
	flipped[500] ^= 1
	badEnd[1036] ^= 1
	cases := []struct {
		name, unit string
		floor, run work
	}{
		{"encode slice", "x-copy+crc", copyingAndSumming, encodeSlice(full.Slice)},
		{"decode slice", "x-crc", summing, decodeDatagram(good)},
		{"refuse crc", "x-crc", summing, decodeDatagram(flipped)},
		{"refuse end check", "x-crc", summing, decodeDatagram(reseal(badEnd))},
		{"encode ack of 256", "x-copy", copying, encodeAck(acks.Ack)},
		{"decode ack of 256", "x-copy", copying, decodeDatagram(goodAck)},
	}
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) { compare(b, c.unit, c.floor, c.run) })
	}
}

// What the bytes of repair slices cost.
func BenchmarkRepairFramer(b *testing.B) {
	framer := codec.Repair.Framer(protocolID)
	slice := codec.Slice{SliceID: 256, NumSlices: 256, LastBytes: 1024, Data: make([]byte, codec.SliceSize)}
	dst := make([]byte, 0, codec.MaxDatagramSize)
	datagram := check.Must(framer.AppendSlice(nil, slice))
	ack := check.Must(framer.AppendAck(nil, codec.Ack{NumSlices: 256, Have: 9, Top: 9}))
	for name, run := range map[string]func(){
		"append a slice": func() { _, _ = framer.AppendSlice(dst, slice) },
		"decode a slice": func() { _, _ = framer.Decode(datagram) },
		"append an ack":  func() { _, _ = framer.AppendAck(dst, codec.Ack{NumSlices: 256, Have: 9, Top: 9}) },
		"decode an ack":  func() { _, _ = framer.Decode(ack) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				run()
			}
		})
	}
}
