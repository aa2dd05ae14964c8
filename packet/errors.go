package packet

import "github.com/chunkwire/chunkwire/wire"

// Error says why a datagram or a payload was refused. Nothing in this package returns an
// error of another type, but for a bad configuration. Its place is the offset in bytes of
// the field at fault; wire.NoPlace where the fault lies in no byte.
type Error = wire.Error

// The codes of sections 3.3, 5 and 3.2.
const (
	CodeTruncated            wire.Code = "truncated"
	CodeReservedBits         wire.Code = "reserved_bits"
	CodeNotMinimal           wire.Code = "not_minimal"
	CodeEmptyPayload         wire.Code = "empty_payload"
	CodeTooLarge             wire.Code = "too_large"
	CodeTooManyFragments     wire.Code = "too_many_fragments"
	CodeSingleFragment       wire.Code = "single_fragment"
	CodeFragmentIDOutOfRange wire.Code = "fragment_id_out_of_range"
	CodeSequenceMismatch     wire.Code = "sequence_mismatch"
	CodeFragmentSize         wire.Code = "fragment_size"

	CodeStale             wire.Code = "stale"
	CodeDuplicate         wire.Code = "duplicate"
	CodeDead              wire.Code = "dead"
	CodeRefused           wire.Code = "refused"
	CodeFragmentCount     wire.Code = "fragment_count"
	CodeFragmentDuplicate wire.Code = "fragment_duplicate"
	CodeReassemblyFull    wire.Code = "reassembly_full"

	CodePayloadSize wire.Code = "payload_size"
)

// codes are those by which an endpoint counts what it refused to receive.
var codes = [...]wire.Code{
	CodeTruncated, CodeReservedBits, CodeNotMinimal, CodeEmptyPayload, CodeTooLarge,
	CodeTooManyFragments, CodeSingleFragment, CodeFragmentIDOutOfRange, CodeSequenceMismatch, CodeFragmentSize,
	CodeStale, CodeDuplicate, CodeDead, CodeRefused, CodeFragmentCount, CodeFragmentDuplicate, CodeReassemblyFull,
}

var format = &wire.Format{Name: "packet", Unit: "byte"}

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

// What a decoder refuses (section 3.3). The last number is the largest place.
var (
	prefixMissing    = format.Rule("PKD-1", CodeTruncated, "there is no byte", 1, 0)
	prefixReserved   = format.Rule("PKD-2", CodeReservedBits, "the prefix has a bit that must be 0", 1, 0)
	sequenceMissing  = format.Rule("PKD-3", CodeTruncated, "ends inside sequence", 1, 6)
	ackMissing       = format.Rule("PKD-4", CodeTruncated, "ends inside ack", 1, 8)
	ackNotMinimal    = format.Rule("PKD-4", CodeNotMinimal, "ack has two bytes where one is enough", 1, 8)
	bitsMissing      = format.Rule("PKD-5", CodeTruncated, "ends inside ack_bits", 1, 13)
	bitsNotMinimal   = format.Rule("PKD-5", CodeNotMinimal, "a byte of ack_bits is there though it is 0xFF", 1, 13)
	payloadEmpty     = format.Rule("PKD-6", CodeEmptyPayload, "there is no payload", 1, MaxHeader)
	payloadTooLarge  = format.Rule("PKD-6", CodeTooLarge, "the payload is larger than a packet can be", 1, MaxHeader)
	fragmentMissing  = format.Rule("PKD-7", CodeTruncated, "ends inside the header of a fragment", 1, 4)
	fragmentsTooMany = format.Rule("PKD-8", CodeTooManyFragments, "more fragments than a packet can have", 1, 4)
	fragmentSingle   = format.Rule("PKD-8", CodeSingleFragment, "a packet of one fragment", 1, 4)
	fragmentIDBeyond = format.Rule("PKD-9", CodeFragmentIDOutOfRange, "fragment_id is not below the number of fragments", 1, 3)
	embeddedMissing  = format.Rule("PKD-10", CodeTruncated, "ends before the embedded header", 1, 5)
	embeddedReserved = format.Rule("PKD-10", CodeReservedBits, "the embedded prefix has a bit that must be 0", 1, 5)
	sequenceDiffers  = format.Rule("PKD-10", CodeSequenceMismatch, "the embedded header has another sequence", 1, 6)
	dataSize         = format.Rule("PKD-11", CodeFragmentSize, "wrong data length for this fragment", 1, fragmentHeader+MaxHeader)
)

// What an endpoint refuses to receive (section 5).
var (
	numberStale        = format.Rule("P2", CodeStale, "the number is outside the window", 1, 0)
	numberReceived     = format.Rule("P3", CodeDuplicate, "the packet was received before", 1, 0)
	numberDead         = format.Rule("P4", CodeDead, "the packet was given up", 1, 0)
	regularRefused     = format.Rule("P5", CodeRefused, "the layer above refuses the payload", 1, 0)
	fragmentStale      = format.Rule("P7", CodeStale, "the number is too old for fragments", 1, 0)
	fragmentOtherCount = format.Rule("P8", CodeFragmentCount, "other fragments of the packet have another count", 1, 0)
	fragmentTwice      = format.Rule("P9", CodeFragmentDuplicate, "the fragment was received before", 1, 0)
	reassemblyNoRoom   = format.Rule("P10", CodeReassemblyFull, "no room for the fragment", 1, 0)
	assembledRefused   = format.Rule("P12", CodeRefused, "the layer above refuses the payload", 1, 0)
)

// What a sender refuses (section 3.2).
var payloadSize = format.Rule("PKF-3", CodePayloadSize, "the payload has no byte, or more than a packet can have", 1, 0)
