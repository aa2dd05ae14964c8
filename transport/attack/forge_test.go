package attack

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
)

// What can be forged of the chunk protocol: the protocol id is no secret.
var framer = codec.NewFramer(0)

func sliceDatagram(s codec.Slice) []byte {
	datagram, err := framer.AppendSlice(nil, s)
	if err != nil {
		panic(err)
	}
	return datagram
}

func ackDatagram(a codec.Ack) []byte {
	datagram, err := framer.AppendAck(nil, a)
	if err != nil {
		panic(err)
	}
	return datagram
}

// firstSlice is the shortest datagram with which a connection of the chunk protocol
// begins: 15 bytes.
func firstSlice() []byte {
	return sliceDatagram(codec.Slice{SliceID: 255, NumSlices: 256, Data: []byte("x")})
}

// wholeChunk is a first chunk of one slice: 15 bytes, too.
func wholeChunk() []byte {
	return sliceDatagram(codec.Slice{NumSlices: 1, Data: []byte("xyz")})
}

// blindAck says that all slices of a chunk have arrived.
func blindAck(chunk uint16, slices int) []byte {
	return ackDatagram(codec.Ack{ChunkID: chunk, NumSlices: slices, Acked: core.FirstN(slices)})
}

// slice is a slice of the first chunk, of 256.
func slice(id int) []byte {
	return sliceDatagram(codec.Slice{SliceID: id, NumSlices: 256, Data: make([]byte, 1024)})
}
