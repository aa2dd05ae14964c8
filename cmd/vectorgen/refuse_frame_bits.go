package main

import (
	"fmt"

	"github.com/chunkwire/chunkwire/conform/oracle"
)

// framePadding are datagrams with one padding bit set, everywhere where there is
// one.
func (g *group) framePadding() {
	flip := func(name, where string, p oracle.Packet, from, to int) {
		for bit := from; bit < to; bit++ {
			g.decode(fmt.Sprintf("%s-padding-bit-%d", name, bit), about{
				fmt.Sprintf("Catches a decoder that does not check bit %d, number %d of the %d %s.", bit, bit-from+1, to-from, where), "padding frame-offset", "DEC-10 LAW-1 LAW-2 BIT-5",
			}, oracle.NonzeroPadding, usualID, resealed(flipped(datagram(p), bit)))
		}
	}
	flip("slice", "between slice_bytes and the data", smallSlice, 75, 80)
	flip("middle-slice", "between num_slices and the data", middleSlice, 65, 72)
	for n := range 8 {
		count := n
		if n == 0 {
			count = 8
		}
		flip(fmt.Sprintf("ack-of-%d", count), fmt.Sprintf("after the bits of %d slices", count), ack(7, acked(count, all)), 57+count, (57+count+7)/8*8)
	}
	flip("ack-of-256", "after the bits of 256 slices", largestAck, 57+256, 320)
	g.decode("ack-of-9-says-8", about{"Catches a decoder that does not count the bits: the ninth, which is set, is padding when num_slices is 8.", "padding minus-one", "DEC-10 ACK-1"}, oracle.NonzeroPadding, usualID, rawFrame(bitsOf(ackBit, 1), ackHead(9, 8), bitsOf(0x1ff, 9), align, endCheck))
	g.decode("ack-of-8-with-zero", about{"The twin of ack-of-9-says-8: with the ninth bit clear it is an ack of 8.", "padding minus-one", "LAW-2 ACK-1"}, accepted, usualID, rawFrame(bitsOf(ackBit, 1), ackHead(9, 8), bitsOf(0x0ff, 9), align, endCheck))
	g.decode("ack-of-9-says-16", about{"Catches a decoder that reads the end check's bits as bits of the ack: the rest of its first byte is no padding.", "padding truncation", "DEC-10 ACK-1"}, oracle.NonzeroPadding, usualID, rawFrame(bitsOf(ackBit, 1), ackHead(7, 16), bitsOf(0x1ff, 9), align, endCheck))
	g.decode("ack-of-9-says-256", about{"Catches a decoder that reads 256 bits because num_slices says so.", "truncation", "DEC-9 LAW-3"}, oracle.Truncated, usualID, rawFrame(bitsOf(ackBit, 1), ackHead(7, 256), bitsOf(0x1ff, 9), align, endCheck))
}

// misaligned are datagrams with an align that is missing, or of a body's own.
func (g *group) misaligned() {
	typed := func(bit uint64) field { return bitsOf(bit, 1) }
	add := func(name, mistake, flags, sentences, want string, b []byte) {
		g.decode(name, about{"Catches an implementation that " + mistake + ", and so accepts its own datagrams only.", flags, sentences}, want, usualID, b)
	}
	head := sliceHead(7, 2, 3)
	add("data-not-aligned", "does not align the data", "alignment padding", "DEC-10 BIT-6 FRM-1", oracle.NonzeroPadding,
		rawFrame(typed(sliceBit), head, sizeOf(3), unaligned([]byte{1, 2, 3}), align, endCheck))
	add("data-aligned-in-body", "aligns the data as in the bare body: 6 bits instead of 5", "frame-offset", "DEC-13 FRM-4", oracle.BadEndCheck,
		rawFrame(typed(sliceBit), head, sizeOf(3), bitsOf(0, 6), unaligned([]byte{1, 2, 3}), align, endCheck))
	add("middle-data-aligned-in-body", "does not align the data of a slice that is not the last, since it is aligned in the bare body", "frame-offset", "DEC-10 FRM-4", oracle.NonzeroPadding,
		rawFrame(typed(sliceBit), sliceHead(7, 1, 3), unaligned(repeated(0xff, 1024)), align, endCheck))
	add("end-check-not-aligned", "does not align the end check of an ack", "alignment end-check", "DEC-10 FRM-1", oracle.NonzeroPadding,
		rawFrame(typed(ackBit), ackHead(7, 9), bitsOf(0x155, 9), endCheck))
	add("end-check-aligned-in-body", "aligns the end check of an ack as in the bare body: of 8 slices, that is no bit", "frame-offset", "DEC-10 FRM-4", oracle.NonzeroPadding,
		rawFrame(typed(ackBit), ackHead(7, 8), bitsOf(0x55, 8), endCheck))
	add("aligned-already", "adds a byte where the stream is aligned already: the bits of 7 slices end with byte 7", "alignment", "DEC-13 BIT-5", oracle.BadEndCheck,
		rawFrame(typed(ackBit), ackHead(7, 7), bitsOf(0x55, 7), bitsOf(0, 8), endCheck))
	add("type-of-a-byte", "gives the type a byte", "type-bit field-width", "DEC-10 FRM-1", oracle.NonzeroPadding,
		rawFrame(bitsOf(sliceBit, 8), sliceHead(7, 2, 3), sizeOf(3), bytesOf([]byte{1, 2, 3}), endCheck))
	add("type-of-a-slice-turned", "has 1 for a slice: as an ack of 3 slices the end check would be at byte 8", "type-bit", "DEC-13 FRM-3", oracle.BadEndCheck,
		rawFrame(typed(ackBit), head, sizeOf(3), bytesOf([]byte{1, 2, 3}), endCheck))
	add("type-of-an-ack-turned", "has 0 for an ack: as a slice its slice_id is out of range", "type-bit", "DEC-7 FRM-3", oracle.SliceIDOutOfRange,
		rawFrame(typed(sliceBit), ackHead(7, 9), bitsOf(1, 9), align, endCheck))
	add("size-in-a-middle-slice", "puts slice_bytes into every slice", "last-slice", "DEC-10 SLC-1", oracle.NonzeroPadding,
		rawFrame(typed(sliceBit), sliceHead(7, 1, 3), sizeOf(1024), bytesOf(sample(1024)), endCheck))
	add("no-size-in-the-last-slice", "leaves slice_bytes out of the last slice: 129 would be read for it", "last-slice", "DEC-11 SLC-1", oracle.Truncated,
		rawFrame(typed(sliceBit), head, bytesOf([]byte{1, 2, 3, 4, 5}), endCheck))
}

// endChecks are datagrams with a wrong end check.
func (g *group) endChecks() {
	for _, c := range spoiled {
		whole := datagram(c.p)
		end := 8 * (len(whole) - 4)
		for n := range 4 {
			for _, bit := range []int{0, 7} {
				g.decode(fmt.Sprintf("%s-end-check-byte-%d-bit-%d", c.name, n, bit), about{
					fmt.Sprintf("Catches a decoder that does not compare bit %d of byte %d of the end check.", bit, n), "end-check", "DEC-13 FRM-6",
				}, oracle.BadEndCheck, usualID, resealed(flipped(whole, end+8*n+bit)))
			}
		}
		for _, v := range []struct {
			name, mistake string
			value         uint64
		}{
			{"big-endian", "writes the end check big-endian", 0xe2ac0899},
			{"zero", "accepts four zero bytes as the end check", 0},
			{"ones", "accepts four bytes of ones as the end check", 0xffffffff},
			{"inverted", "has the end check inverted", 0x9908ace2 ^ 0xffffffff},
			{"bits-turned", "writes the end check's bits from the most significant on", 0x47351099},
			{"of-the-protocol-id", "ends a datagram with its protocol id", usualID},
		} {
			g.decode(c.name+"-end-check-"+v.name, about{"Catches an implementation that " + v.mistake + ".", "end-check byte-order", "DEC-13 FRM-6"}, oracle.BadEndCheck, usualID, resealed(joined(whole[:len(whole)-4], little(uint32(v.value)))))
		}
	}
}
