package channeloracle

import "github.com/chunkwire/chunkwire/conform/layout"

// The codes of a decoder and an encoder of records.
const (
	Truncated      = "truncated"
	UnknownRecord  = "unknown_record"
	UnknownChannel = "unknown_channel"
	Length         = "length"
	FragmentCount  = "fragment_count"
	FragmentIndex  = "fragment_index"
	Room           = "room"
	GroupCount     = "group_count"
	GroupStart     = "group_start"
	GroupOrder     = "group_order"
	GroupBits      = "group_bits"
	GroupBase      = "group_base"
	InvalidField   = "invalid_field" // of an encoder only (CHR-13)
)

// The codes with which a sender refuses a message (rows D1, D2 and D11).
const (
	MessageSize = "message_size"
	QueueFull   = "queue_full"
	Failed      = "failed"
)

// Error is a refusal of records.
type Error = layout.Fault
