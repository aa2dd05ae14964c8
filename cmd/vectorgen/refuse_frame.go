package main

import (
	"fmt"

	"github.com/chunkwire/chunkwire/conform/oracle"
)

// refuseFrame is datagrams with one fault each, and their twins without it.
func refuseFrame(g *group) {
	g.shortest()
	g.cutFrames()
	g.cutAcks()
	g.crcVariants()
	g.damaged()
	g.foreignIDs()
	g.framePadding()
	g.frameSliceIDs()
	g.frameSizes()
	g.misaligned()
	g.endChecks()
	g.trailing()
	g.frameOrder()
}

// The packets whose datagrams are spoiled.
var (
	smallSlice  = slice(7, 2, 3, sample(3))       // 17 bytes, data at 10
	middleSlice = slice(8, 1, 3, sample(1024))    // 1,037 bytes, data at 9
	fullSlice   = slice(8, 2, 3, sample(1024))    // 1,038 bytes, data at 10
	smallAck    = ack(7, acked(9, even))          // 13 bytes, 6 padding bits
	largestAck  = ack(0xffff, acked(256, uneven)) // 44 bytes
	spoiled     = []spoil{{"slice", smallSlice}, {"ack", smallAck}}
)

// spoil is a packet by the name that it has in names.
type spoil struct {
	name string
	p    oracle.Packet
}

func (g *group) shortest() {
	for n := range 4 {
		g.decode(fmt.Sprintf("%d-bytes", n), about{
			fmt.Sprintf("Catches a decoder that reads a crc of 4 bytes from %d, or reports crc_mismatch where there is no crc.", n), "truncation check-order", "DEC-1 LAW-3",
		}, oracle.Truncated, usualID, datagram(smallSlice)[:n])
	}
	g.decode("crc-only", about{"A 4-byte datagram whose CRC is valid. Catches decoders that crash or read the type bit past the end.", "truncation", "DEC-3 LAW-3"}, oracle.Truncated, usualID, oracle.Seal(usualID, nil))
	g.decode("wrong-crc-only", about{"A 4-byte datagram whose CRC is wrong. Catches decoders that report every datagram of 4 bytes as truncated.", "crc-unchecked check-order", "DEC-2"}, oracle.CRCMismatch, usualID, []byte{1, 2, 3, 4})
	g.decode("4-zero-bytes", about{"Catches a decoder whose CRC of no bytes is 0.", "crc-algorithm check-order", "DEC-2"}, oracle.CRCMismatch, usualID, make([]byte, 4))
	for _, bit := range []uint64{sliceBit, ackBit} {
		g.decode(fmt.Sprintf("type-%d-and-7-bits", bit), about{"Catches a decoder that reads chunk_id from 7 bits.", "truncation", "DEC-4 LAW-3"}, oracle.Truncated, usualID, rawFrame(bitsOf(bit, 1)))
	}
}

// cutFrames are datagrams that end too early, with the crc of what is left.
func (g *group) cutFrames() {
	for _, c := range []struct {
		spoil
		cuts []int
	}{
		{spoil{"slice", smallSlice}, upTo(17)},
		{spoil{"middle-slice", middleSlice}, []int{9, 10, 1032, 1033, 1034, 1036}},
		{spoil{"full-slice", fullSlice}, []int{9, 10, 11, 1033, 1034, 1037}},
		{spoil{"ack", smallAck}, upTo(13)},
		{spoil{"largest-ack", largestAck}, upTo(44)},
	} {
		whole := datagram(c.p)
		for _, n := range c.cuts {
			at := sentenceOf("chunk-datagram", "", resealed(whole[:n]))
			g.decode(fmt.Sprintf("%s-cut-to-%d", c.name, n), about{
				fmt.Sprintf("Catches a decoder that trusts the crc and does not check that the field of %s lies within the %d bytes.", at, n), "truncation", at + " LAW-3",
			}, oracle.Truncated, usualID, resealed(whole[:n]))
		}
		g.decode(c.name+"-not-cut", about{"The twin of the cut ones: catches a decoder that refuses too much.", "truncation", "LAW-2"}, accepted, usualID, whole)
		for _, n := range []int{4, len(whole) - 5, len(whole) - 1} {
			g.decode(fmt.Sprintf("%s-cut-to-%d-crc-kept", c.name, n), about{
				fmt.Sprintf("Catches a decoder that checks lengths before the crc: the network has cut the datagram to %d bytes, so its crc is wrong.", n), "check-order crc-unchecked", "DEC-2",
			}, oracle.CRCMismatch, usualID, whole[:n])
		}
	}
}

// upTo is the lengths from 5 on of a datagram that is cut.
func upTo(n int) (cuts []int) {
	for k := 5; k < n; k++ {
		cuts = append(cuts, k)
	}
	return cuts
}

// cutAcks are acks with a byte of bits too few or too many, and without their end
// check.
func (g *group) cutAcks() {
	for _, n := range []int{8, 15, 16, 23, 24, 31, 32, 39, 40, 64, 71, 128, 129, 255, 256} {
		whole := datagram(ack(1, acked(n, all)))
		bits := whole[:len(whole)-4]
		g.decode(fmt.Sprintf("ack-of-%d-a-byte-short", n), about{
			fmt.Sprintf("Catches a decoder that reads the last of %d bits past the datagram: there is nothing after the byte before it.", n), "truncation word-boundary", "DEC-9 LAW-3",
		}, oracle.Truncated, usualID, resealed(bits[:len(bits)-1]))
		g.decode(fmt.Sprintf("ack-of-%d-without-end", n), about{
			fmt.Sprintf("Catches a decoder that needs no end check after %d bits, or reads it past the datagram.", n), "truncation end-check", "DEC-12 LAW-3",
		}, oracle.Truncated, usualID, resealed(bits))
		g.decode(fmt.Sprintf("ack-of-%d-a-byte-long", n), about{
			fmt.Sprintf("Catches a decoder that treats a zero byte between %d bits and the end check as more padding.", n), "trailing-data word-boundary alignment", "DEC-13 LAW-1",
		}, oracle.BadEndCheck, usualID, resealed(joined(bits, []byte{0}, whole[len(bits):])))
		g.decode(fmt.Sprintf("ack-of-%d-whole", n), about{"The twin of the short ones and the long one: catches a decoder that refuses too much.", "truncation word-boundary", "LAW-2"}, accepted, usualID, whole)
	}
}

// frameSliceIDs are slices that their chunk does not have.
func (g *group) frameSliceIDs() {
	for _, n := range sliceCounts {
		if n == 256 {
			continue // no id of 8 bits is out of its range
		}
		v := uint64(n)
		g.decode(fmt.Sprintf("slice-%d-of-%d", n, n), about{
			fmt.Sprintf("Catches a decoder that accepts slice_id %d of %d slices: all else is as in a slice that is not the last.", n, n), "slice-id", "DEC-7 SLC-2",
		}, oracle.SliceIDOutOfRange, usualID, rawFrame(bitsOf(sliceBit, 1), sliceHead(1, v, v), bytesOf(sample(1024)), endCheck))
		g.decode(fmt.Sprintf("slice-%d-of-%d", n-1, n), about{
			fmt.Sprintf("The twin of slice-%d-of-%d, the last legal slice_id: catches a decoder that refuses it, too.", n, n), "slice-id minus-one", "LAW-2 SLC-2",
		}, accepted, usualID, rawFrame(bitsOf(sliceBit, 1), sliceHead(1, v-1, v), sizeOf(1), bytesOf([]byte{5}), endCheck))
	}
	for _, c := range []struct{ id, n uint64 }{{1, 1}, {2, 1}, {3, 3}, {128, 127}, {255, 1}, {255, 254}} {
		g.decode(fmt.Sprintf("slice-%d-of-%d-with-size", c.id, c.n), about{
			fmt.Sprintf("Catches a decoder that treats slice_id %d, beyond the last of %d, as the last one's: all else is as there.", c.id, c.n), "slice-id last-slice integer-wrap", "DEC-7 SLC-2",
		}, oracle.SliceIDOutOfRange, usualID, rawFrame(bitsOf(sliceBit, 1), sliceHead(1, c.id, c.n), sizeOf(1), bytesOf([]byte{5}), endCheck))
	}
}

// frameSizes are slices whose length is not their slice_bytes.
func (g *group) frameSizes() {
	for _, c := range []struct {
		says, has int
		want      string
	}{
		{4, 5, oracle.BadEndCheck}, {255, 256, oracle.BadEndCheck}, {256, 257, oracle.BadEndCheck}, {1023, 1024, oracle.BadEndCheck}, {1, 2, oracle.BadEndCheck},
		{6, 5, oracle.Truncated}, {9, 5, oracle.Truncated}, {10, 5, oracle.Truncated}, {256, 255, oracle.Truncated}, {257, 256, oracle.Truncated}, {1024, 1023, oracle.Truncated}, {1024, 1, oracle.Truncated},
	} {
		sentence := map[bool]string{true: "DEC-13", false: "DEC-12"}[c.want == oracle.BadEndCheck]
		if c.says >= c.has+5 {
			sentence = "DEC-11"
		}
		g.decode(fmt.Sprintf("size-%d-but-%d", c.says, c.has), about{
			fmt.Sprintf("Catches a decoder that takes what precedes the end check as data, %d bytes, though slice_bytes says %d.", c.has, c.says), "data-length end-check", sentence + " SLC-3",
		}, c.want, usualID, rawFrame(bitsOf(sliceBit, 1), sliceHead(1, 0, 1), sizeOf(uint64(c.says)), bytesOf(sample(c.has)), endCheck))
	}
	for _, c := range []struct {
		has  int
		want string
		id   string
	}{{1023, oracle.Truncated, "DEC-12"}, {1019, oracle.Truncated, "DEC-11"}, {0, oracle.Truncated, "DEC-11"}, {5, oracle.Truncated, "DEC-11"}, {1025, oracle.BadEndCheck, "DEC-13"}, {2048, oracle.BadEndCheck, "DEC-13"}} {
		g.decode(fmt.Sprintf("middle-of-%d-bytes", c.has), about{
			fmt.Sprintf("Catches a decoder that accepts %d bytes as the data of a slice that is not the last.", c.has), "data-length last-slice", c.id + " SLC-3",
		}, c.want, usualID, rawFrame(bitsOf(sliceBit, 1), sliceHead(1, 0, 2), bytesOf(sample(c.has)), endCheck))
	}
	g.decode("middle-of-1024-bytes", about{"The twin of those of other lengths: catches a decoder that refuses too much.", "data-length last-slice", "LAW-2 SLC-3"}, accepted, usualID, rawFrame(bitsOf(sliceBit, 1), sliceHead(1, 0, 2), bytesOf(sample(1024)), endCheck))
}

// trailing is bytes behind the end check.
func (g *group) trailing() {
	end := []byte{0xe2, 0xac, 0x08, 0x99}
	for _, c := range []spoil{{"slice", smallSlice}, {"middle-slice", middleSlice}, {"full-slice", fullSlice}, {"ack", smallAck}, {"largest-ack", largestAck}} {
		whole := datagram(c.p)
		for _, more := range []struct {
			name, mistake string
			b             []byte
		}{
			{"zero", "ignores a zero byte after the end", []byte{0}},
			{"byte", "ignores a byte after the end", []byte{0xff}},
			{"end-check", "looks for the end check in the last four bytes", end},
			{"kilobyte", "has a buffer for the largest datagram, or cuts off what is longer", make([]byte, 1024)},
			{"datagram", "reads one packet after the other from a datagram", whole},
		} {
			if more.name == "datagram" && len(whole) > 1000 {
				continue
			}
			g.decode(c.name+"-and-"+more.name, about{"Catches a decoder that " + more.mistake + ".", "trailing-data", "DEC-14 LAW-1 LIM-4"}, oracle.TrailingData, usualID, resealed(joined(whole, more.b)))
		}
	}
}
