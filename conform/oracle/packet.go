package oracle

// sliceSize is SLICE_SIZE (section 2.3).
const sliceSize = 1024

// Packet is a slice or an ack, of named slices or of repair slices.
type Packet struct {
	Type      string
	ChunkID   int64
	SliceID   int64 // of a slice
	NumSlices int64
	LastBytes int64  // of a repair slice
	Data      []byte // of a slice
	Acked     []bool // of an ack; what it does not reach is false
	Have      int64  // of an ack of repair slices, as the next
	Top       int64  // the field
}
