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
// On a 64-bit x86 server, where the copy takes 10 ns and the checksum 52:
//
//	                                measured  target
//	slice body, encode, x copy          1.61     1.5  missed
//	slice body, decode, x copy          0.57     0.5  missed
//	ack body, encode, x copy            1.39     1.5
//	ack body, decode, x copy            1.05     1.5
//	slice, encode, x (copy + crc)       1.32    1.25  missed; up to 1.6 in some runs
//	slice, decode, x crc                1.38    1.15  missed
//
// What is known of the misses: a body's encoder takes 6 ns beside the copy, for
// three calls that are too large to inline: itself, the check of the fields and
// their head. Decoding copies nothing and takes 5.7 ns in all, in two such calls.
//
// The floor's checksums are independent, so the processor begins one before the
// last has ended; when each waits for the one before, they take 1.42 x crc. A datagram
// refused for its crc still costs 0.97. An accepted one costs 72 ns, while its
// checksum alone (52) and its fields alone (9) make 61: with other work between
// them, checksums seem not to overlap any more. So 1.15 lies below even the sum
// of the parts, 1.17. The encoder stores its head and copies before it can sum,
// and takes 82 ns, which is about checksums in a row (74) and a copy (10).
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
