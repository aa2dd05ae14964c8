package contract

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
