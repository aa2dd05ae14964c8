package main

import (
	"fmt"

	"github.com/chunkwire/chunkwire/conform/oracle/packetoracle"
)

// small are limits with which datagrams stay short.
var small = packetoracle.Limits{FragmentSize: 8, MaxFragments: 4}

// packetDecode is sections 3.1 and 3.2: datagrams that a decoder takes.
func packetDecode(g *group) {
	g.decodeDistances()
	g.decodeMasks()
	g.decodePayloads()
	g.decodeFragments()
	g.decodeEmbedded()
	g.decodeSizes()
}

func regular(sequence, ack uint16, bits uint32, payload ...byte) []byte {
	return packetoracle.EncodeRegular(packetoracle.Header{Sequence: sequence, Ack: ack, AckBits: bits}, payload)
}

func fragment(sequence uint16, id, count int, data []byte) []byte {
	return packetoracle.EncodeFragment(packetoracle.Header{Sequence: sequence, Ack: sequence - 1, AckBits: all32}, id, count, data)
}

func (g *group) decodeDistances() {
	for _, d := range distances {
		for _, sequence := range []uint16{0, 100, 65535} {
			g.datagram(fmt.Sprintf("distance-%d-from-%d", d, sequence), about{
				fmt.Sprintf("Catches a decoder that reads ack %d of packet %d, %d behind it, in the other form, or does not wrap it.", sequence-d, sequence, d), "ack-distance wrap", "PKT-1 PKT-2 PKD-4",
			}, accepted, usualLimits, regular(sequence, sequence-d, all32, 0x78))
		}
	}
	for _, sequence := range []uint16{0, 1, 255, 256} {
		g.datagram(fmt.Sprintf("nothing-received-%d", sequence), about{
			fmt.Sprintf("Packet %d of an end that received nothing. Catches a decoder that refuses an ack without bit 0.", sequence), "ack-nothing", "PKT-3",
		}, accepted, usualLimits, regular(sequence, 65535, 0, 0x78))
	}
}

func (g *group) decodeMasks() {
	for mask := range 16 {
		why := about{
			fmt.Sprintf("Catches a decoder that does not read exactly the bytes %s of ack_bits, or does not fill the others with ones.", present(mask)), "ack-elision bit-order", "PKT-1 PKT-2 PKD-5",
		}
		g.datagram("bytes-"+present(mask)+"-near", why, accepted, usualLimits, regular(1000, 999, maskBits(mask), 0xFF, 0x01))
		g.datagram("bytes-"+present(mask)+"-far", why, accepted, usualLimits, regular(1000, 9999, maskBits(mask), 0xFF, 0x01))
	}
	for n := range 4 {
		for _, v := range []uint32{0x00, 0xFE, 0x7F} {
			g.datagram(fmt.Sprintf("byte-%d-is-%02x", n, v), about{
				fmt.Sprintf("Catches a decoder that takes byte %d of ack_bits, 0x%02x, for one that should have been left out, or puts it elsewhere.", n, v), "ack-elision byte-order", "PKT-2 PKD-5",
			}, accepted, usualLimits, regular(7, 5, all32&^(0xFF<<(8*n))|v<<(8*n), 0x78))
		}
	}
}

func (g *group) decodePayloads() {
	for _, c := range []struct {
		name    string
		payload []byte
		mistake string
	}{
		{"zero", []byte{0}, "drops a payload of one zero byte, which an ack-only packet has"},
		{"one", []byte{1}, "takes a payload that begins with 1 for a fragment"},
		{"all-ones", []byte{0xFF, 0xFF}, "takes a payload for bytes of ack_bits"},
		{"a-header", regular(9, 8, all32, 1), "decodes a payload that looks like a packet"},
	} {
		g.datagram("payload-"+c.name, about{"Catches a decoder that " + c.mistake + ".", "content", "PKT-1 PKD-6"}, accepted, usualLimits, regular(3, 2, all32, c.payload...))
	}
	for _, c := range []struct {
		l    packetoracle.Limits
		size int
	}{
		{usualLimits, 1160}, {usualLimits, 1161}, {usualLimits, 16384}, {packetoracle.Limits{FragmentSize: 1024, MaxFragments: 1}, 1024}, {small, 32},
		{packetoracle.Limits{FragmentSize: 1, MaxFragments: 2}, 2}, {packetoracle.Limits{FragmentSize: 1, MaxFragments: 256}, 256}, {packetoracle.Limits{FragmentSize: 1000, MaxFragments: 3}, 2999},
	} {
		g.datagram(fmt.Sprintf("%d-bytes-of-%d-times-%d", c.size, c.l.FragmentSize, c.l.MaxFragments), about{
			fmt.Sprintf("Catches a decoder that refuses %d bytes, though MAX_PACKET is %d: FRAGMENT_ABOVE is the sender's.", c.size, c.l.MaxPacket()), "size-limit", "PKD-6 PKF-1",
		}, accepted, c.l, regular(3, 2, all32, sample(c.size)...))
	}
}

func (g *group) decodeFragments() {
	l := packetoracle.Limits{FragmentSize: 8, MaxFragments: 256}
	for _, count := range []int{2, 3, 15, 16, 17, 128, 129, 255, 256} {
		for _, id := range []int{0, 1, count / 2, count - 2, count - 1} {
			name := fmt.Sprintf("fragment-%d-of-%d", id, count)
			if g.hasVector(name) {
				continue
			}
			g.datagram(name, about{
				fmt.Sprintf("Catches a decoder that reads id %d of %d fragments wrongly: the number is stored less one, in 8 bits.", id, count), "fragment-head minus-one", "PKF-2 PKD-7 PKD-8 PKD-9",
			}, accepted, l, fragment(300, id, count, sample(8)))
		}
	}
}

// hasVector reports whether a name is taken.
func (g *group) hasVector(name string) bool {
	for _, v := range g.file.Vectors {
		if v.Name == g.file.Group+"/"+name {
			return true
		}
	}
	return false
}

func (g *group) decodeEmbedded() {
	for mask := range 16 {
		h := packetoracle.Header{Sequence: 1000, Ack: 999, AckBits: maskBits(mask)}
		why := about{
			fmt.Sprintf("Catches a decoder that takes the data of fragment 0 from elsewhere than behind its header, which has the bytes %s of ack_bits.", present(mask)), "fragment-head ack-elision", "PKF-2 PKD-10",
		}
		g.datagram("embedded-"+present(mask)+"-near", why, accepted, small, packetoracle.EncodeFragment(h, 0, 2, sample(8)))
		h.Ack = 9999
		g.datagram("embedded-"+present(mask)+"-far", why, accepted, small, packetoracle.EncodeFragment(h, 0, 2, sample(8)))
	}
	for _, sequence := range []uint16{0, 255, 256, 32768, 65535} {
		g.datagram(fmt.Sprintf("embedded-sequence-%d", sequence), about{
			fmt.Sprintf("Catches a decoder that reads number %d of a fragment wrongly, or compares it wrongly with the embedded one.", sequence), "byte-order wrap", "PKF-2 PKD-10",
		}, accepted, small, fragment(sequence, 0, 3, sample(8)))
		g.datagram(fmt.Sprintf("fragment-sequence-%d", sequence), about{
			fmt.Sprintf("Catches a decoder that reads number %d of a fragment wrongly, or expects acks in one other than the first.", sequence), "byte-order fragment-head", "PKF-2",
		}, accepted, small, fragment(sequence, 1, 3, sample(8)))
	}
}

func (g *group) decodeSizes() {
	for _, size := range []int{1, 2, 7, 100, 512, 1023, 1024, 1160} {
		l := packetoracle.Limits{FragmentSize: size, MaxFragments: 16}
		for _, id := range []int{0, 1} {
			g.datagram(fmt.Sprintf("size-%d-fragment-%d", size, id), about{
				fmt.Sprintf("Catches a decoder that has another FRAGMENT_SIZE than %d, which is a setting.", size), "size-limit fragment-size", "PKF-2 PKD-11",
			}, accepted, l, fragment(20, id, 3, sample(size)))
		}
		for _, last := range []int{1, size - 1, size} {
			name := fmt.Sprintf("size-%d-last-of-%d", size, last)
			if last < 1 || g.hasVector(name) {
				continue
			}
			g.datagram(name, about{
				fmt.Sprintf("Catches a decoder that refuses %d bytes in the last fragment, which has 1 to %d.", last, size), "size-limit fragment-size", "PKF-2 PKD-11",
			}, accepted, l, fragment(20, 15, 16, sample(last)))
		}
	}
}
