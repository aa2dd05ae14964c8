package contract

import (
	"encoding/hex"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
)

// The operations of the chunk protocol.
const (
	OpEncodeBody   = "encode_body"
	OpDecodeBody   = "decode_body"
	OpEncodePacket = "encode_packet"
	OpDecodePacket = "decode_packet"
	OpSender       = "sender"
	OpReceiver     = "receiver"
)

var chunkOperations = []Operation{
	{Name: OpEncodeBody}, {Name: OpDecodeBody}, {Name: OpEncodePacket}, {Name: OpDecodePacket}, {Name: OpSender},
	{Name: OpReceiver, Open: []string{"deadline_us"}}, // TRC-5: section 8.5 is recommended
}

// The types of packets.
const (
	TypeSlice = "slice"
	TypeAck   = "ack"
)

// Request is a request of an operation that encodes or decodes, without its id.
type Request struct {
	Op         string  `json:"op"`
	ProtocolID *uint32 `json:"protocol_id,omitempty"`
	Type       string  `json:"type,omitempty"`
	Hex        *string `json:"hex,omitempty"`
	Packet     *Packet `json:"packet,omitempty"`
}

// Response is the response to it, without its id.
type Response struct {
	Answer
	Hex    *string `json:"hex,omitempty"`
	Packet *Packet `json:"packet,omitempty"`
}

// Packet is a slice or an ack (PRT-2). Its numbers hold more than a packet can, so
// that an encoder can be asked what it refuses.
type Packet struct {
	Type      string  `json:"type"`
	ChunkID   int64   `json:"chunk_id"`
	SliceID   *int64  `json:"slice_id,omitempty"`
	NumSlices *int64  `json:"num_slices,omitempty"`
	Data      *string `json:"data,omitempty"`
	Acked     *string `json:"acked,omitempty"`
}

// Bits writes the first n numbers of a set, one character each.
func Bits(set core.Set, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = '0'
		if set.Has(i) {
			b[i] = '1'
		}
	}
	return string(b)
}

// ParseBits reads what Bits writes: 1 to codec.MaxSlices characters. It fails with
// codec.ErrInvalidField.
func ParseBits(s string) (set core.Set, n int, err error) {
	if len(s) < 1 || len(s) > codec.MaxSlices {
		return set, 0, codec.ErrInvalidField
	}
	for i := range len(s) {
		switch s[i] {
		case '1':
			set.Add(i)
		case '0':
		default:
			return core.Set{}, 0, codec.ErrInvalidField
		}
	}
	return set, len(s), nil
}

// PacketOf returns a packet of the codec in the contract's form.
func PacketOf(p codec.Packet) *Packet {
	if p.Type == codec.TypeAck {
		acked := Bits(p.Ack.Acked, p.Ack.NumSlices)
		return &Packet{Type: TypeAck, ChunkID: int64(p.Ack.ChunkID), Acked: &acked}
	}
	sliceID, numSlices, data := int64(p.Slice.SliceID), int64(p.Slice.NumSlices), hex.EncodeToString(p.Slice.Data)
	return &Packet{Type: TypeSlice, ChunkID: int64(p.Slice.ChunkID), SliceID: &sliceID, NumSlices: &numSlices, Data: &data}
}
