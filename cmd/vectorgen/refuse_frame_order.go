package main

import (
	"fmt"

	"github.com/chunkwire/chunkwire/conform/oracle"
)

// frameOrder are datagrams with two faults or more, of which the first on the
// wire is reported.
func (g *group) frameOrder() {
	g.crcFirst()
	add := func(name, first, then, sentences, want string, b []byte) {
		g.decode("order-"+name, about{"Catches a decoder that reports " + then + " before " + first + ", which comes first on the wire.", "check-order", sentences + " DEC-15"}, want, usualID, resealed(b))
	}
	last, middle, bits := datagram(smallSlice), datagram(middleSlice), datagram(smallAck)
	more := []byte{0xff}
	outOfRange := rawFrame(bitsOf(sliceBit, 1), sliceHead(7, 4, 3), sizeOf(2), bytesOf([]byte{5, 6}), endCheck)
	add("num-slices-missing-then-slice-id", "that num_slices is missing", "that slice_id 255 is out of range", "DEC-6 DEC-7", oracle.Truncated, rawFrame(bitsOf(sliceBit, 1), bitsOf(7, 16), bitsOf(255, 8)))
	add("slice-id-then-nothing", "slice_id out of range", "missing data", "DEC-7 DEC-11", oracle.SliceIDOutOfRange, outOfRange[:9])
	add("slice-id-then-padding", "slice_id out of range", "padding", "DEC-7 DEC-10", oracle.SliceIDOutOfRange, flipped(outOfRange, 79))
	add("slice-id-then-end-check", "slice_id out of range", "the end check", "DEC-7 DEC-13", oracle.SliceIDOutOfRange, flipped(outOfRange, 8*len(outOfRange)-1))
	add("slice-id-then-trailing", "slice_id out of range", "trailing data", "DEC-7 DEC-14", oracle.SliceIDOutOfRange, joined(outOfRange, more))
	add("size-missing-then-padding", "that slice_bytes is missing", "padding (all its bits are ones)", "DEC-8 DEC-10", oracle.Truncated, joined(last[:8], []byte{last[8] | 0xfe}))
	for _, c := range []struct {
		name string
		b    []byte
		bit  int
		head int
	}{{"slice", last, 75, 10}, {"middle-slice", middle, 71, 9}} {
		add(c.name+"-padding-then-no-data", "padding", "missing data", "DEC-10 DEC-11", oracle.NonzeroPadding, flipped(c.b[:c.head], c.bit))
		add(c.name+"-padding-then-less-data", "padding", "missing data", "DEC-10 DEC-11", oracle.NonzeroPadding, flipped(c.b[:c.head+1], c.bit))
		add(c.name+"-padding-then-no-end-check", "padding", "a missing end check", "DEC-10 DEC-12", oracle.NonzeroPadding, flipped(c.b[:len(c.b)-4], c.bit))
		add(c.name+"-padding-then-end-check", "padding", "the end check", "DEC-10 DEC-13", oracle.NonzeroPadding, flipped(c.b, c.bit, 8*len(c.b)-1))
		add(c.name+"-padding-then-trailing", "padding", "trailing data", "DEC-10 DEC-14", oracle.NonzeroPadding, flipped(joined(c.b, more), c.bit))
	}
	add("ack-bits-missing-then-padding", "missing bits", "padding (what is there is all ones)", "DEC-9 DEC-10", oracle.Truncated, rawFrame(bitsOf(ackBit, 1), ackHead(7, 9), bitsOf(0x7f, 7)))
	add("ack-padding-then-no-end-check", "padding", "a missing end check", "DEC-10 DEC-12", oracle.NonzeroPadding, flipped(bits[:9], 66))
	add("ack-padding-then-half-an-end-check", "padding", "a missing end check", "DEC-10 DEC-12", oracle.NonzeroPadding, flipped(bits[:11], 71))
	add("ack-padding-then-end-check", "padding", "the end check", "DEC-10 DEC-13", oracle.NonzeroPadding, flipped(bits, 66, 103))
	add("ack-padding-then-trailing", "padding", "trailing data", "DEC-10 DEC-14", oracle.NonzeroPadding, flipped(joined(bits, more), 71))
	for _, c := range spoiled {
		whole := datagram(c.p)
		add(c.name+"-end-check-cut-and-wrong", "that the end check is cut off", "that it is wrong", "DEC-12 DEC-13", oracle.Truncated, flipped(whole[:len(whole)-1], 8*len(whole)-32))
		add(c.name+"-end-check-then-trailing", "the end check", "trailing data", "DEC-13 DEC-14", oracle.BadEndCheck, flipped(joined(whole, more), 8*len(whole)-1))
		add(c.name+"-trailing-end-check", "the end check", "trailing data, though the last four bytes are right", "DEC-13 DEC-14", oracle.BadEndCheck, joined(whole[:len(whole)-4], []byte{0}, whole[len(whole)-4:]))
	}
}

// crcFirst are datagrams with another fault, whose crc is that of the whole one;
// damaged has more of them.
func (g *group) crcFirst() {
	last, bits := datagram(smallSlice), datagram(smallAck)
	for _, c := range []struct {
		name, then, sentence string
		b                    []byte
	}{
		{"slice-id", "slice_id out of range", "DEC-7", flipped(last, 56)},
		{"slice-cut", "missing data", "DEC-11", last[:11]},
		{"slice-without-end-check", "a missing end check", "DEC-12", last[:13]},
		{"slice-trailing", "trailing data", "DEC-14", joined(last, []byte{0})},
		{"slice-end-check-and-trailing", "the end check or trailing data", "DEC-13", flipped(joined(last, []byte{0}), 8*len(last)-1)},
		{"ack-num-slices", "missing bits", "DEC-9", flipped(bits, 56)},
		{"ack-trailing", "trailing data", "DEC-14", joined(bits, []byte{0})},
	} {
		g.decode("order-crc-then-"+c.name, about{
			fmt.Sprintf("Catches a decoder that reports %s before the crc, which comes first on the wire.", c.then), "check-order crc-unchecked", "DEC-2 DEC-15 " + c.sentence,
		}, oracle.CRCMismatch, usualID, c.b)
	}
}
