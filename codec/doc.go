// Package codec turns the two packets of the chunk protocol, [Slice] and
// [Ack], into bytes and back: as bare bodies (FRM-7), and as whole datagrams with
// the frame around them (sections 4 to 6 of spec/PROTOCOL.md). It holds no state.
//
// Every value has exactly one encoding (LAW-1). A decoder accepts bytes if and
// only if encoding what it decoded gives the same bytes back (LAW-2); everything
// else is refused with an [*Error] that tells the code, the bit where the fault
// begins and the sentence of the specification that was broken. Encoders refuse
// what cannot be represented with [ErrInvalidField].
//
// No encoder or decoder panics, whatever its input (LAW-3), and none allocates,
// errors included, as long as the caller's buffer is large enough (LAW-4).
//
// # Speed
//
// The fields before a slice's data, or before an ack's bits, are put together and
// taken apart in one register (bitpack.Word), and an ack's bits move 64 at a time.
// That gives the bytes of a walk field by field, because the stream puts the least
// significant bit first: fields in a row are one little-endian number. Tests hold
// encoders and decoders to the plain walk.
//
//	go test -run '^$' -bench . -count 10 ./codec
//
// measures each beside its floor, a copy of 1024 bytes or a CRC-32 of 1036. The
// two take turns, so that the ratios (x-copy, x-crc) hold on a busy machine, too.
package codec

// The protocol's fixed sizes (LIM-1 to LIM-4).
const (
	// SliceSize is the number of payload bytes in every slice but the last.
	SliceSize = 1024
	// MaxSlices is the largest number of slices in a chunk.
	MaxSlices = 256
	// MaxChunkSize is the largest chunk, in bytes.
	MaxChunkSize = SliceSize * MaxSlices
	// MaxDatagramSize is the largest datagram, in bytes of UDP payload: a last
	// slice that is full.
	MaxDatagramSize = 10 + SliceSize + 4
	// MaxAckSize is the largest datagram that holds an ack, in bytes.
	MaxAckSize = 44
)

// NumSlices returns how many slices a chunk of size bytes is cut into; size is
// in 1..MaxChunkSize (LIM-2).
func NumSlices(size int) int {
	return (size + SliceSize - 1) / SliceSize
}

// SliceDatagramSize returns the size in bytes of the datagram that carries
// slice sliceID of numSlices with dataBytes of payload.
func SliceDatagramSize(sliceID, numSlices, dataBytes int) int {
	if sliceID == numSlices-1 {
		return 14 + dataBytes
	}
	return 13 + dataBytes
}

// AckDatagramSize returns the size in bytes of the datagram that carries an ack
// of numSlices.
func AckDatagramSize(numSlices int) int {
	return (57+numSlices+7)/8 + 4
}
