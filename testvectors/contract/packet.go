package contract

// The operations of the packet layer (appendix C of spec/PACKETS.md).
const (
	OpPacketHeader     = "packet_header"
	OpPacketDecode     = "packet_decode"
	OpPacketEndpoint   = "packet_endpoint"
	OpPacketCongestion = "packet_congestion"
)

var packetOperations = []Operation{
	{Name: OpPacketHeader}, {Name: OpPacketDecode}, {Name: OpPacketEndpoint}, {Name: OpPacketCongestion},
}

// The kinds of datagrams.
const (
	KindRegular  = "regular"
	KindFragment = "fragment"
)

// Placed is a refusal with the byte at which the fault lies, -1 if it lies in none.
type Placed struct {
	Answer
	At int `json:"at"`
}

// PacketHeaderRequest asks for the bytes of a header, without its id. The response is
// a Response with Hex.
type PacketHeaderRequest struct {
	Op       string `json:"op"`
	Sequence uint16 `json:"sequence"`
	Ack      uint16 `json:"ack"`
	AckBits  uint32 `json:"ack_bits"`
}

// PacketDecodeRequest asks what a datagram is, without its id.
type PacketDecodeRequest struct {
	Op           string `json:"op"`
	FragmentSize int    `json:"fragment_size"`
	MaxFragments int    `json:"max_fragments"`
	Hex          string `json:"hex"`
}

// PacketDecodeResponse is the response to it, without its id.
type PacketDecodeResponse struct {
	Answer
	Packet Datagram `json:"packet"`
}

// Datagram is a datagram of the packet layer: fields that only some kinds have are
// pointers.
type Datagram struct {
	Kind         string  `json:"kind"`
	Sequence     uint16  `json:"sequence"`
	FragmentID   *int    `json:"fragment_id,omitempty"`
	NumFragments *int    `json:"num_fragments,omitempty"`
	Ack          *uint16 `json:"ack,omitempty"`
	AckBits      *uint32 `json:"ack_bits,omitempty"`
	Payload      *string `json:"payload,omitempty"` // of a regular packet
	Data         *string `json:"data,omitempty"`    // of a fragment
}

// Events that several machines have.
const (
	EventSend    = "send"
	EventReceive = "receive"
	EventPoll    = "poll"
)

// Refused is why an endpoint took nothing.
type Refused struct {
	Error string `json:"error"`
	At    int    `json:"at"`
}
