package main

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/conform/soak"
	"github.com/chunkwire/chunkwire/fuzz/internal/agree"
)

// Judges are given packets as machines made them, and never what the codec made of
// them. What crosses the wire is read by the oracle. It goes bit by bit, and takes
// longer for a full slice than all else does for ten, so it reads some of them only.

const (
	smallDatagram = 32 // bytes; every one that is not larger is read
	readEvery     = 64 // one in so many of the others is
)

// isRead reports whether the oracle reads a datagram of so many bytes.
func (w *world) isRead(size int) bool {
	return size <= smallDatagram || w.Counts[soak.Datagrams]%readEvery == 0
}

// misformed compares a datagram with the packet that it is to carry.
func (e *end) misformed(data []byte, p codec.Packet) *chunk.Violation {
	read, err := e.readBack(data)
	if err != nil || !agree.Same(read, p) {
		return chunk.Violates("FRM-1", "the datagram of %s reads as %s, %v", describe(p), describe(read), err)
	}
	return nil
}
