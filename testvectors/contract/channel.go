package contract

import "encoding/json"

// This file has the operations of channels (CHANNELS.md).

// The operations.
const (
	OpRecordsEncode   = "records_encode"
	OpRecordsDecode   = "records_decode"
	OpChannelReport   = "channel_report"
	OpChannelReceiver = "channel_receiver"
	OpChannelSender   = "channel_sender"
)

var channelOperations = []Operation{
	{Name: OpRecordsEncode}, {Name: OpRecordsDecode}, {Name: OpChannelReport}, {Name: OpChannelReceiver}, {Name: OpChannelSender},
}

// The types of records.
const (
	RecordPad        = "pad"
	RecordUnreliable = "unreliable"
	RecordMessage    = "message"
	RecordFragment   = "fragment"
	RecordSkip       = "skip"
	RecordReport     = "report"
	RecordStatus     = "status"
)

// Record is a record: fields that only some types have are pointers. In a request to
// encode a number may be one that the encoder must refuse.
type Record struct {
	Type     string      `json:"type"`
	Channel  *int64      `json:"channel,omitempty"` // of all but a pad
	Sequence *int64      `json:"sequence,omitempty"`
	Index    *int64      `json:"index,omitempty"`
	First    *int64      `json:"first,omitempty"`
	Base     *int64      `json:"base,omitempty"`
	Room     *int64      `json:"room,omitempty"`
	Groups   *[][2]int64 `json:"groups,omitempty"` // start and bits
	Next     *int64      `json:"next,omitempty"`
	Count    *int64      `json:"count,omitempty"` // of a fragment's group, or of a skip
	Data     *string     `json:"data,omitempty"`
}

// RecordsEncodeRequest asks for the payload of records, without its id. The response is a
// Response with Hex.
type RecordsEncodeRequest struct {
	Op      string   `json:"op"`
	Records []Record `json:"records"`
}

// RecordsDecodeRequest asks which records a payload has, without its id.
type RecordsDecodeRequest struct {
	Op  string `json:"op"`
	Hex string `json:"hex"`
}

// RecordsDecodeResponse is the response to it, without its id.
type RecordsDecodeResponse struct {
	Answer
	Records []Record `json:"records"`
}

// ChannelReportRequest asks for the REPORT of a set of missing sequences, which ascend
// from base, without its id. The response is a Response with Hex.
type ChannelReportRequest struct {
	Op      string   `json:"op"`
	Channel int64    `json:"channel"`
	Base    uint16   `json:"base"`
	Room    int64    `json:"room"`
	Missing []uint16 `json:"missing"`
}

// The kinds of reliable channels.
const (
	KindOrdered   = "ordered"
	KindUnordered = "unordered"
)

// ChannelReceiverRequest is a trace of a channel's receiver, without its id.
type ChannelReceiverRequest struct {
	Op     string                 `json:"op"`
	Config ChannelReceiverConfig  `json:"config"`
	Events []ChannelReceiverEvent `json:"events"`
}

// ChannelFormat is what both ends of a channel have in common (CHP-1).
type ChannelFormat struct {
	Window int64 `json:"window"`
	Data   int64 `json:"data"`
	Group  int64 `json:"group"`
}

// ChannelReceiverConfig sets up a receiver for a trace.
type ChannelReceiverConfig struct {
	Kind string `json:"kind"`
	ChannelFormat
	First  int64 `json:"first"`
	GiveUp int64 `json:"give_up"`
}

// The events of the machines of channels, beside EventSend and EventPoll.
const (
	EventRecord = "record"
	EventRead   = "read"
	EventReport = "report"
	EventPath   = "path"
)

// ChannelReceiverEvent is something that happens to a receiver in a trace.
type ChannelReceiverEvent struct {
	At    int64   `json:"at"`
	Event string  `json:"event"`
	Hex   *string `json:"hex,omitempty"`   // of a record
	Space *int64  `json:"space,omitempty"` // of a poll
	SRTT  Null    `json:"srtt,omitzero"`   // of a path
}

// ChannelReceiverResponse is the response to a trace of a receiver, without its id.
type ChannelReceiverResponse struct {
	Answer
	Steps []ChannelReceiverStep `json:"steps"`
}

// ChannelReceiverStep is what a receiver did at an event.
type ChannelReceiverStep struct {
	Row      *string      `json:"row"` // nil for a path, which is no event of the table
	State    string       `json:"state"`
	Read     *ChannelRead `json:"read"`
	Report   *string      `json:"report"`
	Deadline *int64       `json:"deadline"`
}

// ChannelRead is what a read gave: a message, or a sequence that was skipped.
type ChannelRead struct {
	Sequence uint16  `json:"sequence"` // of a group its first
	Data     *string `json:"data,omitempty"`
	Skipped  bool    `json:"skipped,omitempty"`
}

// ChannelSenderRequest is a trace of a channel's sender, without its id.
type ChannelSenderRequest struct {
	Op     string               `json:"op"`
	Config ChannelSenderConfig  `json:"config"`
	Events []ChannelSenderEvent `json:"events"`
}

// ChannelSenderConfig sets up a sender for a trace.
type ChannelSenderConfig struct {
	ChannelFormat
	SendQueue int64 `json:"send_queue"`
	First     int64 `json:"first"`
	GiveUp    int64 `json:"give_up"`
}

// ChannelSenderEvent is something that happens to a sender in a trace.
type ChannelSenderEvent struct {
	At       int64   `json:"at"`
	Event    string  `json:"event"`
	Data     *string `json:"data,omitempty"`    // of a send
	Lifetime Null    `json:"lifetime,omitzero"` // of a send
	Hex      *string `json:"hex,omitempty"`     // of a report
	Number   *int64  `json:"number,omitempty"`  // of a report: its packet's; of a poll: that of the packet which is composed
	Ack      *int64  `json:"ack,omitempty"`     // of a report: what its packet's header acks, -1 for nothing
	Space    *int64  `json:"space,omitempty"`   // of a poll
	SRTT     Null    `json:"srtt,omitzero"`     // of a path
	Patience *int64  `json:"patience,omitempty"`
}

// ChannelSenderResponse is the response to a trace of a sender, without its id.
type ChannelSenderResponse struct {
	Answer
	Steps []ChannelSenderStep `json:"steps"`
}

// ChannelSenderStep is what a sender did at an event. Its lists are never nil.
type ChannelSenderStep struct {
	Rows     []string `json:"rows"` // a poll is one for each record, and one that has none
	State    string   `json:"state"`
	Refused  *string  `json:"refused"`
	Records  []string `json:"records"`
	Base     int64    `json:"base"`
	Limit    int64    `json:"limit"`
	Deadline *int64   `json:"deadline"`
}

// Null is a number or null, in a field that may also be missing.
type Null struct {
	Is    bool // the field is there
	Value *int64
}

// MarshalJSON writes the number or null.
func (n Null) MarshalJSON() ([]byte, error) { return json.Marshal(n.Value) }

// UnmarshalJSON reads a number or null.
func (n *Null) UnmarshalJSON(text []byte) error {
	n.Is = true
	return json.Unmarshal(text, &n.Value)
}
