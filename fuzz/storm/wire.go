package main

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// What crosses the wire, as the judges read it: by hand, after sections 4 and 5,
// and without the codec.

// set is a set of slice ids.
type set [256]bool

// packet is a slice, or an ack if data is nil.
type packet struct {
	chunk  uint16
	slice  int
	slices int
	data   []byte
	acked  set
	bits   int // in acked
}

const endCheck = 0x9908ACE2

var errWire = errors.New("not a valid datagram")

// readDatagram returns what a datagram says, if its sum and its form are right.
func readDatagram(protocolID uint32, b []byte) (packet, error) {
	if len(b) < 12 || len(b) > 1038 || binary.LittleEndian.Uint32(b[len(b)-4:]) != endCheck {
		return packet{}, errWire
	}
	var head [8]byte
	binary.LittleEndian.PutUint32(head[:], protocolID)
	sum := crc32.Update(crc32.ChecksumIEEE(head[:]), crc32.IEEETable, b[4:])
	if sum != binary.LittleEndian.Uint32(b) {
		return packet{}, errWire
	}
	if b[4]&1 == 0 {
		return readSlice(b)
	}
	return readAck(b)
}

// readSlice: the fields begin at bit 33, which is bit 1 of byte 4.
func readSlice(b []byte) (packet, error) {
	if len(b) < 15 {
		return packet{}, errWire
	}
	v := binary.LittleEndian.Uint64(b[4:]) >> 1
	p := packet{chunk: uint16(v), slice: int(v >> 16 & 255), slices: int(v>>24&255) + 1}
	at, size := 9, 1024
	if p.slice == p.slices-1 {
		at, size = 10, int(v>>32&1023)+1
	}
	if p.slice >= p.slices || len(b) != at+size+4 {
		return packet{}, errWire
	}
	p.data = b[at : at+size]
	return p, nil
}

func readAck(b []byte) (packet, error) {
	v := binary.LittleEndian.Uint32(b[4:]) >> 1
	p := packet{chunk: uint16(v), slices: int(v>>16&255) + 1}
	if len(b) != (57+p.slices+7)/8+4 {
		return packet{}, errWire
	}
	for k := range p.slices {
		if bit := 57 + k; b[bit/8]>>(bit%8)&1 == 1 {
			p.acked[k] = true
			p.bits++
		}
	}
	return p, nil
}
