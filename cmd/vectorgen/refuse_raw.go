package main

import (
	"github.com/chunkwire/chunkwire/conform/oracle"
	"github.com/chunkwire/chunkwire/conform/oracle/stream"
)

// The types as they stand on the wire.
const (
	sliceBit = 0
	ackBit   = 1
)

// rawBody is a body from its fields, right or wrong.
func rawBody(fields ...field) []byte {
	var s stream.Stream
	for _, f := range fields {
		f(&s)
	}
	return s.Pack()
}

// rawFrame is a datagram with the right crc around fields, right or wrong.
func rawFrame(fields ...field) []byte {
	return resealed(rawBody(append([]field{bitsOf(0, 32)}, fields...)...))
}

// field adds something to a stream.
type field func(s *stream.Stream)

func bitsOf(v uint64, n int) field { return func(s *stream.Stream) { s.Bits(v, n) } }
func bytesOf(b []byte) field       { return func(s *stream.Stream) { s.Bytes(b) } }
func align(s *stream.Stream)       { s.Align() }
func endCheck(s *stream.Stream)    { s.Bits(oracle.EndCheck, 32) }

// unaligned is bytes without the align before them.
func unaligned(b []byte) field {
	return func(s *stream.Stream) {
		for _, v := range b {
			s.Bits(uint64(v), 8)
		}
	}
}

// sliceHead is the fields of a slice up to num_slices, and sizeOf slice_bytes.
func sliceHead(chunkID, sliceID, numSlices uint64) field {
	return func(s *stream.Stream) {
		s.Bits(chunkID, 16)
		s.Bits(sliceID, 8)
		s.Bits(numSlices-1, 8)
	}
}

func sizeOf(n uint64) field { return bitsOf(n-1, 10) }

// ackHead is the fields of an ack up to num_slices.
func ackHead(chunkID, numSlices uint64) field {
	return func(s *stream.Stream) {
		s.Bits(chunkID, 16)
		s.Bits(numSlices-1, 8)
	}
}
