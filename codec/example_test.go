package codec_test

import (
	"errors"
	"fmt"

	"github.com/chunkwire/chunkwire/codec"
)

func ExampleFramer() {
	framer := codec.NewFramer(0x11223344)

	slice := codec.Slice{ChunkID: 1, SliceID: 2, NumSlices: 3, Data: []byte("hello")}
	datagram, err := framer.AppendSlice(nil, slice)
	if err != nil {
		fmt.Println(err)
		return
	}
	packet, err := framer.Decode(datagram)
	fmt.Printf("%v %d/%d %q %v\n", packet.Type, packet.Slice.SliceID, packet.Slice.NumSlices, packet.Slice.Data, err)

	datagram[12] ^= 1 // the network flips a bit
	_, err = framer.Decode(datagram)
	fmt.Println(errors.Is(err, codec.ErrCRCMismatch), err)
	// Output:
	// slice 2/3 "hello" <nil>
	// true codec: crc_mismatch at bit 0: the crc does not match the bytes and the protocol id
}
