package codec_test

import (
	"errors"
	"fmt"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
)

func ExampleKind_Framer() {
	framer := codec.Repair.Framer(0x11223344)
	chunk := erasure.Encode([]byte("hello"))
	datagram, err := framer.AppendSlice(nil, codec.Slice{ChunkID: 1, SliceID: 1, NumSlices: 1, LastBytes: 5, Data: chunk.Slice(1)})
	if err != nil {
		fmt.Println(err)
		return
	}
	packet, err := framer.Decode(datagram)
	fmt.Printf("%v %d of chunk %d, %d bytes %v\n", packet.Type, packet.Slice.SliceID, packet.Slice.ChunkID, len(packet.Slice.Data), err)
	datagram[12] ^= 1 // the network flips a bit
	_, err = framer.Decode(datagram)
	fmt.Println(errors.Is(err, codec.ErrCRCMismatch), err)
	// Output:
	// slice 1 of chunk 1, 5 bytes <nil>
	// true codec: crc_mismatch at bit 0: the crc does not match the bytes and the protocol id
}
