package main

import (
	"fmt"
)

// protocolIDs are ids whose bytes differ, or are all but one zero.
var protocolIDs = []struct {
	id      uint32
	mistake string
}{
	{0, "leaves the protocol id 0 out of the crc: its four zero bytes count"},
	{1, "puts the protocol id into the crc big-endian: its only bit is in the first byte"},
	{0x100, "uses only the lowest byte of the protocol id"},
	{0x10000, "uses only 16 bits of the protocol id"},
	{0x80000000, "treats the protocol id as a signed number"},
	{0xffffffff, "treats the protocol id as -1, or as none"},
	{0x11223344, "puts the protocol id into the crc big-endian"},
	{0x44332211, "puts the protocol id into the crc in the order of the machine, and was tested with one order only"},
	{0xcbf43926, "combines the protocol id with the crc in place of taking the crc over it"},
}

// frameSlice is slices as datagrams (section 5).
func frameSlice(g *group) {
	for _, v := range protocolIDs {
		p := slice(0x1234, 0, 1, []byte{0xde, 0xad, 0xbe, 0xef})
		g.encode(fmt.Sprintf("protocol-id-%08x", v.id), about{"Catches an encoder that " + v.mistake + ".", "protocol-id crc-input crc-algorithm", "FRM-2 FRM-5 FRM-1"}, accepted, v.id, p)
	}
	g.framedSizes()
	g.framedCounts()
	g.framedBits()
	g.contents(func(name string, why about, data []byte) {
		why.sentences += " FRM-1"
		g.encode(name+"-encode", why, accepted, usualID, slice(1, 0, 1, data))
		g.decode(name+"-decode", why, accepted, usualID, datagram(slice(1, 0, 1, data)))
	})
}

func (g *group) framedSizes() {
	for _, n := range sliceSizes {
		p := slice(7, 2, 3, sample(n))
		why := about{
			fmt.Sprintf("Catches an implementation that puts %d bytes of a last slice elsewhere than at byte 10, after 5 padding bits, or is wrong by a carry in slice_bytes.", n),
			"data-length frame-offset alignment", "FRM-1 FRM-4 SLC-1 BIT-5 LIM-4",
		}
		g.encode(fmt.Sprintf("last-of-%d-bytes-encode", n), why, accepted, usualID, p)
		g.decode(fmt.Sprintf("last-of-%d-bytes-decode", n), why, accepted, usualID, datagram(p))
	}
}

func (g *group) framedCounts() {
	for _, n := range []int64{1, 2, 8, 9, 128, 129, 255, 256} {
		p := slice(0xfffe, n-1, n, []byte{0x3c})
		why := about{fmt.Sprintf("Catches an implementation whose slice_id or num_slices is wrong when they are not at a byte's start: slice %d of %d.", n-1, n), "field-width minus-one last-slice frame-offset", "FRM-1 FRM-4 SLC-1"}
		g.encode(fmt.Sprintf("last-of-%d-slices-encode", n), why, accepted, usualID, p)
		g.decode(fmt.Sprintf("last-of-%d-slices-decode", n), why, accepted, usualID, datagram(p))
		if n == 1 {
			continue
		}
		p = slice(0xfffe, n-2, n, sample(1024))
		why = about{fmt.Sprintf("Catches an implementation that puts the data of slice %d of %d elsewhere than at byte 9, after 7 padding bits, or puts slice_bytes before it.", n-2, n), "last-slice alignment frame-offset", "FRM-1 FRM-4 SLC-1 BIT-5"}
		g.encode(fmt.Sprintf("last-but-one-of-%d-slices-encode", n), why, accepted, usualID, p)
		g.decode(fmt.Sprintf("last-but-one-of-%d-slices-decode", n), why, accepted, usualID, datagram(p))
	}
}

// framedBits is each bit of the fields alone, one bit further than in a body.
func (g *group) framedBits() {
	for k := range 16 {
		g.encode(fmt.Sprintf("chunk-id-bit-%d", k), about{
			fmt.Sprintf("Catches an encoder whose bit %d of chunk_id is not bit %d of the datagram: only there it crosses from a byte to the next.", k, 33+k),
			"bit-order frame-offset field-width", "BIT-1 BIT-2 FRM-4 SLC-1",
		}, accepted, usualID, slice(1<<k, 0, 1, []byte{0}))
	}
	for k := range 8 {
		p := slice(0, 1<<k, 1<<k+1, []byte{0})
		g.decode(fmt.Sprintf("slice-id-bit-%d", k), about{
			fmt.Sprintf("Catches a decoder that loses bit %d of slice_id or of num_slices-1, at bits %d and %d of the datagram.", k, 49+k, 57+k),
			"bit-order frame-offset field-width", "BIT-1 BIT-3 FRM-4 SLC-1",
		}, accepted, usualID, datagram(p))
	}
	for k := range 10 {
		p := slice(0, 0, 1, sample(1<<k+1))
		g.decode(fmt.Sprintf("slice-bytes-bit-%d", k), about{
			fmt.Sprintf("Catches a decoder that loses bit %d of slice_bytes-1, at bit %d of the datagram.", k, 65+k),
			"bit-order frame-offset field-width data-length", "BIT-1 BIT-3 FRM-4 SLC-1",
		}, accepted, usualID, datagram(p))
	}
}

// frameAck is acks as datagrams (section 5).
func frameAck(g *group) {
	for _, v := range protocolIDs {
		g.encode(fmt.Sprintf("protocol-id-%08x", v.id), about{"Catches an encoder that " + v.mistake + ", in an ack.", "protocol-id crc-input crc-algorithm", "FRM-2 FRM-3 FRM-5"}, accepted, v.id, ack(0x1234, acked(8, even)))
	}
	for _, n := range ackCounts {
		g.framedAck(n)
	}
	for _, k := range []int{0, 6, 7, 8, 14, 15, 30, 31, 62, 63, 64, 254, 255} {
		g.decode(fmt.Sprintf("acked-only-%d", k), about{
			fmt.Sprintf("Catches a decoder that reads another bit than %d of the datagram for slice %d.", 57+k, k),
			"bit-order word-boundary frame-offset", "BIT-1 BIT-4 FRM-4 ACK-1 ACK-2",
		}, accepted, usualID, datagram(ack(0, acked(256, only(k)))))
	}
}

func (g *group) framedAck(n int) {
	padding := (8 - (57+n)%8) % 8
	for _, r := range []struct {
		name, mistake string
		set           rule
	}{
		{"uneven", "reads or writes the bits in another order", uneven},
		{"all", "sets padding bits, or loses the last byte", all},
		{"hold", "leaves out zero bytes at the end of an ack without bits", none},
	} {
		p := ack(0xc0de, acked(n, r.set))
		why := about{
			fmt.Sprintf("Catches an implementation that %s: %d slices, then %d padding bits, as counted from the datagram's start, and the end check.", r.mistake, n, padding),
			"frame-offset alignment word-boundary", "FRM-1 FRM-3 FRM-4 ACK-1 BIT-5",
		}
		if r.name == "uneven" || r.name == "hold" && n > 1 && n%8 < 2 {
			g.encode(fmt.Sprintf("%d-%s-encode", n, r.name), why, accepted, usualID, p)
		}
		if r.name != "hold" {
			g.decode(fmt.Sprintf("%d-%s-decode", n, r.name), why, accepted, usualID, datagram(p))
		}
	}
}
