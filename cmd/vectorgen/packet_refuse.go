package main

import (
	"bytes"
	"fmt"

	"github.com/chunkwire/chunkwire/conform/oracle/packetoracle"
)

// packetRefuse is section 3.3: datagrams with one fault each and their twins without
// it, and some with two.
func packetRefuse(g *group) {
	g.refusePrefixes()
	g.cutRegular()
	g.cutFragments()
	g.refuseAcks()
	g.refusePayloads()
	g.refuseCounts()
	g.refuseEmbedded()
	g.refuseFragmentSizes()
	g.refusalOrder()
}

// with is b with one byte replaced.
func with(b []byte, at int, v byte) []byte {
	b = bytes.Clone(b)
	b[at] = v
	return b
}

func (g *group) refusePrefixes() {
	whole := regular(3, 2, all32, sample(8)...)
	for _, bits := range []byte{0x40, 0x80, 0xC0} {
		g.datagram(fmt.Sprintf("prefix-%02x", 0x20|bits), about{
			"Catches a decoder that does not look at bits 6 and 7 of a regular packet's prefix, as reliable 1.4.0 does not.", "canonical", "PKD-2",
		}, "reserved_bits@0", usualLimits, with(whole, 0, 0x20|bits))
	}
	piece := fragment(3, 1, 2, sample(8))
	for _, v := range []byte{0x03, 0x05, 0x09, 0x11, 0x21, 0x41, 0x81, 0x1F, 0x3F, 0x7F, 0xFF} {
		g.datagram(fmt.Sprintf("fragment-prefix-%02x", v), about{
			fmt.Sprintf("Catches a decoder that takes the prefix 0x%02x for a fragment's, which is 0x01.", v), "canonical", "PKD-2",
		}, "reserved_bits@0", small, with(piece, 0, v))
	}
	first := fragment(3, 0, 2, sample(8))
	for _, v := range []byte{0x21, 0x01, 0x60, 0xA0, 0xE0, 0xFF} {
		g.datagram(fmt.Sprintf("embedded-prefix-%02x", v), about{
			fmt.Sprintf("Catches a decoder that takes 0x%02x for the prefix of an embedded header: a fragment in a fragment, or bits 6 and 7.", v), "canonical fragment-head", "PKD-10 PKD-14",
		}, "reserved_bits@5", small, with(first, 5, v))
	}
	g.datagram("prefix-twin", about{"The twin of those with other prefixes: catches a decoder that refuses too much.", "canonical", "PKD-2"}, accepted, usualLimits, whole)
	g.datagram("fragment-prefix-twin", about{"The twin of those with other prefixes: catches a decoder that refuses too much.", "canonical", "PKD-2"}, accepted, small, piece)
	g.datagram("embedded-prefix-twin", about{"The twin of those with other prefixes: catches a decoder that refuses too much.", "canonical", "PKD-10"}, accepted, small, first)
}

// cutRegular cuts regular packets of several forms off after each byte.
func (g *group) cutRegular() {
	for _, form := range []struct {
		name string
		ack  uint16
		mask int
	}{{"near-none", 999, 0}, {"near-0123", 999, 15}, {"far-none", 9999, 0}, {"far-0123", 9999, 15}, {"near-03", 999, 9}, {"far-2", 9999, 4}} {
		head := packetoracle.EncodeHeader(packetoracle.Header{Sequence: 1000, Ack: form.ack, AckBits: maskBits(form.mask)})
		ackSize := 1
		if form.ack == 9999 {
			ackSize = 2
		}
		for n := range len(head) + 1 {
			want, check := "", ""
			switch {
			case n == 0:
				want, check = "truncated@0", "PKD-1"
			case n < 3:
				want, check = "truncated@1", "PKD-3"
			case n < 3+ackSize:
				want, check = "truncated@3", "PKD-4"
			case n < len(head):
				want, check = fmt.Sprintf("truncated@%d", n), "PKD-5"
			default:
				want, check = fmt.Sprintf("empty_payload@%d", n), "PKD-6"
			}
			if n == 0 && form.name != "near-none" {
				continue
			}
			g.datagram(fmt.Sprintf("%s-cut-to-%d", form.name, n), about{
				fmt.Sprintf("Catches a decoder that reads past the %d bytes that are there, of a header of %d.", n, len(head)), "truncation", check,
			}, want, usualLimits, head[:n])
		}
	}
}

func (g *group) cutFragments() {
	middle := fragment(1000, 1, 3, sample(8))
	for n := 1; n < 5; n++ {
		check, at := "PKD-3", 1
		if n > 2 {
			check, at = "PKD-7", n
		}
		g.datagram(fmt.Sprintf("fragment-cut-to-%d", n), about{
			fmt.Sprintf("Catches a decoder that reads past the %d bytes that are there, of a fragment's 5.", n), "truncation", check,
		}, fmt.Sprintf("truncated@%d", at), small, middle[:n])
	}
	h := packetoracle.Header{Sequence: 1000, Ack: 9999, AckBits: maskBits(15)}
	first := packetoracle.EncodeFragment(h, 0, 3, sample(8))
	for n := 5; n < 14; n++ {
		check, at := "PKD-5", n
		switch {
		case n == 5:
			check = "PKD-10 PKD-14"
		case n < 8:
			check, at = "PKD-10 PKD-14", 6
		case n < 10:
			check, at = "PKD-4 PKD-14", 8
		}
		g.datagram(fmt.Sprintf("embedded-cut-to-%d", n), about{
			fmt.Sprintf("Catches a decoder that reads the embedded header past the %d bytes that are there, or checks it against the whole length.", n), "truncation fragment-head", check,
		}, fmt.Sprintf("truncated@%d", at), small, first[:n])
	}
	for n := 14; n < 22; n++ {
		g.datagram(fmt.Sprintf("embedded-cut-to-%d", n), about{
			fmt.Sprintf("Catches a decoder that takes %d bytes of data in a fragment of 8.", n-14), "truncation fragment-size", "PKD-11",
		}, "fragment_size@14", small, first[:n])
	}
	g.datagram("embedded-not-cut", about{"The twin of the cut ones: catches a decoder that refuses too much.", "truncation", "PKD-10 PKD-11"}, accepted, small, first)
}

// refuseAcks are acks and their bits in a longer form than they need.
func (g *group) refuseAcks() {
	long := func(sequence, distance uint16) []byte {
		ack := sequence - distance
		return []byte{0, byte(sequence), byte(sequence >> 8), byte(ack), byte(ack >> 8)}
	}
	for _, sequence := range []uint16{0, 1000, 65535} {
		for _, d := range []uint16{0, 1, 254, 255} {
			head := long(sequence, d)
			g.datagram(fmt.Sprintf("long-ack-%d-from-%d", d, sequence), about{
				fmt.Sprintf("Catches a decoder that takes an ack of two bytes %d behind %d, which must be one byte.", d, sequence), "canonical ack-distance wrap", "PKD-4 PKT-2",
			}, "not_minimal@3", usualLimits, joined(head, []byte{0x78}))
			if sequence == 1000 {
				g.datagram(fmt.Sprintf("embedded-long-ack-%d", d), about{
					fmt.Sprintf("Catches a decoder that takes an embedded ack of two bytes %d behind the sequence.", d), "canonical ack-distance fragment-head", "PKD-4 PKD-10 PKT-2",
				}, "not_minimal@8", small, joined([]byte{1, head[1], head[2], 0, 1}, head, sample(8)))
			}
		}
		g.datagram(fmt.Sprintf("long-ack-256-from-%d", sequence), about{"The twin of the shorter distances: catches a decoder that refuses too much.", "ack-distance", "PKD-4"}, accepted, usualLimits, joined(long(sequence, 256), []byte{0x79}))
	}
	for n := range 4 {
		for _, others := range []bool{false, true} {
			for _, near := range []bool{true, false} {
				g.fullByte(n, others, near)
			}
		}
	}
}

// fullByte is a header with byte n of ack_bits present though it is 0xFF.
func (g *group) fullByte(n int, others, near bool) {
	name, head := fmt.Sprintf("byte-%d-is-ff", n), []byte{1 << (1 + n), 0xE8, 0x03}
	if near {
		head[0] |= 0x20
		head = append(head, 1)
	} else {
		name += "-far"
		head = append(head, 0x0F, 0x27)
	}
	at := len(head)
	if others {
		name += "-among-four"
		head[0] |= 0x1E
		head = append(head, 1, 2, 3, 4)
		at += n
		head[at] = 0xFF
	} else {
		head = append(head, 0xFF)
	}
	why := about{fmt.Sprintf("Catches a decoder that takes byte %d of ack_bits though it is 0xFF, so that one header has two encodings.", n), "canonical ack-elision", "PKD-5 PKT-2"}
	g.datagram(name, why, fmt.Sprintf("not_minimal@%d", at), usualLimits, joined(head, []byte{0x78}))
	why.flags, why.sentences = "canonical ack-elision fragment-head", "PKD-5 PKD-10 PKT-2"
	g.datagram("embedded-"+name, why, fmt.Sprintf("not_minimal@%d", at+5), small, joined([]byte{1, 0xE8, 0x03, 0, 1}, head, sample(8)))
}

func (g *group) refusePayloads() {
	for mask := 1; mask < 15; mask++ {
		if mask == 9 {
			continue // near-03-cut-to-6
		}
		head := packetoracle.EncodeHeader(packetoracle.Header{Sequence: 1000, Ack: 999, AckBits: maskBits(mask)})
		g.datagram("empty-behind-bytes-"+present(mask), about{
			"Catches a decoder that takes a packet without payload, or a byte of ack_bits for it.", "truncation", "PKD-6",
		}, fmt.Sprintf("empty_payload@%d", len(head)), usualLimits, head)
	}
	for _, l := range []packetoracle.Limits{{FragmentSize: 1024, MaxFragments: 1}, small, {FragmentSize: 1, MaxFragments: 2}, {FragmentSize: 1000, MaxFragments: 3}} {
		for _, more := range []int{1, 9, 14} {
			head := regular(3, 2, all32)
			g.datagram(fmt.Sprintf("%d-too-many-for-%d-times-%d", more, l.FragmentSize, l.MaxFragments), about{
				fmt.Sprintf("Catches a decoder that takes %d bytes more than the %d of MAX_PACKET, or allows for a header twice.", more, l.MaxPacket()), "size-limit", "PKD-6",
			}, fmt.Sprintf("too_large@%d", len(head)), l, joined(head, sample(l.MaxPacket()+more)))
		}
	}
	far := regular(3, 9999, 0)
	g.datagram("too-many-behind-a-long-header", about{"Catches a decoder that compares the datagram's length with MAX_PACKET plus the shortest header, or with the longest.", "size-limit", "PKD-6"}, "too_large@9", small, joined(far, sample(33)))
	g.datagram("not-too-many-behind-a-long-header", about{"The twin: catches a decoder that refuses too much.", "size-limit", "PKD-6"}, accepted, small, joined(far, sample(32)))
}

func (g *group) refuseCounts() {
	for _, c := range []struct{ limit, count int }{{16, 17}, {16, 255}, {16, 256}, {2, 3}, {2, 256}, {255, 256}, {1, 2}} {
		l := packetoracle.Limits{FragmentSize: 8, MaxFragments: c.limit}
		g.datagram(fmt.Sprintf("%d-fragments-of-at-most-%d", c.count, c.limit), about{
			fmt.Sprintf("Catches a decoder that takes %d fragments, though MAX_FRAGMENTS is %d.", c.count, c.limit), "size-limit minus-one", "PKD-8",
		}, "too_many_fragments@4", l, fragment(20, 1, c.count, sample(8)))
	}
	for _, c := range []struct{ limit, count int }{{16, 16}, {2, 2}, {255, 255}} {
		l := packetoracle.Limits{FragmentSize: 8, MaxFragments: c.limit}
		g.datagram(fmt.Sprintf("%d-fragments-are-allowed", c.count), about{
			fmt.Sprintf("The twin: catches a decoder that refuses %d fragments, as many as MAX_FRAGMENTS.", c.count), "size-limit minus-one", "PKD-8",
		}, accepted, l, fragment(20, 1, c.count, sample(8)))
	}
	for _, id := range []int{0, 1, 255} {
		g.datagram(fmt.Sprintf("single-fragment-%d", id), about{
			"Catches a decoder that takes a packet of one fragment: it would be a second encoding of a regular one.", "canonical fragment-head", "PKD-8",
		}, "single_fragment@4", small, fragment(20, id, 1, sample(8)))
	}
	for _, count := range []int{2, 16, 128, 255} {
		for _, id := range []int{count, count + 1, 255} {
			name := fmt.Sprintf("fragment-%d-of-%d", id, count)
			if id > 255 || g.hasVector(name) {
				continue
			}
			g.datagram(name, about{
				fmt.Sprintf("Catches a decoder that takes id %d of %d fragments, and stores its data outside of the packet.", id, count), "fragment-head minus-one", "PKD-9",
			}, "fragment_id_out_of_range@3", packetoracle.Limits{FragmentSize: 8, MaxFragments: 256}, fragment(20, id, count, sample(8)))
		}
	}
}

func (g *group) refuseEmbedded() {
	whole := fragment(0x1234, 0, 2, sample(8))
	for _, c := range []struct {
		name string
		at   int
		v    byte
	}{{"low", 6, 0x35}, {"high", 7, 0x13}, {"low-bit-7", 6, 0xB4}, {"high-bit-7", 7, 0x92}, {"outer-low", 1, 0x33}, {"outer-high", 2, 0x11}} {
		g.datagram("another-sequence-"+c.name, about{
			"Catches a decoder that does not compare every bit of the embedded sequence with the fragment's.", "fragment-head", "PKD-10 PKD-14",
		}, "sequence_mismatch@6", small, with(whole, c.at, c.v))
	}
	g.datagram("sequence-swapped", about{"Catches a decoder that compares the two sequences with one of them big-endian.", "byte-order fragment-head", "PKD-10 PKD-14"},
		"sequence_mismatch@6", small, with(with(whole, 6, 0x12), 7, 0x34))
}

func (g *group) refuseFragmentSizes() {
	for _, size := range []int{1, 8, 1024} {
		l := packetoracle.Limits{FragmentSize: size, MaxFragments: 16}
		for _, c := range []struct {
			name          string
			id, count, at int
			sizes         []int
		}{
			{"first", 0, 3, 9, []int{0, size - 1, size + 1}},
			{"middle", 1, 3, 5, []int{0, size - 1, size + 1, 2 * size}},
			{"last", 2, 3, 5, []int{0, size + 1, 2 * size}},
			{"last-of-16", 15, 16, 5, []int{0, size + 1}},
		} {
			for _, n := range c.sizes {
				name := fmt.Sprintf("%s-has-%d-of-%d", c.name, n, size)
				if g.hasVector(name) {
					continue
				}
				g.datagram(name, about{
					fmt.Sprintf("Catches a decoder that takes %d bytes of data where a fragment has %d, the last one 1 to %d.", n, size, size), "fragment-size size-limit", "PKD-11 PKF-2",
				}, fmt.Sprintf("fragment_size@%d", c.at), l, fragment(20, c.id, c.count, sample(n)))
			}
		}
	}
}

// refusalOrder are datagrams with two faults.
func (g *group) refusalOrder() {
	add := func(name, first, then, checks, want string, b []byte) {
		g.datagram("order-"+name, about{"Catches a decoder that reports " + then + " before " + first + ".", "check-order", checks + " PKD-12"}, want, small, b)
	}
	add("prefix-then-cut", "the prefix", "that sequence is missing", "PKD-2 PKD-3", "reserved_bits@0", []byte{0x40})
	add("fragment-prefix-then-cut", "the prefix", "that sequence is missing", "PKD-2 PKD-3", "reserved_bits@0", []byte{0x03, 1})
	add("ack-cut-not-minimal", "that a byte of ack is missing", "that its distance is too small", "PKD-4", "truncated@3", []byte{0x00, 5, 0, 4})
	add("long-ack-then-cut", "the longer form of ack", "that ack_bits are missing", "PKD-4 PKD-5", "not_minimal@3", []byte{0x1E, 5, 0, 4, 0})
	add("long-ack-then-full-byte", "the longer form of ack", "a byte 0xFF of ack_bits", "PKD-4 PKD-5", "not_minimal@3", []byte{0x02, 5, 0, 4, 0, 0xFF, 1})
	add("long-ack-then-empty", "the longer form of ack", "that there is no payload", "PKD-4 PKD-6", "not_minimal@3", []byte{0x00, 5, 0, 4, 0})
	add("full-byte-then-cut", "a byte 0xFF of ack_bits", "that the next one is missing", "PKD-5", "not_minimal@4", []byte{0x26, 5, 0, 1, 0xFF})
	add("full-byte-then-empty", "a byte 0xFF of ack_bits", "that there is no payload", "PKD-5 PKD-6", "not_minimal@4", []byte{0x22, 5, 0, 1, 0xFF})
	add("full-byte-then-too-large", "a byte 0xFF of ack_bits", "that the payload is too large", "PKD-5 PKD-6", "not_minimal@4", joined([]byte{0x22, 5, 0, 1, 0xFF}, sample(40)))
	add("cut-then-id", "that the number is missing", "that id 255 is out of range", "PKD-7 PKD-9", "truncated@4", []byte{0x01, 5, 0, 255})
	add("too-many-then-id", "too many fragments", "that the id is out of range", "PKD-8 PKD-9", "too_many_fragments@4", fragment(5, 200, 100, sample(8)))
	add("too-many-then-embedded", "too many fragments", "that the embedded header is missing", "PKD-8 PKD-10", "too_many_fragments@4", []byte{0x01, 5, 0, 0, 15})
	add("single-then-id", "a single fragment", "that the id is out of range", "PKD-8 PKD-9", "single_fragment@4", []byte{0x01, 5, 0, 3, 0})
	add("single-then-embedded", "a single fragment", "that the embedded header is missing", "PKD-8 PKD-10", "single_fragment@4", []byte{0x01, 5, 0, 0, 0})
	add("id-then-size", "that the id is out of range", "the size of the data", "PKD-9 PKD-11", "fragment_id_out_of_range@3", fragment(5, 3, 3, nil))
	add("embedded-prefix-then-cut", "the embedded prefix", "that its sequence is missing", "PKD-10 PKD-14", "reserved_bits@5", []byte{0x01, 5, 0, 0, 1, 0xC1})
	add("embedded-prefix-then-sequence", "the embedded prefix", "that its sequence is another one", "PKD-10 PKD-14", "reserved_bits@5", joined([]byte{0x01, 5, 0, 0, 1, 0x60, 6, 0, 1}, sample(8)))
	add("embedded-cut-then-sequence", "that the embedded ack is missing", "that the sequence is another one", "PKD-4 PKD-14", "truncated@8", []byte{0x01, 5, 0, 0, 1, 0x20, 6, 0})
	add("embedded-long-ack-then-sequence", "the longer form of the embedded ack", "that the sequence is another one", "PKD-4 PKD-14", "not_minimal@8", joined([]byte{0x01, 5, 0, 0, 1, 0x00, 6, 0, 5, 0}, sample(8)))
	add("embedded-full-byte-then-sequence", "a byte 0xFF of the embedded ack_bits", "that the sequence is another one", "PKD-5 PKD-14", "not_minimal@9", joined([]byte{0x01, 5, 0, 0, 1, 0x22, 6, 0, 1, 0xFF}, sample(8)))
	add("sequence-then-size", "that the embedded sequence is another one", "the size of the data", "PKD-14 PKD-11", "sequence_mismatch@6", []byte{0x01, 5, 0, 0, 1, 0x20, 6, 0, 1})
}
