package main

import (
	"github.com/chunkwire/chunkwire/conform/oracle"
	"github.com/chunkwire/chunkwire/conform/oracle/stream"
)

// usualID is the protocol id where it does not matter: that of the document's
// worked examples, with four different bytes.
const usualID = 0x11223344

// slice is one that is the last of its chunk if data is short.
func slice(chunkID, sliceID, numSlices int64, data []byte) oracle.Packet {
	return oracle.Packet{Type: oracle.TypeSlice, ChunkID: chunkID, SliceID: sliceID, NumSlices: numSlices, Data: data}
}

// ack makes one from its bits.
func ack(chunkID int64, bits []bool) oracle.Packet {
	return oracle.Packet{Type: oracle.TypeAck, ChunkID: chunkID, NumSlices: int64(len(bits)), Acked: bits}
}

// sample is n bytes that differ from their neighbors and do not repeat with a
// power of two, so that a byte at the wrong place shows.
func sample(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i%251 + 1)
	}
	return b
}

// repeated is n times the same byte.
func repeated(v byte, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = v
	}
	return b
}

// acked makes n bits by a rule.
func acked(n int, set func(k int) bool) []bool {
	bits := make([]bool, n)
	for k := range bits {
		bits[k] = set(k)
	}
	return bits
}

// The rules: none, all, every other, only one, all but one; and one without a
// period that a mistake could have too.
func none(int) bool     { return false }
func all(int) bool      { return true }
func even(k int) bool   { return k%2 == 0 }
func uneven(k int) bool { return (k*k+5*k+6)%11 < 5 }
func only(n int) rule   { return func(k int) bool { return k == n } }
func allBut(n int) rule { return func(k int) bool { return k != n } }

type rule = func(k int) bool

// body and datagram are the bytes of a valid packet.
func body(p oracle.Packet) []byte {
	b, err := oracle.EncodeBody(p)
	if err != nil {
		panic(err) // a group passes valid packets only
	}
	return b
}

func datagram(p oracle.Packet) []byte {
	b, err := oracle.EncodeDatagram(usualID, p)
	if err != nil {
		panic(err) // a group passes valid packets only
	}
	return b
}

// resealed makes the crc of a datagram right again.
func resealed(b []byte) []byte { return oracle.Seal(usualID, b[4:]) }

// flipped is b with some of its bits flipped, by their place in the stream.
func flipped(b []byte, bits ...int) []byte {
	s := stream.Unpack(b)
	for _, bit := range bits {
		s[bit] ^= 1
	}
	return s.Pack()
}

// joined puts bytes one after the other, in new memory.
func joined(parts ...[]byte) (b []byte) {
	for _, part := range parts {
		b = append(b, part...)
	}
	return b
}
