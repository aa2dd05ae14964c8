package main

import (
	"fmt"

	"github.com/chunkwire/chunkwire/conform/oracle"
)

// refuseBody is bare bodies with one fault each, and their twins without it.
func refuseBody(g *group) {
	g.cutBodies()
	g.bodyLengths()
	g.bodyPadding()
	g.bodySliceIDs()
	g.bodySizes()
	g.bodyOrder()
}

// part names what a cut goes through, by the body's bytes.
func part(names []string, n int) string { return names[min(n, len(names)-1)] }

func (g *group) cutBodies() {
	whole := body(slice(7, 2, 3, sample(3)))
	names := []string{"chunk_id", "chunk_id", "slice_id", "num_slices", "slice_bytes", "slice_bytes", "data"}
	for n := range len(whole) {
		g.decodeBody(fmt.Sprintf("slice-cut-to-%d", n), about{
			fmt.Sprintf("Catches a decoder that reads %s past the %d bytes that are there.", part(names, n), n),
			"truncation", sentenceOf("chunk-body", oracle.TypeSlice, whole[:n]) + " LAW-3",
		}, oracle.Truncated, oracle.TypeSlice, whole[:n])
	}
	g.decodeBody("slice-not-cut", about{"The twin of the cut ones: catches a decoder that refuses too much.", "truncation", "LAW-2"}, accepted, oracle.TypeSlice, whole)
	whole = body(ack(7, acked(9, even)))
	names = []string{"chunk_id", "chunk_id", "num_slices", "acked", "acked"}
	for n := range len(whole) {
		g.decodeBody(fmt.Sprintf("ack-cut-to-%d", n), about{
			fmt.Sprintf("Catches a decoder that reads %s past the %d bytes that are there.", part(names, n), n),
			"truncation", sentenceOf("chunk-body", oracle.TypeAck, whole[:n]) + " LAW-3",
		}, oracle.Truncated, oracle.TypeAck, whole[:n])
	}
	g.decodeBody("ack-not-cut", about{"The twin of the cut ones: catches a decoder that refuses too much.", "truncation", "LAW-2"}, accepted, oracle.TypeAck, whole)
}

// bodyLengths are a byte too few and a byte too many.
func (g *group) bodyLengths() {
	for _, n := range []int{1, 7, 8, 9, 16, 17, 32, 33, 64, 65, 128, 129, 255, 256} {
		whole := body(ack(1, acked(n, all)))
		g.decodeBody(fmt.Sprintf("ack-of-%d-short", n), about{
			fmt.Sprintf("Catches a decoder that accepts an ack of %d slices with a byte too few, and reads bits past its end or as zero.", n), "truncation word-boundary", "DEC-9 LAW-3",
		}, oracle.Truncated, oracle.TypeAck, whole[:len(whole)-1])
		g.decodeBody(fmt.Sprintf("ack-of-%d-long", n), about{
			fmt.Sprintf("Catches a decoder that ignores a zero byte after an ack of %d slices.", n), "trailing-data", "DEC-14 LAW-1",
		}, oracle.TrailingData, oracle.TypeAck, joined(whole, []byte{0}))
	}
	for _, c := range []struct {
		name string
		p    oracle.Packet
	}{{"middle", slice(1, 0, 2, sample(1024))}, {"full-last", slice(1, 1, 2, sample(1024))}, {"smallest", slice(1, 0, 1, []byte{9})}} {
		whole := body(c.p)
		head := len(whole) - len(c.p.Data)
		for _, cut := range []int{len(whole) - 1, head} {
			if c.name == "smallest" && cut == head {
				continue
			}
			g.decodeBody(fmt.Sprintf("%s-cut-to-%d", c.name, cut), about{
				fmt.Sprintf("Catches a decoder that returns %d bytes of data where the slice has %d.", cut-head, len(c.p.Data)), "truncation data-length", "DEC-11 SLC-3 LAW-3",
			}, oracle.Truncated, oracle.TypeSlice, whole[:cut])
		}
		g.decodeBody(c.name+"-whole", about{"The twin of the short and the long ones: catches a decoder that refuses too much.", "data-length", "LAW-2"}, accepted, oracle.TypeSlice, whole)
		g.decodeBody(c.name+"-long", about{"Catches a decoder that takes all bytes that are left as data, or ignores the last one.", "trailing-data data-length", "DEC-14 SLC-3"}, oracle.TrailingData, oracle.TypeSlice, joined(whole, []byte{0}))
	}
}

func (g *group) bodyPadding() {
	whole := body(slice(7, 2, 3, sample(3)))
	for bit := 42; bit < 48; bit++ {
		g.decodeBody(fmt.Sprintf("slice-padding-bit-%d", bit), about{
			fmt.Sprintf("Catches a decoder that does not check bit %d, between slice_bytes and the data.", bit), "padding", "DEC-10 LAW-1 LAW-2",
		}, oracle.NonzeroPadding, oracle.TypeSlice, flipped(whole, bit))
	}
	for n := 1; n < 8; n++ {
		whole := body(ack(7, acked(n, all)))
		for bit := 24 + n; bit < 32; bit++ {
			g.decodeBody(fmt.Sprintf("ack-of-%d-padding-bit-%d", n, bit), about{
				fmt.Sprintf("Catches a decoder that does not check bit %d, number %d of the %d after the bits of %d slices.", bit, bit-23-n, 8-n, n), "padding", "DEC-10 LAW-1 LAW-2",
			}, oracle.NonzeroPadding, oracle.TypeAck, flipped(whole, bit))
		}
	}
}

func (g *group) bodySliceIDs() {
	for _, n := range sliceCounts {
		if n == 256 {
			continue // no id of 8 bits is out of its range
		}
		v := uint64(n)
		g.decodeBody(fmt.Sprintf("slice-%d-of-%d", n, n), about{
			fmt.Sprintf("Catches a decoder that accepts slice_id %d of %d slices; the last legal one is slice-body/last-of-%d-slices-decode.", n, n, n), "slice-id", "DEC-7 SLC-2",
		}, oracle.SliceIDOutOfRange, oracle.TypeSlice, rawBody(sliceHead(1, v, v), bytesOf(sample(1024))))
	}
	for _, c := range []struct{ id, n uint64 }{{255, 1}, {255, 128}, {128, 1}, {2, 1}} {
		g.decodeBody(fmt.Sprintf("slice-%d-of-%d", c.id, c.n), about{
			fmt.Sprintf("Catches a decoder that compares slice_id %d with %d slices for equality only, or as signed bytes.", c.id, c.n), "slice-id integer-wrap", "DEC-7 SLC-2",
		}, oracle.SliceIDOutOfRange, oracle.TypeSlice, rawBody(sliceHead(1, c.id, c.n), bytesOf(sample(1024))))
	}
	g.decodeBody("slice-255-of-256", about{"The twin of those out of range: catches a decoder that stores num_slices in a byte, where 256 is 0.", "slice-id integer-wrap", "SLC-2 LAW-2"}, accepted, oracle.TypeSlice, rawBody(sliceHead(1, 255, 256), sizeOf(1), bytesOf([]byte{5})))
	g.decodeBody("slice-3-of-3-with-size", about{"Catches a decoder that treats every slice_id from num_slices-1 on as the last slice's.", "slice-id last-slice", "DEC-7 SLC-2"}, oracle.SliceIDOutOfRange, oracle.TypeSlice, rawBody(sliceHead(1, 3, 3), sizeOf(2), bytesOf([]byte{5, 6})))
}

// bodySizes are last slices whose slice_bytes is not the data's length.
func (g *group) bodySizes() {
	for _, n := range []int{2, 9, 256, 257, 512, 1024} {
		g.decodeBody(fmt.Sprintf("size-%d-but-%d", n, n-1), about{
			fmt.Sprintf("Catches a decoder that takes what is left as the data though slice_bytes says %d.", n), "data-length truncation", "DEC-11 SLC-3",
		}, oracle.Truncated, oracle.TypeSlice, rawBody(sliceHead(1, 0, 1), sizeOf(uint64(n)), bytesOf(sample(n-1))))
	}
	for _, n := range []int{1, 8, 255, 256, 511, 1023} {
		g.decodeBody(fmt.Sprintf("size-%d-but-%d", n, n+1), about{
			fmt.Sprintf("Catches a decoder that takes what is left as the data, or ignores it, though slice_bytes says %d.", n), "data-length trailing-data", "DEC-14 SLC-3",
		}, oracle.TrailingData, oracle.TypeSlice, rawBody(sliceHead(1, 0, 1), sizeOf(uint64(n)), bytesOf(sample(n+1))))
	}
	g.decodeBody("size-in-a-middle-slice", about{"Catches a decoder that expects slice_bytes in every slice: here it is in one that is not the last, so two bytes are too many.", "last-slice", "DEC-14 SLC-1"}, oracle.TrailingData, oracle.TypeSlice, rawBody(sliceHead(1, 0, 2), bitsOf(0, 10), bytesOf(sample(1024))))
	g.decodeBody("no-size-in-the-last-slice", about{"Catches a decoder that expects slice_bytes in no slice: the first data bytes, 01 02, are read as size 514 and padding.", "last-slice padding", "SLC-1 DEC-11"}, oracle.Truncated, oracle.TypeSlice, rawBody(sliceHead(1, 1, 2), bytesOf([]byte{1, 2, 3, 4, 5, 6, 7, 8})))
	g.decodeBody("short-middle-slice", about{"Catches a decoder that accepts a slice that is not the last, with 5 bytes.", "data-length last-slice", "DEC-11 SLC-3"}, oracle.Truncated, oracle.TypeSlice, rawBody(sliceHead(1, 0, 2), bytesOf(sample(5))))
	g.decodeBody("slice-as-ack", about{"Catches a decoder that guesses the type from the content.", "type-bit trailing-data", "DEC-14 ACK-1"}, oracle.TrailingData, oracle.TypeAck, body(slice(7, 2, 3, sample(5))))
	g.decodeBody("ack-as-slice", about{"Catches a decoder that guesses the type from the content.", "type-bit slice-id", "DEC-7 SLC-2"}, oracle.SliceIDOutOfRange, oracle.TypeSlice, body(ack(7, acked(9, only(0)))))
}

// bodyOrder are bodies with two faults.
func (g *group) bodyOrder() {
	add := func(name, first, then, sentence, want, kind string, b []byte) {
		g.decodeBody("order-"+name, about{"Catches a decoder that reports " + then + " before " + first + ", which comes first on the wire.", "check-order", sentence + " DEC-15"}, want, kind, b)
	}
	add("cut-before-slice-id", "that num_slices is missing", "that slice_id 255 is out of range", "DEC-6 DEC-7", oracle.Truncated, oracle.TypeSlice, []byte{1, 0, 255})
	add("slice-id-then-cut", "slice_id out of range", "missing data", "DEC-7 DEC-11", oracle.SliceIDOutOfRange, oracle.TypeSlice, rawBody(sliceHead(1, 1, 1)))
	add("slice-id-then-padding", "slice_id out of range", "padding", "DEC-7 DEC-10", oracle.SliceIDOutOfRange, oracle.TypeSlice, flipped(rawBody(sliceHead(1, 4, 3), sizeOf(2), bytesOf([]byte{5, 6})), 47))
	add("slice-id-then-trailing", "slice_id out of range", "trailing data", "DEC-7 DEC-14", oracle.SliceIDOutOfRange, oracle.TypeSlice, rawBody(sliceHead(1, 4, 3), bytesOf(sample(1030))))
	last := body(slice(1, 0, 1, sample(4)))
	add("padding-then-cut", "padding", "missing data", "DEC-10 DEC-11", oracle.NonzeroPadding, oracle.TypeSlice, flipped(last[:9], 42))
	add("padding-then-no-data", "padding", "missing data", "DEC-10 DEC-11", oracle.NonzeroPadding, oracle.TypeSlice, flipped(last[:6], 47))
	add("padding-then-trailing", "padding", "trailing data", "DEC-10 DEC-14", oracle.NonzeroPadding, oracle.TypeSlice, flipped(joined(last, []byte{1}), 44))
	bits := body(ack(1, acked(9, all)))
	add("ack-padding-then-trailing", "padding", "trailing data", "DEC-10 DEC-14", oracle.NonzeroPadding, oracle.TypeAck, flipped(joined(bits, []byte{1}), 33))
}
