package statemachine

import (
	"fmt"

	"github.com/chunkwire/chunkwire/codec"
)

// exPacket is a packet in flight, as one number: its chunk's id, its number of
// slices, and the id of the slice or the bits of the ack. The bytes of a slice
// follow from these, which is checked when it is sent.
type exPacket uint32

func packed(chunkID uint16, numSlices, rest int) exPacket {
	return exPacket(chunkID)<<16 | exPacket(numSlices)<<8 | exPacket(rest)
}

func (p exPacket) chunkID() uint16 { return uint16(p >> 16) }
func (p exPacket) numSlices() int  { return int(p >> 8 & 255) }
func (p exPacket) rest() int       { return int(p & 255) }

// ack returns the packet as the ack that it is.
func (p exPacket) ack() codec.Ack {
	return codec.Ack{ChunkID: p.chunkID(), NumSlices: p.numSlices(), Acked: codec.Bitset{uint64(p.rest())}}
}

func (p exPacket) sliceText() string {
	return fmt.Sprintf("slice %d/%d of chunk %d", p.rest(), p.numSlices(), p.chunkID())
}

func (p exPacket) ackText() string {
	bits := ""
	for i := range p.numSlices() {
		bits += string('0' + byte(p.rest()>>i&1))
	}
	return fmt.Sprintf("ack %s of chunk %d", bits, p.chunkID())
}

// exChannel is what is in flight one way, sorted: any of it can arrive next, so
// its order means nothing.
type exChannel struct {
	n       uint8
	packets [4]exPacket
}

func (c *exChannel) add(p exPacket) {
	i := c.n
	for ; i > 0 && c.packets[i-1] > p; i-- {
		c.packets[i] = c.packets[i-1]
	}
	c.packets[i] = p
	c.n++
}

func (c *exChannel) take(i int) exPacket {
	p := c.packets[i]
	copy(c.packets[i:], c.packets[i+1:])
	c.n--
	c.packets[c.n] = 0
	return p
}
