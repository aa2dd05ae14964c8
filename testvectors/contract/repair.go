package contract

// This file has the traces of repair slices (REPAIR.md), as scripts make them.

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
