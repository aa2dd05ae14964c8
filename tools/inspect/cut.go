package inspect

import (
	"encoding/binary"
	"slices"

	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/packet"
)

// shortest is the size of the shortest datagram of data, with the shortest tag.
const shortest = 14

// mostJoined is how many datagrams a system joins at most: Linux has 128, and had 64.
const mostJoined = 128

// Cut returns the datagrams of what a capture has as one because the system sends or takes several
// of one size, and one that may be shorter, at once (segmentation offload). What is one datagram is
// returned as it is. The parts point into b.
func Cut(b []byte) [][]byte {
	for _, joined := range []func(b []byte, size int) bool{joinedChunks, joinedData, joinedPackets} {
		for size := max(shortest, (len(b)+mostJoined-1)/mostJoined); size < len(b) && size <= session.LargestDatagram; size++ {
			if joined(b, size) {
				return slices.Collect(slices.Chunk(b, size))
			}
		}
	}
	return [][]byte{b}
}

// joinedChunks reports whether each part has the frame of chunks, and the protocol ids that their crcs have
// are those of the lanes of one connection.
func joinedChunks(b []byte, size int) bool {
	if !hasEndCheck(b) || !hasEndCheck(b[:size]) {
		return false
	}
	first := protocolIDOf(b[:size])
	for part := range slices.Chunk(b[size:], size) {
		if !hasEndCheck(part) || protocolIDOf(part)&^15 != first&^15 && protocolIDOf(part)-first+15 > 30 {
			return false
		}
	}
	return true
}

// joinedData reports whether each part begins as data of one link, with counters that follow each other.
func joinedData(b []byte, size int) bool {
	if b[0] < byte(session.KindCRC) || b[0] > byte(session.KindAEAD) {
		return false
	}
	next := binary.LittleEndian.Uint32(b[5:])
	for part := range slices.Chunk(b, size) {
		if len(part) < shortest || [5]byte(part) != [5]byte(b) || binary.LittleEndian.Uint32(part[5:]) != next {
			return false
		}
		next++
	}
	return true
}

// joinedPackets reports whether each part is a packet, with numbers that follow each other, and all
// together are too large for one.
func joinedPackets(b []byte, size int) bool {
	if len(b) <= packet.MaxDatagram {
		return false
	}
	next := binary.LittleEndian.Uint16(b[1:])
	for part := range slices.Chunk(b, size) {
		if h, _, err := packet.DecodeHeader(part); err != nil || h.Sequence != next {
			return false
		}
		next++
	}
	return true
}
