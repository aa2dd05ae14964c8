package main

import (
	"fmt"

	"github.com/chunkwire/chunkwire/conform/oracle"
)

// sliceCounts are numbers of slices around the ends of bytes and words, where
// bitmaps and loops go wrong.
var sliceCounts = []int{1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256}

// sliceSizes are sizes of a last slice around the ends of the bits of
// slice_bytes and of the bytes that hold it.
var sliceSizes = []int{1, 2, 255, 256, 257, 512, 513, 768, 769, 1023, 1024}

// sliceBody is bare bodies of slices (section 4.1).
func sliceBody(g *group) {
	for _, n := range sliceSizes {
		p := slice(7, 2, 3, sample(n))
		why := fmt.Sprintf("Catches an implementation that is wrong by one, or in the two bytes that hold slice_bytes, at %d bytes of data, which begin at byte 6.", n)
		g.encodeBody(fmt.Sprintf("last-of-%d-bytes-encode", n), about{why, "data-length last-slice alignment minus-one", "SLC-1 SLC-3 BIT-6 LIM-3"}, accepted, p)
		g.decodeBody(fmt.Sprintf("last-of-%d-bytes-decode", n), about{why, "data-length last-slice alignment minus-one", "SLC-1 SLC-3 BIT-6 LAW-2"}, accepted, oracle.TypeSlice, body(p))
	}
	for _, n := range sliceCounts {
		g.bodyOfCount(int64(n))
	}
	g.contents(func(name string, why about, data []byte) {
		g.encodeBody(name+"-encode", why, accepted, slice(1, 0, 1, data))
		g.decodeBody(name+"-decode", why, accepted, oracle.TypeSlice, body(slice(1, 0, 1, data)))
	})
}

// bodyOfCount adds the last slice of a chunk of n, and those before it.
func (g *group) bodyOfCount(n int64) {
	last := slice(0x0102, n-1, n, []byte{0xc3})
	why := about{fmt.Sprintf("Catches an implementation that does not treat slice %d of %d as the last one, and leaves out slice_bytes or reads 1,024 bytes.", n-1, n), "last-slice", "SLC-1 SLC-3"}
	g.encodeBody(fmt.Sprintf("last-of-%d-slices-encode", n), why, accepted, last)
	g.decodeBody(fmt.Sprintf("last-of-%d-slices-decode", n), why, accepted, oracle.TypeSlice, body(last))
	if n == 1 {
		return
	}
	before := slice(0x0102, n-2, n, sample(1024))
	why = about{fmt.Sprintf("Catches an implementation that treats slice %d of %d, the last but one, as the last one, and puts slice_bytes before the data, which begin at byte 4.", n-2, n), "last-slice minus-one", "SLC-1 SLC-3 BIT-6"}
	g.decodeBody(fmt.Sprintf("last-but-one-of-%d-slices-decode", n), why, accepted, oracle.TypeSlice, body(before))
}

// contents is data that a careless implementation might take for something else.
func (g *group) contents(add func(name string, why about, data []byte)) {
	end := []byte{0xe2, 0xac, 0x08, 0x99}
	for _, c := range []struct {
		name, mistake string
		data          []byte
	}{
		{"data-zeros", "treats zeros in the data as padding, or ends the data at the first zero byte", repeated(0, 9)},
		{"data-ones", "sign-extends bytes of the data, or masks them", repeated(0xff, 9)},
		{"data-end-checks", "searches for the end check instead of counting bytes: the data consists of it", joined(end, end, end)},
		{"data-trailing-zeros", "strips zeros from the end of the data", []byte{1, 0, 0, 0}},
		{"data-line-ends", "treats the data as text", []byte("\r\n\x1a\x00\"\\\xff\xfe")},
		{"data-of-a-datagram", "decodes a datagram that is in the data", datagram(ack(3, acked(9, even)))},
		{"data-all-bytes", "changes some value of a byte: all 256 are there", allBytes()},
	} {
		add(c.name, about{"Catches an implementation that " + c.mistake + ".", "content data-length", "BIT-6 SLC-3"}, c.data)
	}
}

func allBytes() []byte {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

// bitmapRules are bitmaps of acks, by the mistake that each catches.
var bitmapRules = []struct {
	name, mistake string
	set           func(n int) rule
	counts        []int
}{
	{"hold", "does not write an ack without bits, or leaves out zero bytes at its end", func(int) rule { return none }, []int{8, 9, 256}},
	{"all", "sets the padding too when all bits are set, or makes 2^n - 1 of a shift by 32 or 64", func(int) rule { return all }, []int{1, 7, 8, 9, 31, 32, 33, 63, 64, 65, 255, 256}},
	{"last-only", "loses the last bit, or writes the last byte's bits from the other end", func(n int) rule { return only(n - 1) }, ackCounts[2:]},
	{"uneven", "turns bits or bytes around: the pattern has no symmetry", func(int) rule { return uneven }, ackCounts},
}

// ackCounts has every alignment of the last bit, and the ends of words.
var ackCounts = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 254, 255, 256}

// ackBody is bare bodies of acks (section 4.2).
func ackBody(g *group) {
	for _, r := range bitmapRules {
		for _, n := range r.counts {
			bits := acked(n, r.set(n))
			g.encodeBody(fmt.Sprintf("%d-%s-encode", n, r.name), about{
				fmt.Sprintf("Catches an encoder that %s. %d slices leave %d padding bits.", r.mistake, n, (8-n%8)%8),
				"word-boundary bit-order alignment", "ACK-1 ACK-2 BIT-4 BIT-7",
			}, accepted, ack(0x0a0b, bits))
		}
	}
	for _, n := range ackCounts {
		g.decodeBody(fmt.Sprintf("%d-uneven-decode", n), about{
			fmt.Sprintf("Catches a decoder that reads another number of bits than %d, or more than one in another order.", n),
			"word-boundary bit-order minus-one", "ACK-1 ACK-2 BIT-4 LAW-2",
		}, accepted, oracle.TypeAck, body(ack(0x0a0b, acked(n, uneven))))
		g.decodeBody(fmt.Sprintf("%d-all-decode", n), about{
			fmt.Sprintf("Catches a decoder that refuses an ack of all %d slices, because no bit is zero or because 2^n - 1 overflows.", n),
			"word-boundary padding", "ACK-1 LAW-2",
		}, accepted, oracle.TypeAck, body(ack(0, acked(n, all))))
	}
}
