package contract

import "encoding/json"

// This file has the operations of connections (CONNECTION.md) beside those of sessions.

// The operations.
const (
	OpConnectionEncode = "connection_encode"
	OpConnectionDecode = "connection_decode"
	OpConnection       = "connection"
)

var connectionOperations = []Operation{{Name: OpConnectionEncode}, {Name: OpConnectionDecode}, {Name: OpConnection}}

// The types of records that a connection adds to those of the channels, beside TypeSlice.
const (
	RecordClose    = "close"
	RecordChunkAck = "chunk_ack"
	RecordECN      = "ecn"
)

// ConnectionRecord is a record of a payload: fields that only some types have are pointers.
type ConnectionRecord struct {
	Record
	Lane      *int64  `json:"lane,omitempty"` // of a slice or a chunk ack, as the next four
	ChunkID   *int64  `json:"chunk_id,omitempty"`
	SliceID   *int64  `json:"slice_id,omitempty"`
	NumSlices *int64  `json:"num_slices,omitempty"`
	Acked     *string `json:"acked,omitempty"`
	LastBytes *int64  `json:"last_bytes,omitempty"` // in variant 2, as the next two, of a chunk ack
	Have      *int64  `json:"have,omitempty"`
	Top       *int64  `json:"top,omitempty"`
	Code      *int64  `json:"code,omitempty"` // of a close, as the text
	Text      *string `json:"text,omitempty"`
	Arrived   *int64  `json:"arrived,omitempty"` // of an ECN, as the next
	Congested *int64  `json:"congested,omitempty"`
}

// ConnectionEncodeRequest asks for the payload of records, without its id. The response is a
// Response with Hex.
type ConnectionEncodeRequest struct {
	Op         string             `json:"op"`
	Lanes      int64              `json:"lanes"`
	Variant    int64              `json:"variant,omitempty"` // 0: 1
	Extensions int64              `json:"extensions,omitempty"`
	Records    []ConnectionRecord `json:"records"`
}

// ConnectionDecodeRequest asks which records a payload has, without its id.
type ConnectionDecodeRequest struct {
	Op         string `json:"op"`
	Lanes      int64  `json:"lanes"`
	Variant    int64  `json:"variant,omitempty"` // 0: 1
	Extensions int64  `json:"extensions,omitempty"`
	Hex        string `json:"hex"`
}

// ExtensionECN is the extension of marks of congestion.
const ExtensionECN = 1

// The values of the field ECN but not-ECT.
const (
	ECT1 = "ect1"
	ECT0 = "ect0"
	CE   = "ce"
)

// VariantRepair is the variant of slices with repair slices.
const VariantRepair = 2

// ConnectionDecodeResponse is the response to it, without its id.
type ConnectionDecodeResponse struct {
	Answer
	Records []ConnectionRecord `json:"records"`
}

// The events of a connection, beside those of channels.
const (
	EventSendChunk = "send_chunk"
	EventReadChunk = "read_chunk"
)

// The kind of a channel that delivers what comes.
const KindUnreliable = "unreliable"

// The sides of a connection.
const (
	SideClient = "client"
	SideServer = "server"
)

// ConnectionRequest is a trace of one end of a connection, without its id.
type ConnectionRequest struct {
	Op     string            `json:"op"`
	Config ConnectionConfig  `json:"config"`
	Events []ConnectionEvent `json:"events"`
}

// ConnectionConfig sets up one end of a connection for a trace.
type ConnectionConfig struct {
	Side        string              `json:"side"`
	Mode        string              `json:"mode"`
	SendKey     string              `json:"send_key"` // of the direction
	ReceiveKey  string              `json:"receive_key"`
	Link        int64               `json:"link"`
	Lanes       int64               `json:"lanes"`
	Timeout     int64               `json:"timeout"` // in units of 100 ms
	Begin       int64               `json:"begin"`   // when it begins
	Tick        int64               `json:"tick"`
	MessageRate int64               `json:"message_rate"` // bits a second
	Channels    []ConnectionChannel `json:"channels"`
	Variant     int64               `json:"variant,omitempty"`    // 0: 1
	Extensions  int64               `json:"extensions,omitempty"` // that were agreed
	Profile     LaneProfile         `json:"profile"`              // of each lane's scheduler
}

// LaneProfile is the profile of a variant.
type LaneProfile struct {
	Named  Profile
	Repair *RepairProfile // not nil: of variant 2
}

// MarshalJSON writes the profile of the variant.
func (p LaneProfile) MarshalJSON() ([]byte, error) {
	if p.Repair != nil {
		return json.Marshal(p.Repair)
	}
	return json.Marshal(p.Named)
}

// UnmarshalJSON reads it: only that of repair slices says whether it is fixed.
func (p *LaneProfile) UnmarshalJSON(text []byte) error {
	var r struct {
		RepairProfile
		Fixed *bool `json:"fixed"`
	}
	if json.Unmarshal(text, &r) == nil && r.Fixed != nil {
		r.RepairProfile.Fixed = *r.Fixed
		p.Repair = &r.RepairProfile
		return nil
	}
	return json.Unmarshal(text, &p.Named)
}

// ConnectionChannel is a channel of a connection. An unreliable one has no more than its id,
// kind and priority.
type ConnectionChannel struct {
	ID        int64  `json:"id"`
	Kind      string `json:"kind"`
	Window    *int64 `json:"window,omitempty"`
	Data      *int64 `json:"data,omitempty"`
	Group     *int64 `json:"group,omitempty"`
	SendQueue *int64 `json:"send_queue,omitempty"`
	GiveUp    *int64 `json:"give_up,omitempty"`
	Priority  int64  `json:"priority"`
}

// ConnectionEvent is something that happens to a connection in a trace.
type ConnectionEvent struct {
	At       int64   `json:"at"`
	Event    string  `json:"event"`
	Hex      *string `json:"hex,omitempty"`     // of a receive
	ECN      string  `json:"ecn,omitempty"`     // of a receive; empty: not-ECT
	Channel  *int64  `json:"channel,omitempty"` // of a send or a read
	Data     *string `json:"data,omitempty"`    // of a send
	Lifetime Null    `json:"lifetime,omitzero"` // of a send
	Size     *int64  `json:"size,omitempty"`    // of a chunk that is sent
	Code     *int64  `json:"code,omitempty"`    // of a close
	Text     *string `json:"text,omitempty"`    // of a close
}

// ConnectionResponse is the response to a trace of a connection, without its id.
type ConnectionResponse struct {
	Answer
	Steps []ConnectionStep `json:"steps"`
}

// ConnectionStep is what a connection did at an event. Its lists are never nil.
type ConnectionStep struct {
	Rows      []string         `json:"rows"`
	State     string           `json:"state"`
	Refused   *Refused         `json:"refused"`
	Datagrams []string         `json:"datagrams"`
	Read      *ChannelRead     `json:"read"`
	Chunk     *Content         `json:"chunk"`
	Ended     *ConnectionEnded `json:"ended"`
	Deadline  *int64           `json:"deadline"`
	ECN       *ConnectionECN   `json:"ecn,omitempty"` // where marks were agreed on
}

// ConnectionECN is which of the datagrams are to be sent with ECT(0), and how many marks the
// schedulers were told of.
type ConnectionECN struct {
	ECT    []bool `json:"ect"` // never nil
	Marked int64  `json:"marked"`
}

// ConnectionEnded is why a connection is CLOSED, or will be. Only one that was closed has a
// code and a text.
type ConnectionEnded struct {
	Why    string  `json:"why"`
	Code   *int64  `json:"code,omitempty"`
	Text   *string `json:"text,omitempty"`
	Remote *bool   `json:"remote,omitempty"` // the other end closed it
}
