package main

import (
	"fmt"

	"github.com/chunkwire/chunkwire/conform/oracle"
)

// bitPacking is section 3, seen through bodies: each bit of each field alone, so
// that a wrong place, width or order shows as itself.
func bitPacking(g *group) {
	g.chunkIDBits()
	g.countBits()
	g.sizeBits()
	g.bitmapBits()
	g.chunkIDPatterns()
}

func (g *group) chunkIDBits() {
	for k := range 16 {
		v := int64(1) << k
		g.encodeBody(fmt.Sprintf("chunk-id-bit-%d-encode", k), about{
			fmt.Sprintf("Catches an encoder that does not put bit %d of chunk_id, and nothing else, at bit %d of the body: most significant bit first it would be at %d, big-endian at %d.", k, k, 15-k, (k+8)%16),
			"bit-order byte-order field-width", "BIT-1 BIT-2 ACK-1",
		}, accepted, ack(v, []bool{true}))
		g.decodeBody(fmt.Sprintf("chunk-id-bit-%d-decode", k), about{
			fmt.Sprintf("Catches a decoder that reads bit %d of a slice's body as another bit of chunk_id than %d, or that keeps fewer than %d bits.", k, k, k+1),
			"bit-order byte-order field-width", "BIT-1 BIT-2 SLC-1",
		}, accepted, oracle.TypeSlice, body(slice(v, 0, 1, []byte{0x5a})))
	}
}

// countBits are the bits of num_slices and slice_id, each with the other fields
// zero as far as that can be.
func (g *group) countBits() {
	for k := range 8 {
		v := int64(1) << k
		n := int(v) + 1
		g.encodeBody(fmt.Sprintf("ack-num-slices-bit-%d", k), about{
			fmt.Sprintf("Catches an encoder that stores num_slices %d as it is, or whose bit %d of num_slices-1 is not bit %d of the body.", n, k, 16+k),
			"minus-one bit-order field-width", "BIT-3 ACK-1",
		}, accepted, ack(0, acked(n, none)))
		g.decodeBody(fmt.Sprintf("ack-num-slices-bit-%d-decode", k), about{
			fmt.Sprintf("Catches a decoder that reads num_slices %d without adding one, or from elsewhere than bit %d of the body: the number of characters in acked shows it.", n, 16+k),
			"minus-one bit-order field-width", "BIT-3 ACK-1",
		}, accepted, oracle.TypeAck, body(ack(0, acked(n, none))))
		g.encodeBody(fmt.Sprintf("slice-id-bit-%d", k), about{
			fmt.Sprintf("Catches an encoder that adds one to slice_id %d or subtracts one, or whose bit %d of it is not bit %d of the body. num_slices is 256, all ones, so that the two bytes cannot be swapped unseen.", v, k, 16+k),
			"minus-one bit-order field-width", "BIT-3 SLC-1",
		}, accepted, slice(0, v, 256, repeated(0, 1024)))
		g.decodeBody(fmt.Sprintf("slice-num-slices-bit-%d", k), about{
			fmt.Sprintf("Catches a decoder that reads num_slices %d without adding one, or from elsewhere than bit %d of a slice's body.", n, 24+k),
			"minus-one bit-order field-width", "BIT-3 SLC-1",
		}, accepted, oracle.TypeSlice, body(slice(0, 0, int64(n), repeated(0, 1024))))
	}
}

func (g *group) sizeBits() {
	for k := range 10 {
		n := 1<<k + 1
		p := slice(0, 0, 1, sample(n))
		g.encodeBody(fmt.Sprintf("slice-bytes-bit-%d", k), about{
			fmt.Sprintf("Catches an encoder that stores slice_bytes %d as it is, in other than 10 bits, or whose bit %d of slice_bytes-1 is not bit %d of the body.", n, k, 32+k),
			"minus-one bit-order field-width", "BIT-3 SLC-1",
		}, accepted, p)
		g.decodeBody(fmt.Sprintf("slice-bytes-bit-%d-decode", k), about{
			fmt.Sprintf("Catches a decoder that reads slice_bytes %d without adding one, or loses bit %d of it.", n, k),
			"minus-one bit-order field-width data-length", "BIT-3 SLC-1",
		}, accepted, oracle.TypeSlice, body(p))
	}
}

// bitmapPlaces are slices around the ends of the words in which a bitmap is held.
var bitmapPlaces = []int{0, 1, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 127, 128, 191, 192, 254, 255}

func (g *group) bitmapBits() {
	for _, k := range bitmapPlaces {
		why := fmt.Sprintf("Catches an encoder whose bit for slice %d is not bit %d of the body: bits from the most significant of a byte, words in the wrong order, or a shift that is cut off at 32.", k, 24+k)
		g.encodeBody(fmt.Sprintf("acked-only-%d", k), about{why, "bit-order word-boundary", "BIT-1 BIT-4 ACK-1 ACK-2"}, accepted, ack(0, acked(256, only(k))))
		g.decodeBody(fmt.Sprintf("acked-all-but-%d", k), about{
			fmt.Sprintf("Catches a decoder that reads another bit than %d for slice %d, or fills whole bytes or words with ones.", 24+k, k),
			"bit-order word-boundary", "BIT-1 BIT-4 ACK-1 ACK-2",
		}, accepted, oracle.TypeAck, body(ack(0, acked(256, allBut(k)))))
	}
}

func (g *group) chunkIDPatterns() {
	for _, v := range []struct {
		id      int64
		mistake string
	}{
		{0x0000, "writes chunk_id less one, or refuses 0"},
		{0x1234, "writes chunk_id big-endian (12 34)"},
		{0x00ff, "swaps the bytes of chunk_id"},
		{0xff00, "sign-extends or drops the upper byte of chunk_id"},
		{0x7fff, "treats chunk_id as a signed number and refuses what is above this"},
		{0x8000, "treats chunk_id as a signed number: -32768"},
		{0xffff, "treats the largest chunk_id as -1, or as none"},
		{0x1e6a, "turns the bits of each byte around (this id has no symmetry)"},
	} {
		why := about{"Catches an implementation that " + v.mistake + ".", "byte-order bit-order integer-wrap", "BIT-1 BIT-2 SLC-1"}
		p := slice(v.id, 0, 1, []byte{1})
		g.encodeBody(fmt.Sprintf("chunk-id-%04x-encode", v.id), why, accepted, p)
		g.decodeBody(fmt.Sprintf("chunk-id-%04x-decode", v.id), why, accepted, oracle.TypeSlice, body(p))
	}
}
