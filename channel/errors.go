package channel

import "github.com/chunkwire/chunkwire/core"

// Error says why a payload, a record or a message was refused. Its place is the offset in
// the payload, in bytes, of the field at fault; core.NoPlace where the fault lies in no byte.
type Error = core.Error

// The codes of sections 3 and 4.
const (
	CodeTruncated      core.Code = "truncated"
	CodeUnknownRecord  core.Code = "unknown_record"
	CodeUnknownChannel core.Code = "unknown_channel"
	CodeChannelKind    core.Code = "channel_kind"
	CodeLength         core.Code = "length"
	CodeFragmentCount  core.Code = "fragment_count"
	CodeFragmentIndex  core.Code = "fragment_index"
	CodeRoom           core.Code = "room"
	CodeGroupCount     core.Code = "group_count"
	CodeGroupStart     core.Code = "group_start"
	CodeGroupOrder     core.Code = "group_order"
	CodeGroupBits      core.Code = "group_bits"
	CodeGroupBase      core.Code = "group_base"
	CodeInvalidField   core.Code = "invalid_field" // of an encoder: no field can hold it

	CodeMessageSize core.Code = "message_size"
	CodeQueueFull   core.Code = "queue_full"
	CodeFailed      core.Code = "failed"
)

// codes are those by which a Mux counts the payloads that it refused.
var codes = [...]core.Code{
	CodeTruncated, CodeUnknownRecord, CodeUnknownChannel, CodeChannelKind, CodeLength, CodeFragmentCount, CodeFragmentIndex,
	CodeRoom, CodeGroupCount, CodeGroupStart, CodeGroupOrder, CodeGroupBits, CodeGroupBase,
}

var format = &core.Format{Name: "channel", Unit: "byte"}

// Sentinels for errors.Is: each matches every [*Error] of its code.
var (
	ErrTruncated      = format.Sentinel(CodeTruncated)
	ErrUnknownRecord  = format.Sentinel(CodeUnknownRecord)
	ErrUnknownChannel = format.Sentinel(CodeUnknownChannel)
	ErrChannelKind    = format.Sentinel(CodeChannelKind)
	ErrLength         = format.Sentinel(CodeLength)
	ErrFragmentCount  = format.Sentinel(CodeFragmentCount)
	ErrFragmentIndex  = format.Sentinel(CodeFragmentIndex)
	ErrRoom           = format.Sentinel(CodeRoom)
	ErrGroupCount     = format.Sentinel(CodeGroupCount)
	ErrGroupStart     = format.Sentinel(CodeGroupStart)
	ErrGroupOrder     = format.Sentinel(CodeGroupOrder)
	ErrGroupBits      = format.Sentinel(CodeGroupBits)
	ErrGroupBase      = format.Sentinel(CodeGroupBase)
	ErrInvalidField   = format.Sentinel(CodeInvalidField)

	ErrMessageSize = format.Sentinel(CodeMessageSize) // no channel of this kind takes a message of this size
	ErrQueueFull   = format.Sentinel(CodeQueueFull)   // too much waits to be sent
	ErrFailed      = format.Sentinel(CodeFailed)      // the channel was given up
)

// rule returns the rule of a sentence, with its errors made in advance for all places of a
// payload of records.
func rule(id string, code core.Code, why string) *core.Rule {
	return format.Rule(id, code, why, 1, LargestPayload)
}

// placeless returns the rule of what lies in no byte.
func placeless(id string, code core.Code, why string) *core.Rule {
	return format.Rule(id, code, why, 1, 0)
}

// What a decoder refuses, and an encoder (section 3.2).
var (
	payloadEmpty   = rule("CHR-20", CodeTruncated, "the payload has no byte")
	typeUnknown    = rule("CHR-21", CodeUnknownRecord, "no record has this type")
	padNotAlone    = rule("CHR-21", CodeUnknownRecord, "a pad is not alone in its payload")
	fieldMissing   = rule("CHR-22", CodeTruncated, "ends inside this field")
	channelUnknown = rule("CHR-23", CodeUnknownChannel, "there is no such channel")
	kindDiffers    = rule("CHR-24", CodeChannelKind, "the channel is of another kind than this record")
	unreliableSize = rule("CHR-25", CodeLength, "an unreliable message has no byte, or too many")
	messageSize    = rule("CHR-26", CodeLength, "a message has no byte, or too many")
	countWrong     = rule("CHR-27", CodeFragmentCount, "no message has so many fragments")
	indexBeyond    = rule("CHR-28", CodeFragmentIndex, "the index is not below the number of fragments")
	fragmentSize   = rule("CHR-29", CodeLength, "wrong data length for this fragment")
	roomTooLarge   = rule("CHR-30", CodeRoom, "more room than the window has")
	groupsTooMany  = rule("CHR-31", CodeGroupCount, "more groups than a report can have")
	groupBeyond    = rule("CHR-32", CodeGroupStart, "the group starts beyond the room")
	groupTooNear   = rule("CHR-33", CodeGroupOrder, "the group starts less than 33 above the one before")
	groupBelow     = rule("CHR-34", CodeGroupBits, "a bit names what is below base")
	groupNotBase   = rule("CHR-35", CodeGroupBase, "the lowest sequence that is named is not base")
)

// What only an encoder refuses (section 3.2).
var skipCount = rule("CHR-13", CodeInvalidField, "a skip has 1 to 256 sequences")

// What a sender refuses (sections 4 and 6).
var (
	sizeNotAllowed    = placeless("D1", CodeMessageSize, "the message has no byte, or more than its channel takes")
	queueFull         = placeless("D2", CodeQueueFull, "too much waits to be sent")
	channelFailed     = placeless("D11", CodeFailed, "the channel was given up")
	unreliableTooLong = placeless("CHU-2", CodeMessageSize, "the message has no byte, or more than a packet takes")
	unreliableFull    = placeless("CHU-4", CodeQueueFull, "too much waits to be sent")
)
