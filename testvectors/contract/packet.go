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

// The profiles of congestion avoidance (PKC-4, PKO-6).
const (
	ProfileArticle = "article"
	ProfileDefault = "default"
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

// EndpointRequest is a trace of an endpoint, without its id.
type EndpointRequest struct {
	Op     string          `json:"op"`
	Config EndpointConfig  `json:"config"`
	Events []EndpointEvent `json:"events"`
}

// EndpointConfig sets up an endpoint for a trace. The two numbers are what its
// counters, which never wrap, begin with.
type EndpointConfig struct {
	FragmentSize  int   `json:"fragment_size"`
	MaxFragments  int   `json:"max_fragments"`
	FragmentAbove int   `json:"fragment_above"`
	NextToSend    int64 `json:"next_to_send"`
	NextToReceive int64 `json:"next_to_receive"`
}

// The events of an endpoint.
const (
	EventSend    = "send"
	EventReceive = "receive"
	EventPoll    = "poll"
)

// EndpointEvent is something that happens to an endpoint in a trace.
type EndpointEvent struct {
	At       int64   `json:"at"`
	Event    string  `json:"event"`
	Payload  *string `json:"payload,omitempty"`  // of a send
	Datagram *string `json:"datagram,omitempty"` // of a receive
}

// EndpointResponse is the response to a trace of an endpoint, without its id.
type EndpointResponse struct {
	Answer
	Steps []EndpointStep `json:"steps"`
}

// EndpointStep is what an endpoint did at an event. Its lists are never nil.
type EndpointStep struct {
	Datagrams []string   `json:"datagrams"`
	Delivered *Delivered `json:"delivered"`
	Acked     []uint16   `json:"acked"`
	Lost      []uint16   `json:"lost"`
	Refused   *Refused   `json:"refused"`
}

// Delivered is a payload that an endpoint gave up.
type Delivered struct {
	Sequence uint16 `json:"sequence"`
	Payload  string `json:"payload"`
}

// Refused is why an endpoint took nothing.
type Refused struct {
	Error string `json:"error"`
	At    int    `json:"at"`
}

// CongestionRequest is a trace of congestion avoidance, without its id.
type CongestionRequest struct {
	Op     string            `json:"op"`
	Config CongestionConfig  `json:"config"`
	Events []CongestionEvent `json:"events"`
}

// CongestionConfig is the profile of a trace.
type CongestionConfig struct {
	Profile string `json:"profile"`
}

// CongestionEvent is the conditions at a time: SRTT is nil if nothing is measured.
type CongestionEvent struct {
	At     int64  `json:"at"`
	SRTT   *int64 `json:"srtt"`
	Silent bool   `json:"silent"`
	MinRTT int64  `json:"min_rtt,omitempty"`
}

// CongestionResponse is the response to it, without its id.
type CongestionResponse struct {
	Answer
	Steps []CongestionStep `json:"steps"`
}

// The modes.
const (
	ModeGood = "good"
	ModeBad  = "bad"
)

// CongestionStep is the state after an event.
type CongestionStep struct {
	Mode     string `json:"mode"`
	Recovery int64  `json:"recovery"`
}
