package contract

// This file has the operations of repair slices (REPAIR.md).

// The operations.
const (
	OpRepairRow      = "repair_row"
	OpRepairSlice    = "repair_slice"
	OpRepairRebuild  = "repair_rebuild"
	OpRepairEncode   = "repair_encode"
	OpRepairDecode   = "repair_decode"
	OpRepairSender   = "repair_sender"
	OpRepairReceiver = "repair_receiver"
)

var repairOperations = []Operation{
	{Name: OpRepairRow}, {Name: OpRepairSlice}, {Name: OpRepairRebuild}, {Name: OpRepairEncode}, {Name: OpRepairDecode},
	{Name: OpRepairSender}, {Name: OpRepairReceiver},
}

// RepairRequest asks to encode or decode a packet, without its id: a datagram if there is a
// protocol id, else a bare body.
type RepairRequest struct {
	Op         string        `json:"op"`
	ProtocolID *uint32       `json:"protocol_id,omitempty"`
	Type       string        `json:"type,omitempty"`
	Hex        *string       `json:"hex,omitempty"`
	Packet     *RepairPacket `json:"packet,omitempty"`
}

// RepairResponse is the response to it, without its id.
type RepairResponse struct {
	Answer
	Hex    *string       `json:"hex,omitempty"`
	Packet *RepairPacket `json:"packet,omitempty"`
}

// RepairPacket is a slice or an ack: fields that only one of them has are pointers. Its
// numbers hold more than a packet can, so that an encoder can be asked what it refuses.
type RepairPacket struct {
	Type      string  `json:"type"`
	ChunkID   int64   `json:"chunk_id"`
	SliceID   *int64  `json:"slice_id,omitempty"`
	NumSlices int64   `json:"num_slices"`
	LastBytes *int64  `json:"last_bytes,omitempty"`
	Data      *string `json:"data,omitempty"`
	Have      *int64  `json:"have,omitempty"`
	Top       *int64  `json:"top,omitempty"`
}

// RepairSenderRequest is a trace of a sender, without its id.
type RepairSenderRequest struct {
	Op     string             `json:"op"`
	Config RepairSenderConfig `json:"config"`
	Events []RepairEvent      `json:"events"`
}

// RepairReceiverRequest is a trace of a receiver, without its id.
type RepairReceiverRequest struct {
	Op     string         `json:"op"`
	Config ReceiverConfig `json:"config"`
	Events []RepairEvent  `json:"events"`
}

// RepairTraceResponse is the response to a trace, without its id.
type RepairTraceResponse struct {
	Answer
	Steps []RepairStep `json:"steps"`
}

// RepairSenderConfig sets up a sender for a trace.
type RepairSenderConfig struct {
	FirstChunkID uint16         `json:"first_chunk_id"`
	GiveUpUS     int64          `json:"give_up_us"`
	Profile      *RepairProfile `json:"profile"` // nil: the scheduler is a script
}

// RepairProfile is the profile of the sender's rule.
type RepairProfile struct {
	Rate      int64 `json:"rate"` // the limit in bits a second, 0 for none
	Burst     bool  `json:"burst"`
	Fixed     bool  `json:"fixed"`
	Redundant bool  `json:"redundant"`
}

// RepairEvent is something that happens to a machine in a trace. Fields that only some
// events have are pointers.
type RepairEvent struct {
	At        int64   `json:"at"`
	Event     string  `json:"event"`
	Size      *int    `json:"size,omitempty"`
	Due       *int    `json:"due,omitempty"`
	ChunkID   *uint16 `json:"chunk_id,omitempty"`
	SliceID   *int    `json:"slice_id,omitempty"`
	NumSlices *int    `json:"num_slices,omitempty"`
	LastBytes *int    `json:"last_bytes,omitempty"`
	Fill      *byte   `json:"fill,omitempty"`
	Have      *int    `json:"have,omitempty"`
	Top       *int    `json:"top,omitempty"` // the field
}

// RepairStep is what a machine did at an event, and its state after it.
type RepairStep struct {
	Event        int          `json:"event"`
	Row          string       `json:"row"`
	State        string       `json:"state"`
	ChunkID      uint16       `json:"chunk_id"`
	Sent         *int         `json:"sent,omitempty"` // of a sender
	Have         int          `json:"have"`
	Top          int          `json:"top"`                    // the number
	Inconsistent *int         `json:"inconsistent,omitempty"` // of a receiver
	DeadlineUS   *int64       `json:"deadline_us"`            // nil: never
	Packets      []RepairSent `json:"packets"`
	Chunk        *Content     `json:"chunk,omitempty"`
	Error        string       `json:"error,omitempty"`
}

// RepairSent is a packet that a machine sent in a trace.
type RepairSent struct {
	Type      string  `json:"type"`
	ChunkID   uint16  `json:"chunk_id"`
	SliceID   *int    `json:"slice_id,omitempty"`
	NumSlices int     `json:"num_slices"`
	LastBytes *int    `json:"last_bytes,omitempty"`
	Size      *int    `json:"size,omitempty"`
	CRC32     *uint32 `json:"crc32,omitempty"`
	Have      *int    `json:"have,omitempty"`
	Top       *int    `json:"top,omitempty"` // the field
}
