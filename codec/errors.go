package codec

import "fmt"

// Code is the kind of a refusal, by the name that ports and vectors use.
type Code string

// The codes of section 6.
const (
	CodeTruncated         Code = "truncated"
	CodeCRCMismatch       Code = "crc_mismatch"
	CodeNonzeroPadding    Code = "nonzero_padding"
	CodeSliceIDOutOfRange Code = "slice_id_out_of_range"
	CodeBadEndCheck       Code = "bad_end_check"
	CodeTrailingData      Code = "trailing_data"
	CodeInvalidField      Code = "invalid_field"
)

// Sentinels for errors.Is: each matches every [*Error] of its code.
var (
	ErrTruncated         = &Error{rule: anyTruncated}
	ErrCRCMismatch       = &Error{rule: anyCRCMismatch}
	ErrNonzeroPadding    = &Error{rule: anyNonzeroPadding}
	ErrSliceIDOutOfRange = &Error{rule: anySliceIDOutOfRange}
	ErrBadEndCheck       = &Error{rule: anyBadEndCheck}
	ErrTrailingData      = &Error{rule: anyTrailingData}
	ErrInvalidField      = &Error{rule: anyInvalidField}
)

// Error tells why bytes or a value were refused. Decoders and encoders return
// no error of another type.
type Error struct {
	rule rule
	bit  uint16
}

// Code returns the kind of the refusal.
func (e *Error) Code() Code { return rules[e.rule].code }

// Rule returns the id of the specification's sentence that was broken, such as
// "DEC-7"; it is empty for the sentinels.
func (e *Error) Rule() string { return rules[e.rule].id }

// Bit returns the offset of the first bit of the field at fault, counted from
// the start of the datagram, or of the bare body. For an encoder it is where
// the field would stand in the bare body (DEC-15).
func (e *Error) Bit() int { return int(e.bit) }

func (e *Error) Error() string {
	r := &rules[e.rule]
	if r.id == "" {
		return "codec: " + string(r.code)
	}
	return fmt.Sprintf("codec: %s at bit %d: %s (%s)", r.code, e.bit, r.why, r.id)
}

// Is makes errors.Is match the sentinel of the same code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && (e == t || t.Rule() == "" && t.Code() == e.Code())
}

// rule names a sentence of the specification that bytes or a value can break.
type rule uint8

const (
	anyTruncated rule = iota
	anyCRCMismatch
	anyNonzeroPadding
	anySliceIDOutOfRange
	anyBadEndCheck
	anyTrailingData
	anyInvalidField

	crcMissing
	crcWrong
	typeMissing
	chunkIDMissing
	sliceIDMissing
	numSlicesMissing
	sliceIDTooLarge
	sliceBytesMissing
	ackedMissing
	paddingNotZero
	dataMissing
	endCheckMissing
	endCheckWrong
	bytesLeft

	numSlicesInvalid
	sliceIDInvalid
	dataInvalid
	ackedInvalid
	typeInvalid

	numRules
)

var rules = [numRules]struct {
	code Code
	id   string
	why  string
}{
	anyTruncated:         {code: CodeTruncated},
	anyCRCMismatch:       {code: CodeCRCMismatch},
	anyNonzeroPadding:    {code: CodeNonzeroPadding},
	anySliceIDOutOfRange: {code: CodeSliceIDOutOfRange},
	anyBadEndCheck:       {code: CodeBadEndCheck},
	anyTrailingData:      {code: CodeTrailingData},
	anyInvalidField:      {code: CodeInvalidField},

	crcMissing:        {CodeTruncated, "DEC-1", "the datagram is too short to hold a crc"},
	crcWrong:          {CodeCRCMismatch, "DEC-2", "the crc does not match the bytes and the protocol id"},
	typeMissing:       {CodeTruncated, "DEC-3", "ends before the type"},
	chunkIDMissing:    {CodeTruncated, "DEC-4", "ends inside chunk_id"},
	sliceIDMissing:    {CodeTruncated, "DEC-5", "ends inside slice_id"},
	numSlicesMissing:  {CodeTruncated, "DEC-6", "ends inside num_slices"},
	sliceIDTooLarge:   {CodeSliceIDOutOfRange, "DEC-7", "slice_id is not below num_slices"},
	sliceBytesMissing: {CodeTruncated, "DEC-8", "ends inside slice_bytes"},
	ackedMissing:      {CodeTruncated, "DEC-9", "ends inside the acked bits"},
	paddingNotZero:    {CodeNonzeroPadding, "DEC-10", "a padding bit is not zero"},
	dataMissing:       {CodeTruncated, "DEC-11", "ends inside the data"},
	endCheckMissing:   {CodeTruncated, "DEC-12", "ends inside the end check"},
	endCheckWrong:     {CodeBadEndCheck, "DEC-13", "the end check has another value"},
	bytesLeft:         {CodeTrailingData, "DEC-14", "bytes follow the packet"},

	numSlicesInvalid: {CodeInvalidField, "ENC-2", "num_slices is outside 1..256"},
	sliceIDInvalid:   {CodeInvalidField, "ENC-3", "slice_id is outside 0..num_slices-1"},
	dataInvalid:      {CodeInvalidField, "ENC-4", "the data has not the length that its slice must have"},
	ackedInvalid:     {CodeInvalidField, "ENC-5", "a bit is set for a slice that the chunk does not have"},
	typeInvalid:      {CodeInvalidField, "ENC-6", "the packet is neither a slice nor an ack"},
}

// Errors are made once, so that refusing hostile bytes allocates nothing: one
// for every rule and place that can occur. Above denseBits every fault lies on
// a byte boundary and is one of the last three rules of a decoder.
const (
	denseBits = 336 // the largest ack's padding begins at bit 57+256
	tailBytes = MaxDatagramSize + 1
	firstTail = endCheckMissing
	numTail   = bytesLeft - endCheckMissing + 1
)

var (
	denseFaults [numRules][denseBits]Error
	tailFaults  [numTail][tailBytes]Error
)

func init() {
	for r := range denseFaults {
		for bit := range denseFaults[r] {
			denseFaults[r][bit] = Error{rule(r), uint16(bit)}
		}
	}
	for r := range tailFaults {
		for at := range tailFaults[r] {
			tailFaults[r][at] = Error{firstTail + rule(r), uint16(8 * at)}
		}
	}
}

// fault returns the error for a rule broken at a bit.
func fault(r rule, bit int) *Error {
	if bit < denseBits {
		return &denseFaults[r][bit]
	}
	return &tailFaults[r-firstTail][bit>>3]
}
