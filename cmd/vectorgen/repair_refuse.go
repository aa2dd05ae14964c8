package main

import (
	"fmt"
	"strings"

	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/stream"
)

// repairRefuse is packets that a decoder or an encoder refuses, with their twins.
func repairRefuse(g *group) {
	g.repairCut()
	g.repairLengths()
	g.repairPadding()
	g.repairHave()
	g.repairFrame()
	g.repairOrder()
	g.repairEncoders()
}

// The packets that are spoiled: a repair slice and the only slice of its chunk, and an ack.
var (
	smallRepair  = repairSliceOf(7, 2, 2, 3)
	onlySlice    = repairSliceOf(7, 300, 1, 3)
	smallCounted = repairAckOf(7, 9, 5, 700)
)

// cutPart is a part of a packet that a cut goes through.
type cutPart struct {
	name, sentence string
	end            int // in bits, behind it
}

var (
	sliceParts = []cutPart{{"chunk_id", "DEC-4", 16}, {"the id", "RPD-1", 29}, {"num_slices", "DEC-6", 37}, {"last_bytes", "RPD-2", 47}, {"the data", "DEC-11", 47 + 8*3}}
	ackParts   = []cutPart{{"chunk_id", "DEC-4", 16}, {"num_slices", "DEC-6", 24}, {"have", "RPD-3", 33}, {"top", "RPD-5", 46}}
)

// cutAt returns the part that is not whole in so many bits.
func cutAt(parts []cutPart, bits int) cutPart {
	for _, p := range parts {
		if bits < p.end {
			return p
		}
	}
	return cutPart{"the end check", "DEC-12", 0}
}

func (g *group) repairCut() {
	for _, c := range []struct {
		name  string
		p     repairoracle.Packet
		parts []cutPart
	}{{"slice", onlySlice, sliceParts}, {"ack", smallCounted, ackParts}} {
		whole := repairBody(c.p)
		for n := range len(whole) {
			at := cutAt(c.parts, 8*n)
			g.repairDecodeBody(fmt.Sprintf("%s-body-cut-to-%d", c.name, n), about{
				fmt.Sprintf("Catches a decoder that reads %s past the %d bytes that are there.", at.name, n), "truncation", at.sentence + " LAW-3",
			}, repairoracle.Truncated, c.p.Type, whole[:n])
		}
		g.repairDecodeBody(c.name+"-body-not-cut", about{"The twin of the cut ones: catches a decoder that refuses too much.", "truncation", "LAW-2"}, accepted, c.p.Type, whole)
		datagram := repairDatagram(c.p)
		for n := range len(datagram) {
			if c.name == "ack" && (n == 0 || n == 4) {
				continue // a slice that is cut there is the same
			}
			b, at := datagram[:n], cutPart{name: "the crc", sentence: "DEC-1"}
			if n >= 4 {
				b, at = resealed(b), cutAt(c.parts, 8*n-33)
			}
			if n == 4 {
				at = cutPart{name: "the type", sentence: "DEC-3"}
			}
			g.repairDecode(fmt.Sprintf("%s-cut-to-%d", c.name, n), about{
				fmt.Sprintf("Catches a decoder that reads %s past the %d bytes that are there; the crc is right.", at.name, n), "truncation", at.sentence + " LAW-3",
			}, repairoracle.Truncated, b)
		}
		g.repairDecode(c.name+"-not-cut", about{"The twin of the cut ones: catches a decoder that refuses too much.", "truncation", "LAW-2"}, accepted, datagram)
	}
}

// repairLengths are bytes too few and too many, where the length of the data depends on the id.
func (g *group) repairLengths() {
	for _, c := range []struct {
		name        string
		k, last, id int64
	}{
		{"first", 2, 3, 0}, {"last", 2, 3, 1}, {"repair", 2, 3, 2}, {"only", 1, 3, 0}, {"only-repair", 1, 3, 1}, {"full-last", 2, 1024, 1}, {"repair-of-256", 256, 1, 511},
	} {
		whole := repairBody(repairSliceOf(1, c.id, c.k, c.last))
		size := len(whole) - 6
		g.repairDecodeBody(c.name+"-a-byte-short", about{fmt.Sprintf("Catches a decoder that takes %d bytes of data where the slice has %d.", size-1, size), "truncation data-length", "DEC-11 RPS-2"}, repairoracle.Truncated, repairoracle.TypeSlice, whole[:len(whole)-1])
		g.repairDecodeBody(c.name+"-a-byte-long", about{fmt.Sprintf("Catches a decoder that takes all that is left as data: the slice has %d bytes.", size), "trailing-data data-length", "DEC-14 RPS-2"}, repairoracle.TrailingData, repairoracle.TypeSlice, joined(whole, []byte{0}))
		g.repairDecodeBody(c.name+"-whole", about{"The twin of the short and the long one.", "data-length", "LAW-2 RPS-2"}, accepted, repairoracle.TypeSlice, whole)
		if size == 1024 {
			short := whole[:6+c.last]
			if int64(size) != c.last {
				g.repairDecodeBody(c.name+"-of-last-bytes", about{"Catches a decoder that gives each slice the size of the last one.", "truncation data-length", "DEC-11 RPS-2"}, repairoracle.Truncated, repairoracle.TypeSlice, short)
			}
		} else {
			g.repairDecodeBody(c.name+"-of-1024", about{"Catches a decoder that gives this slice 1,024 bytes.", "trailing-data data-length", "DEC-14 RPS-2"}, repairoracle.TrailingData, repairoracle.TypeSlice, joined(whole, make([]byte, 1024-size)))
		}
	}
	g.repairDecodeBody("ack-a-byte-long", about{"Catches a decoder that ignores a zero byte after an ack.", "trailing-data", "DEC-14 LAW-1"}, repairoracle.TrailingData, repairoracle.TypeAck, joined(repairBody(smallCounted), []byte{0}))
	g.repairDecodeBody("ack-of-named-slices", about{"Catches a decoder that takes the ack of another variant: 5 bytes, with a bit for each of 9 slices.", "have", "RPD-4"}, repairoracle.HaveOutOfRange, repairoracle.TypeAck, body(ack(7, acked(9, even))))
}

func (g *group) repairPadding() {
	why := func(bit int) about {
		return about{fmt.Sprintf("Catches a decoder that does not look at padding bit %d.", bit), "padding", "DEC-10 LAW-1"}
	}
	g.repairDecodeBody("slice-body-padding", why(47), repairoracle.NonzeroPadding, repairoracle.TypeSlice, flipped(repairBody(onlySlice), 47))
	g.repairDecodeBody("repair-slice-body-padding", why(47), repairoracle.NonzeroPadding, repairoracle.TypeSlice, flipped(repairBody(smallRepair), 47))
	for _, bit := range []int{46, 47} {
		g.repairDecodeBody(fmt.Sprintf("ack-body-padding-%d", bit), why(bit), repairoracle.NonzeroPadding, repairoracle.TypeAck, flipped(repairBody(smallCounted), bit))
	}
	g.repairDecode("ack-padding", why(79), repairoracle.NonzeroPadding, resealed(flipped(repairDatagram(smallCounted), 79)))
	g.repairDecode("slice-without-padding", about{"Catches a decoder that takes the last bit of last_bytes for padding: a slice's datagram has none.", "padding alignment", "RPS-1 LAW-2"}, accepted, repairDatagram(repairSliceOf(7, 0, 1, 1024)))
}

// rawAck is the body of an ack, whose values may be wrong.
func rawAck(numSlices, have, top uint64) []byte {
	var s stream.Stream
	s.Bits(7, 16)
	s.Bits(numSlices-1, 8)
	s.Bits(have, 9)
	s.Bits(top, 13)
	return s.Pack()
}

// rawAckDatagram is its datagram.
func rawAckDatagram(numSlices, have, top uint64) []byte {
	var s stream.Stream
	s.Bits(0, 32)
	s.Bits(1, 1)
	s.Bits(7, 16)
	s.Bits(numSlices-1, 8)
	s.Bits(have, 9)
	s.Bits(top, 13)
	s.Align()
	s.Bits(0x9908ACE2, 32)
	return resealed(s.Pack())
}

func (g *group) repairHave() {
	for _, c := range []struct{ k, have uint64 }{{1, 2}, {1, 511}, {9, 10}, {255, 256}, {256, 257}, {256, 511}, {128, 384}} {
		why := about{fmt.Sprintf("Catches a decoder that believes an ack of %d of %d slices.", c.have, c.k), "have", "RPD-4"}
		g.repairDecodeBody(fmt.Sprintf("ack-body-%d-of-%d", c.have, c.k), why, repairoracle.HaveOutOfRange, repairoracle.TypeAck, rawAck(c.k, c.have, 8000))
		g.repairDecode(fmt.Sprintf("ack-%d-of-%d", c.have, c.k), why, repairoracle.HaveOutOfRange, rawAckDatagram(c.k, c.have, 8000))
		g.repairDecodeBody(fmt.Sprintf("ack-body-%d-not-%d", c.k, c.have), about{"A twin: have may be num_slices.", "have", "RPD-4 LAW-2"}, accepted, repairoracle.TypeAck, rawAck(c.k, c.k, 7000+c.have))
	}
}

func (g *group) repairFrame() {
	for _, c := range []struct {
		name string
		p    repairoracle.Packet
		bits []place
	}{
		{"slice", onlySlice, []place{{0, "crc"}, {31, "crc"}, {32, "type"}, {33, "chunk_id"}, {49, "id"}, {61, "id"}, {62, "num_slices"}, {70, "last_bytes"}, {79, "last_bytes"}, {80, "data"}, {104, "end check"}, {135, "end check"}}},
		{"ack", smallCounted, []place{{7, "crc"}, {32, "type"}, {48, "chunk_id"}, {49, "num_slices"}, {57, "have"}, {66, "top"}, {78, "top"}, {79, "padding"}, {80, "end check"}, {111, "end check"}}},
	} {
		whole := repairDatagram(c.p)
		for _, at := range c.bits {
			g.repairDecode(fmt.Sprintf("%s-bit-%d-damaged", c.name, at.bit), about{
				fmt.Sprintf("Catches a decoder that leaves bit %d (%s) out of the crc.", at.bit, at.field), "crc-unchecked", "DEC-2 FRM-2",
			}, repairoracle.CRCMismatch, flipped(whole, at.bit))
		}
		for _, bit := range []int{8*len(whole) - 32, 8*len(whole) - 17, 8*len(whole) - 1} {
			g.repairDecode(fmt.Sprintf("%s-end-check-bit-%d", c.name, bit), about{"Catches a decoder that does not compare all of the end check; the crc is right.", "end-check", "DEC-13 FRM-6"}, repairoracle.BadEndCheck, resealed(flipped(whole, bit)))
		}
		g.repairDecode(c.name+"-trailing", about{"Catches a decoder that ignores a byte behind the end check.", "trailing-data", "DEC-14"}, repairoracle.TrailingData, resealed(joined(whole, []byte{0})))
		g.repairDecode(c.name+"-other-type", about{"Catches a decoder that reads a packet of the other type as its own.", "type-bit", "FRM-3 DEC-11 DEC-13"}, outcomeOfFlip(c.p), resealed(flipped(whole, 32)))
	}
	g.repairDecode("slice-of-the-other-variant", about{"Catches a decoder that takes a named slice, with a frame that is right: variants have protocol ids of their own, and nothing else distinguishes them.", "record-type", "DEC-11"}, repairoracle.Truncated, datagram(slice(7, 2, 3, sample(3))))
}

// outcomeOfFlip is what comes of a packet whose type bit is the other one.
func outcomeOfFlip(p repairoracle.Packet) string {
	if p.Type == repairoracle.TypeSlice {
		return repairoracle.BadEndCheck
	}
	return repairoracle.Truncated
}

// repairOrder are packets with two faults, of which the first on the wire is reported.
func (g *group) repairOrder() {
	add := func(name, first, then, sentences, want string, b []byte) {
		g.repairDecode("order-"+name, about{"Catches a decoder that reports " + then + " before " + first + ", which comes first on the wire.", "check-order", sentences + " DEC-15"}, want, resealed(b))
	}
	wrong := rawAckDatagram(9, 10, 700)
	add("have-then-top-missing", "have out of range", "missing bits of top", "RPD-4 RPD-5", repairoracle.HaveOutOfRange, wrong[:9])
	add("have-then-padding", "have out of range", "padding", "RPD-4 DEC-10", repairoracle.HaveOutOfRange, flipped(wrong, 79))
	add("have-then-end-check", "have out of range", "the end check", "RPD-4 DEC-13", repairoracle.HaveOutOfRange, flipped(wrong, 8*len(wrong)-1))
	add("have-then-trailing", "have out of range", "trailing data", "RPD-4 DEC-14", repairoracle.HaveOutOfRange, joined(wrong, []byte{0}))
	add("have-missing-then-out-of-range", "missing bits of have", "that have is out of range by those that are there", "RPD-3 RPD-4", repairoracle.Truncated, rawAckDatagram(1, 511, 0)[:8])
	good := repairDatagram(smallCounted)
	add("ack-padding-then-no-end-check", "padding", "a missing end check", "DEC-10 DEC-12", repairoracle.NonzeroPadding, flipped(good[:10], 79))
	add("ack-padding-then-end-check", "padding", "the end check", "DEC-10 DEC-13", repairoracle.NonzeroPadding, flipped(good, 79, 8*len(good)-1))
	add("ack-padding-then-trailing", "padding", "trailing data", "DEC-10 DEC-14", repairoracle.NonzeroPadding, flipped(joined(good, []byte{0}), 79))
	add("ack-end-check-then-trailing", "the end check", "trailing data", "DEC-13 DEC-14", repairoracle.BadEndCheck, flipped(joined(good, []byte{0}), 8*len(good)-1))
	slice := repairDatagram(onlySlice)
	add("slice-end-check-then-trailing", "the end check", "trailing data", "DEC-13 DEC-14", repairoracle.BadEndCheck, flipped(joined(slice, []byte{0}), 8*len(slice)-1))
	body := repairBody(onlySlice)
	g.repairDecodeBody("order-slice-body-padding-then-no-data", about{"Catches a decoder that reports missing data before padding.", "check-order", "DEC-10 DEC-11 DEC-15"}, repairoracle.NonzeroPadding, repairoracle.TypeSlice, flipped(body[:6], 47))
	g.repairDecodeBody("order-slice-body-padding-then-trailing", about{"Catches a decoder that reports trailing data before padding.", "check-order", "DEC-10 DEC-14 DEC-15"}, repairoracle.NonzeroPadding, repairoracle.TypeSlice, flipped(joined(body, []byte{0}), 47))
	for _, c := range []struct {
		name string
		b    []byte
	}{{"have", wrong}, {"cut", good[:9]}, {"padding", flipped(good, 79)}, {"trailing", joined(good, []byte{0})}, {"slice-cut", slice[:12]}} {
		b := joined(c.b)
		copy(b, []byte{1, 2, 3, 4})
		g.repairDecode("order-crc-then-"+c.name, about{"Catches a decoder that reports another fault before the crc.", "check-order crc-unchecked", "DEC-2 DEC-15"}, repairoracle.CRCMismatch, b)
	}
}

// repairEncoders are packets that cannot be represented, with their twins.
func (g *group) repairEncoders() {
	both := func(name string, why about, want string, p repairoracle.Packet) {
		name = strings.ReplaceAll(name, "--", "-minus-")
		g.repairEncode(name+"-body", why, want, nil, p)
		g.repairEncode(name+"-datagram", why, want, pointerTo(uint32(usualID)), p)
	}
	refuse := func(name, why, flags, sentence string, p repairoracle.Packet) {
		both("encode-"+name, about{"Catches an encoder that " + why + ".", "encoder " + flags, sentence}, repairoracle.InvalidField, p)
	}
	with := func(p repairoracle.Packet, change func(*repairoracle.Packet)) repairoracle.Packet {
		change(&p)
		return p
	}
	for _, v := range []int64{-1, 65536, 1 << 32} {
		refuse(fmt.Sprintf("slice-chunk-%d", v), "writes the low 16 bits of a chunk id", "integer-wrap", "ENC-1", with(onlySlice, func(p *repairoracle.Packet) { p.ChunkID = v }))
		refuse(fmt.Sprintf("ack-chunk-%d", v), "writes the low 16 bits of a chunk id", "integer-wrap", "ENC-1", with(smallCounted, func(p *repairoracle.Packet) { p.ChunkID = v }))
	}
	for _, v := range []int64{0, -1, 257, 512} {
		refuse(fmt.Sprintf("slice-of-%d", v), "writes the low 8 bits of num_slices - 1", "integer-wrap minus-one", "ENC-2", with(smallRepair, func(p *repairoracle.Packet) { p.NumSlices = v }))
		refuse(fmt.Sprintf("ack-of-%d", v), "writes the low 8 bits of num_slices - 1", "integer-wrap minus-one", "ENC-2", with(smallCounted, func(p *repairoracle.Packet) { p.NumSlices, p.Have = v, 0 }))
	}
	for _, v := range []int64{-1, 8192, 8193, 65536} {
		refuse(fmt.Sprintf("slice-id-%d", v), "writes the low 13 bits of an id", "integer-wrap slice-id", "RPE-1", with(onlySlice, func(p *repairoracle.Packet) { p.SliceID = v }))
		refuse(fmt.Sprintf("ack-top-%d", v), "writes the low 13 bits of top", "integer-wrap ack-content", "RPE-5", with(smallCounted, func(p *repairoracle.Packet) { p.Top = v }))
	}
	for _, v := range []int64{0, -1, 1025} {
		refuse(fmt.Sprintf("slice-last-%d", v), "writes the low 10 bits of last_bytes - 1", "integer-wrap minus-one", "RPE-2", with(smallRepair, func(p *repairoracle.Packet) { p.LastBytes = v }))
	}
	for _, c := range []struct {
		name        string
		k, last, id int64
		size        int
		why         string
	}{
		{"only-short", 1, 3, 0, 2, "does not compare the data with last_bytes"}, {"only-long", 1, 3, 0, 4, "does not compare the data with last_bytes"},
		{"only-repair-1024", 1, 3, 1, 1024, "takes 1,024 bytes for a repair slice of a chunk of 3 bytes"},
		{"last-1024", 2, 3, 1, 1024, "fills the last slice up"}, {"first-short", 2, 3, 0, 3, "takes last_bytes for the size of each slice"},
		{"repair-short", 2, 3, 2, 3, "takes last_bytes for the size of a repair slice"}, {"repair-1023", 2, 3, 8191, 1023, "writes a repair slice that is not full"},
		{"repair-empty", 2, 3, 8191, 0, "writes a slice without data"}, {"repair-1025", 2, 3, 3, 1025, "writes a slice above 1,024 bytes"},
	} {
		refuse("data-"+c.name, c.why, "data-length", "RPE-3", repairoracle.Packet{Type: repairoracle.TypeSlice, ChunkID: 1, SliceID: c.id, NumSlices: c.k, LastBytes: c.last, Data: sample(c.size)})
	}
	for _, c := range []struct{ k, have int64 }{{9, 10}, {1, 2}, {256, 257}, {9, -1}, {9, 512}} {
		refuse(fmt.Sprintf("ack-have-%d-of-%d", c.have, c.k), "writes more dimensions than the chunk has, or the low 9 bits of have", "have integer-wrap", "RPE-4", repairAckOf(7, c.k, c.have, 8191))
	}
	for _, kind := range []string{"nack", "Slice", "repair"} {
		refuse("type-"+kind, fmt.Sprintf("takes %q for a slice or an ack", kind), "type-bit", "ENC-6", repairoracle.Packet{Type: kind, NumSlices: 1})
	}
	for _, c := range []struct {
		name string
		p    repairoracle.Packet
	}{
		{"slice-largest", repairSliceOf(65535, 8191, 255, 1024)}, {"slice-smallest", repairSliceOf(0, 0, 1, 1)},
		{"ack-largest", repairAckOf(65535, 256, 256, 8191)}, {"ack-smallest", repairAckOf(0, 1, 0, 0)}, {"ack-have-above-top", repairAckOf(0, 9, 9, 0)},
	} {
		both("encode-"+c.name, about{"A twin of refused ones: catches an encoder that refuses too much.", "encoder size-limit", "RPE-6"}, accepted, c.p)
	}
}
