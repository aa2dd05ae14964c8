package main

import "fmt"

// all32 is ack_bits of which nothing is on the wire.
const all32 = 0xFFFFFFFF

// distances are those at which the form of an ack, or its order, may change.
var distances = []uint16{0, 1, 2, 127, 128, 254, 255, 256, 257, 511, 32767, 32768, 32769, 65279, 65280, 65534, 65535}

// corners are numbers around which arithmetic of 8 and 16 bits wraps.
var corners = []uint16{0, 1, 255, 256, 32768, 65535}

// packetHeader is section 3.1: the bytes of headers.
func packetHeader(g *group) {
	g.headerExamples()
	g.headerDistances()
	g.headerMasks()
	g.headerBits()
	g.headerBytes()
	g.headerNumbers()
}

func (g *group) headerExamples() {
	g.header("ack-across-the-wrap", about{"The second example of the specification: number 0 acks 99, 65437 behind it. Catches an encoder that takes the distance as a signed number, or its amount.", "ack-distance wrap", "PKT-1 PKT-2"}, 0, 99, all32)
	for _, sequence := range []uint16{0, 1, 254, 255, 256, 1000} {
		g.header(fmt.Sprintf("nothing-received-%d", sequence), about{
			fmt.Sprintf("Packet %d of an end that received nothing: ack 65535, no bit. Catches an encoder that acks packet 0 instead, or leaves bytes of zeros out.", sequence),
			"ack-nothing ack-elision", "PKT-1 PKT-2 PKT-3",
		}, sequence, 65535, 0)
	}
}

func (g *group) headerDistances() {
	for _, d := range distances {
		for _, sequence := range corners {
			form := "one byte"
			if d > 255 {
				form = "two bytes"
			}
			g.header(fmt.Sprintf("distance-%d-from-%d", d, sequence), about{
				fmt.Sprintf("Catches an encoder that does not write ack %d of packet %d, %d behind it, as %s.", sequence-d, sequence, d, form),
				"ack-distance wrap", "PKT-1 PKT-2",
			}, sequence, sequence-d, all32)
		}
	}
}

// maskBits is ack_bits of which the bytes that mask names are present.
func maskBits(mask int) (bits uint32) {
	for n, v := range []uint32{0x12, 0x34, 0x56, 0x78} {
		if mask>>n&1 == 0 {
			v = 0xFF
		}
		bits |= v << (8 * n)
	}
	return bits
}

// present names the bytes of a mask.
func present(mask int) string {
	text := ""
	for n := range 4 {
		if mask>>n&1 == 1 {
			text += fmt.Sprint(n)
		}
	}
	if text == "" {
		return "none"
	}
	return text
}

func (g *group) headerMasks() {
	for mask := range 16 {
		why := about{
			fmt.Sprintf("Catches an encoder that does not write the bytes %s of ack_bits, in this order, and no other one; or has their bits of the prefix elsewhere than at 1 to 4.", present(mask)),
			"ack-elision bit-order", "PKT-1 PKT-2",
		}
		g.header("bytes-"+present(mask)+"-near", why, 1000, 999, maskBits(mask))
		g.header("bytes-"+present(mask)+"-far", why, 1000, 9999, maskBits(mask))
	}
}

func (g *group) headerBits() {
	for n := range 32 {
		g.header(fmt.Sprintf("only-bit-%d", n), about{
			fmt.Sprintf("Catches an encoder whose bit %d of ack_bits is not bit %d of byte %d, or that leaves bytes of zeros out.", n, n%8, n/8), "bit-order byte-order ack-elision", "PKT-1 PKT-2",
		}, 500, 498, 1<<n)
		g.header(fmt.Sprintf("all-but-bit-%d", n), about{
			fmt.Sprintf("Catches an encoder that does not write byte %d of ack_bits though one bit is missing from it, or writes another one.", n/8), "ack-elision bit-order", "PKT-1 PKT-2",
		}, 500, 498, all32&^(1<<n))
	}
}

func (g *group) headerBytes() {
	for n := range 4 {
		for _, v := range []uint32{0x00, 0xF0, 0x0F, 0xAA} {
			g.header(fmt.Sprintf("byte-%d-is-%02x", n, v), about{
				fmt.Sprintf("Catches an encoder that leaves out byte %d of ack_bits, 0x%02x, or compares it with a sign.", n, v), "ack-elision", "PKT-2",
			}, 7, 5, all32&^(0xFF<<(8*n))|v<<(8*n))
		}
	}
}

func (g *group) headerNumbers() {
	for k := range 16 {
		v := uint16(1) << k
		g.header(fmt.Sprintf("sequence-bit-%d", k), about{
			fmt.Sprintf("Catches an encoder whose bit %d of sequence is not bit %d of byte %d.", k, k%8, 1+k/8), "byte-order field-width", "PKT-1",
		}, v, v-3, all32)
		g.header(fmt.Sprintf("ack-bit-%d", k), about{
			fmt.Sprintf("Catches an encoder whose bit %d of an ack of two bytes is not bit %d of byte %d.", k, k%8, 3+k/8), "byte-order field-width", "PKT-1",
		}, v+1000, v, all32)
	}
}
