package main

import (
	"encoding/binary"
	"errors"
	"hash/crc32"

	"github.com/chunkwire/chunkwire/codec"
)

// What crosses the wire, read for the judges by hand, after sections 4 and 5, and
// without the codec.

const endCheck = 0x9908ACE2

var errWire = errors.New("not a valid datagram")

// readDatagram returns what a datagram carries, if its sum and its form are right.
func readDatagram(protocolID uint32, b []byte) (codec.Packet, error) {
	if len(b) < 12 || len(b) > 1038 || binary.LittleEndian.Uint32(b[len(b)-4:]) != endCheck {
		return codec.Packet{}, errWire
	}
	var head [8]byte
	binary.LittleEndian.PutUint32(head[:], protocolID)
	sum := crc32.Update(crc32.ChecksumIEEE(head[:]), crc32.IEEETable, b[4:])
	if sum != binary.LittleEndian.Uint32(b) {
		return codec.Packet{}, errWire
	}
	if b[4]&1 == 0 {
		return readSlice(b)
	}
	return readAck(b)
}

// isSlice reports which of its two packets a Packet is.
func isSlice(p codec.Packet) bool { return p.Slice.Data != nil }

// readSlice: the fields begin at bit 33, which is bit 1 of byte 4.
func readSlice(b []byte) (codec.Packet, error) {
	if len(b) < 15 {
		return codec.Packet{}, errWire
	}
	v := binary.LittleEndian.Uint64(b[4:]) >> 1
	s := codec.Slice{ChunkID: uint16(v), SliceID: int(v >> 16 & 255), NumSlices: int(v>>24&255) + 1}
	at, size := 9, 1024
	if s.SliceID == s.NumSlices-1 {
		at, size = 10, int(v>>32&1023)+1
	}
	if s.SliceID >= s.NumSlices || len(b) != at+size+4 {
		return codec.Packet{}, errWire
	}
	s.Data = b[at : at+size]
	return codec.Packet{Type: codec.TypeSlice, Slice: s}, nil
}

func readAck(b []byte) (codec.Packet, error) {
	v := binary.LittleEndian.Uint32(b[4:]) >> 1
	a := codec.Ack{ChunkID: uint16(v), NumSlices: int(v>>16&255) + 1}
	if len(b) != (57+a.NumSlices+7)/8+4 {
		return codec.Packet{}, errWire
	}
	for k := range a.NumSlices {
		if bit := 57 + k; b[bit/8]>>(bit%8)&1 == 1 {
			a.Acked.Add(k)
		}
	}
	return codec.Packet{Type: codec.TypeAck, Ack: a}, nil
}
