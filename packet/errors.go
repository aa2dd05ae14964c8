package packet

import "github.com/chunkwire/chunkwire/core"

// Error says why a datagram or a payload was refused. Nothing in this package returns an
// error of another type, except for a bad configuration. Its place is the offset in bytes of
// the field at fault; core.NoPlace where the fault lies in no byte.
type Error = core.Error

// The codes of sections 3.3, 5 and 3.2.
const (
	CodeTruncated            core.Code = "truncated"
	CodeReservedBits         core.Code = "reserved_bits"
	CodeNotMinimal           core.Code = "not_minimal"
	CodeEmptyPayload         core.Code = "empty_payload"
	CodeTooLarge             core.Code = "too_large"
	CodeTooManyFragments     core.Code = "too_many_fragments"
	CodeSingleFragment       core.Code = "single_fragment"
	CodeFragmentIDOutOfRange core.Code = "fragment_id_out_of_range"
	CodeSequenceMismatch     core.Code = "sequence_mismatch"
	CodeFragmentSize         core.Code = "fragment_size"

	CodeStale             core.Code = "stale"
	CodeDuplicate         core.Code = "duplicate"
	CodeDead              core.Code = "dead"
	CodeRefused           core.Code = "refused"
	CodeFragmentCount     core.Code = "fragment_count"
	CodeFragmentDuplicate core.Code = "fragment_duplicate"
	CodeReassemblyFull    core.Code = "reassembly_full"

	CodePayloadSize core.Code = "payload_size"
)

// codes are those by which an endpoint counts what it refused to receive.
var codes = [...]core.Code{
	CodeTruncated, CodeReservedBits, CodeNotMinimal, CodeEmptyPayload, CodeTooLarge,
	CodeTooManyFragments, CodeSingleFragment, CodeFragmentIDOutOfRange, CodeSequenceMismatch, CodeFragmentSize,
	CodeStale, CodeDuplicate, CodeDead, CodeRefused, CodeFragmentCount, CodeFragmentDuplicate, CodeReassemblyFull,
}

var format = &core.Format{Name: "packet", Unit: "byte"}

// Sentinels for errors.Is: each matches every [*Error] of its code.
var (
	ErrTruncated            = format.Sentinel(CodeTruncated)
	ErrReservedBits         = format.Sentinel(CodeReservedBits)
	ErrNotMinimal           = format.Sentinel(CodeNotMinimal)
	ErrEmptyPayload         = format.Sentinel(CodeEmptyPayload)
	ErrTooLarge             = format.Sentinel(CodeTooLarge)
	ErrTooManyFragments     = format.Sentinel(CodeTooManyFragments)
	ErrSingleFragment       = format.Sentinel(CodeSingleFragment)
	ErrFragmentIDOutOfRange = format.Sentinel(CodeFragmentIDOutOfRange)
	ErrSequenceMismatch     = format.Sentinel(CodeSequenceMismatch)
	ErrFragmentSize         = format.Sentinel(CodeFragmentSize)

	ErrStale             = format.Sentinel(CodeStale)
	ErrDuplicate         = format.Sentinel(CodeDuplicate)
	ErrDead              = format.Sentinel(CodeDead)
	ErrRefused           = format.Sentinel(CodeRefused)
	ErrFragmentCount     = format.Sentinel(CodeFragmentCount)
	ErrFragmentDuplicate = format.Sentinel(CodeFragmentDuplicate)
	ErrReassemblyFull    = format.Sentinel(CodeReassemblyFull)

	ErrPayloadSize = format.Sentinel(CodePayloadSize)
)

// rule returns the rule of a sentence or a row, with its errors up to a place made in
// advance.
func rule(id string, code core.Code, why string, last int) *core.Rule {
	return format.Rule(id, code, why, 1, last)
}

// placeless returns the rule of what lies in no byte.
func placeless(id string, code core.Code, why string) *core.Rule { return rule(id, code, why, 0) }

// What a decoder refuses (section 3.3). The last number is the largest place.
var (
	prefixMissing    = rule("PKD-1", CodeTruncated, "there is no byte", 0)
	prefixReserved   = rule("PKD-2", CodeReservedBits, "the prefix has a bit that must be 0", 0)
	sequenceMissing  = rule("PKD-3", CodeTruncated, "ends inside sequence", 6)
	ackMissing       = rule("PKD-4", CodeTruncated, "ends inside ack", 8)
	ackNotMinimal    = rule("PKD-4", CodeNotMinimal, "ack has two bytes where one is enough", 8)
	bitsMissing      = rule("PKD-5", CodeTruncated, "ends inside ack_bits", 13)
	bitsNotMinimal   = rule("PKD-5", CodeNotMinimal, "a byte of ack_bits is there though it is 0xFF", 13)
	payloadEmpty     = rule("PKD-6", CodeEmptyPayload, "there is no payload", MaxHeader)
	payloadTooLarge  = rule("PKD-6", CodeTooLarge, "the payload is larger than a packet can be", MaxHeader)
	fragmentMissing  = rule("PKD-7", CodeTruncated, "ends inside the header of a fragment", 4)
	fragmentsTooMany = rule("PKD-8", CodeTooManyFragments, "more fragments than a packet can have", 4)
	fragmentSingle   = rule("PKD-8", CodeSingleFragment, "a packet of one fragment", 4)
	fragmentIDBeyond = rule("PKD-9", CodeFragmentIDOutOfRange, "fragment_id is not below the number of fragments", 3)
	embeddedMissing  = rule("PKD-10", CodeTruncated, "ends before the embedded header", 5)
	embeddedReserved = rule("PKD-10", CodeReservedBits, "the embedded prefix has a bit that must be 0", 5)
	sequenceDiffers  = rule("PKD-10", CodeSequenceMismatch, "the embedded header has another sequence", 6)
	dataSize         = rule("PKD-11", CodeFragmentSize, "wrong data length for this fragment", fragmentHeader+MaxHeader)
)

// What an endpoint refuses to receive (section 5).
var (
	numberStale        = placeless("P2", CodeStale, "the number is outside the window")
	numberReceived     = placeless("P3", CodeDuplicate, "the packet was received before")
	numberDead         = placeless("P4", CodeDead, "the packet was given up")
	regularRefused     = placeless("P5", CodeRefused, "the layer above refuses the payload")
	fragmentStale      = placeless("P7", CodeStale, "the number is too old for fragments")
	fragmentOtherCount = placeless("P8", CodeFragmentCount, "other fragments of the packet have another count")
	fragmentTwice      = placeless("P9", CodeFragmentDuplicate, "the fragment was received before")
	reassemblyNoRoom   = placeless("P10", CodeReassemblyFull, "no room for the fragment")
	assembledRefused   = placeless("P12", CodeRefused, "the layer above refuses the payload")
)

// What a sender refuses (section 3.2).
var payloadSize = placeless("PKF-3", CodePayloadSize, "the payload has no byte, or more than a packet can have")
