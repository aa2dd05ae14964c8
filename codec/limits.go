package codec

// The protocol's fixed sizes (LIM-1 to LIM-5).
const (
	// SliceSize is the number of payload bytes in every slice except the last.
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

// HeaderBytes is what IPv4 and UDP add to a datagram; rates and budgets count it.
const HeaderBytes = 28
