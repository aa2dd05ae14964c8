package main

import (
	"fmt"
	"strings"

	"github.com/chunkwire/chunkwire/conform/oracle"
)

// refuseEncode is packets that cannot be represented (section 6.2).
func refuseEncode(g *group) {
	g.encodeChunkIDs()
	g.encodeCounts()
	g.encodeSliceIDs()
	g.encodeSizes()
	for _, kind := range []string{"nack", "Slice", "ACK", ""} {
		g.bothEncoders("type-"+map[string]string{"": "empty"}[kind]+kind, about{
			fmt.Sprintf("Catches an encoder that treats %q as a slice or as an ack.", kind), "encoder type-bit", "ENC-6",
		}, oracle.InvalidField, oracle.Packet{Type: kind})
	}
}

// refuse adds a packet that is refused, and take its twin that is not.
func (g *group) refuse(name, why, flags, sentence string, p oracle.Packet) {
	g.bothEncoders(name, about{"Catches an encoder that " + why + ".", "encoder " + flags, sentence}, oracle.InvalidField, p)
}

func (g *group) take(name, why, sentence string, p oracle.Packet) {
	g.bothEncoders(name, about{"A twin of refused ones: catches an encoder that " + why + ".", "encoder size-limit", sentence}, accepted, p)
}

// oneByte is the data of a slice where it does not matter.
var oneByte = []byte{0x31}

func (g *group) encodeChunkIDs() {
	for _, v := range []int64{-1, -65536, 65536, 65537, 1 << 32} {
		why := fmt.Sprintf("writes the low 16 bits of chunk_id %d", v)
		g.refuse(fmt.Sprintf("slice-chunk-id-%d", v), why, "integer-wrap", "ENC-1", slice(v, 0, 1, oneByte))
		g.refuse(fmt.Sprintf("ack-chunk-id-%d", v), why, "integer-wrap", "ENC-1", ack(v, acked(1, all)))
	}
	g.take("slice-chunk-id-65535", "refuses the largest chunk_id", "ENC-1 SLC-1", slice(65535, 0, 1, oneByte))
	g.take("ack-chunk-id-65535", "refuses the largest chunk_id", "ENC-1 ACK-1", ack(65535, acked(1, all)))
}

func (g *group) encodeCounts() {
	for _, v := range []int64{0, -1, 257, 512, 1<<32 + 1} {
		g.refuse(fmt.Sprintf("slice-0-of-%d", v), fmt.Sprintf("writes the low 8 bits of num_slices-1 for %d slices", v), "integer-wrap minus-one size-limit", "ENC-2", slice(0, 0, v, sample(1024)))
	}
	g.refuse("ack-of-0", "writes an ack without slices, as one of 256", "size-limit minus-one", "ENC-2", ack(0, nil))
	g.refuse("ack-of-257", "writes an ack of 257 slices, as one of 1", "size-limit integer-wrap", "ENC-2", ack(0, acked(257, all)))
	g.refuse("ack-of-257-zeros", "writes an ack of 257 slices because none of its bits is set", "size-limit", "ENC-2", ack(0, acked(257, none)))
	g.refuse("ack-of-512", "writes an ack of 512 slices, as one of 256", "size-limit integer-wrap", "ENC-2", ack(0, acked(512, even)))
	g.take("slice-0-of-256", "refuses the largest number of slices", "ENC-2 SLC-1", slice(0, 0, 256, sample(1024)))
	g.take("ack-of-256", "refuses the largest number of slices", "ENC-2 ACK-1", ack(0, acked(256, uneven)))
}

func (g *group) encodeSliceIDs() {
	for _, v := range []struct{ id, n int64 }{{-1, 1}, {1, 1}, {2, 1}, {3, 3}, {255, 255}, {256, 256}, {257, 256}, {255, 1}, {256, 1}, {1 << 32, 1}} {
		g.refuse(fmt.Sprintf("slice-%d-of-%d", v.id, v.n), fmt.Sprintf("does not compare slice_id %d with %d slices", v.id, v.n), "slice-id integer-wrap", "ENC-3 SLC-2", slice(0, v.id, v.n, sample(1024)))
	}
	g.take("slice-255-of-256", "refuses the largest slice_id", "ENC-3 SLC-2", slice(0, 255, 256, oneByte))
}

func (g *group) encodeSizes() {
	for _, n := range []int{0, 1025, 2048} {
		g.refuse(fmt.Sprintf("last-of-%d-bytes", n), fmt.Sprintf("writes a last slice of %d bytes, which slice_bytes cannot hold", n), "size-limit integer-wrap", "ENC-4 LIM-3 SLC-3", slice(0, 2, 3, sample(n)))
	}
	for _, n := range []int{0, 1, 1023, 1025} {
		g.refuse(fmt.Sprintf("middle-of-%d-bytes", n), fmt.Sprintf("writes %d bytes in a slice that is not the last, which does not carry its length", n), "size-limit last-slice", "ENC-4 LIM-3 SLC-3", slice(0, 1, 3, sample(n)))
	}
	g.take("last-of-1024-bytes", "refuses a full last slice", "ENC-4 LIM-3", slice(0, 2, 3, sample(1024)))
	g.take("last-of-1-byte", "refuses the smallest last slice", "ENC-4 LIM-3", slice(0, 2, 3, oneByte))
	g.take("middle-of-1024-bytes", "wants the exact size to be below 1,024", "ENC-4 LIM-3", slice(0, 1, 3, sample(1024)))
}

// bothEncoders adds a packet as a bare body and as a datagram. In names a
// negative number is spelled out.
func (g *group) bothEncoders(name string, why about, want string, p oracle.Packet) {
	name = strings.ReplaceAll(name, "--", "-minus-")
	g.encodeBody(name+"-body", why, want, p)
	g.encode(name+"-frame", why, want, usualID, p)
}
