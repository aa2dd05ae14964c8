package oracle

// The limits (section 2.3) and constants (section 5).
const (
	SliceSize = 1024
	MaxSlices = 256
	EndCheck  = 0x9908ACE2
)

// The types of packets, by the names that the port contract gives them.
const (
	TypeSlice = "slice"
	TypeAck   = "ack"
)

// Packet is a slice or an ack. Its numbers hold more than the wire does, so that
// it can be asked what an encoder refuses.
type Packet struct {
	Type      string
	ChunkID   int64
	SliceID   int64 // of a slice
	NumSlices int64
	Data      []byte // of a slice
	Acked     []bool // of an ack; what it does not reach is false
}
