package codec

import "github.com/chunkwire/chunkwire/wire"

// Error says why bytes or a value were refused. Decoders and encoders return no
// error of another type. Its place is the offset in bits of the field at fault,
// counted from the start of the datagram or of the bare body; for an encoder it
// is where the field would stand in the bare body (DEC-15).
type Error = wire.Error

// The codes of section 6.
const (
	CodeTruncated         wire.Code = "truncated"
	CodeCRCMismatch       wire.Code = "crc_mismatch"
	CodeNonzeroPadding    wire.Code = "nonzero_padding"
	CodeSliceIDOutOfRange wire.Code = "slice_id_out_of_range"
	CodeBadEndCheck       wire.Code = "bad_end_check"
	CodeTrailingData      wire.Code = "trailing_data"
	CodeInvalidField      wire.Code = "invalid_field"
)

var format = &wire.Format{Name: "codec", Unit: "bit"}

// Sentinels for errors.Is: each matches every [*Error] of its code.
var (
	ErrTruncated         = format.Sentinel(CodeTruncated)
	ErrCRCMismatch       = format.Sentinel(CodeCRCMismatch)
	ErrNonzeroPadding    = format.Sentinel(CodeNonzeroPadding)
	ErrSliceIDOutOfRange = format.Sentinel(CodeSliceIDOutOfRange)
	ErrBadEndCheck       = format.Sentinel(CodeBadEndCheck)
	ErrTrailingData      = format.Sentinel(CodeTrailingData)
	ErrInvalidField      = format.Sentinel(CodeInvalidField)
)

// fieldRule returns the rule of a sentence about the fields before the data, in
// bits. The last place is behind the bits of the largest ack.
func fieldRule(id string, code wire.Code, why string) *wire.Rule {
	return format.Rule(id, code, why, 1, 57+MaxSlices)
}

// byteRule returns the rule of a sentence about whole bytes of a datagram.
func byteRule(id string, code wire.Code, why string) *wire.Rule {
	return format.Rule(id, code, why, 8, 8*MaxDatagramSize)
}

// What a decoder refuses (section 6.3).
var (
	crcMissing        = fieldRule("DEC-1", CodeTruncated, "the datagram is too short to hold a crc")
	crcWrong          = fieldRule("DEC-2", CodeCRCMismatch, "the crc does not match the bytes and the protocol id")
	typeMissing       = fieldRule("DEC-3", CodeTruncated, "ends before the type")
	chunkIDMissing    = fieldRule("DEC-4", CodeTruncated, "ends inside chunk_id")
	sliceIDMissing    = fieldRule("DEC-5", CodeTruncated, "ends inside slice_id")
	numSlicesMissing  = fieldRule("DEC-6", CodeTruncated, "ends inside num_slices")
	sliceIDTooLarge   = fieldRule("DEC-7", CodeSliceIDOutOfRange, "slice_id is not below num_slices")
	sliceBytesMissing = fieldRule("DEC-8", CodeTruncated, "ends inside slice_bytes")
	ackedMissing      = fieldRule("DEC-9", CodeTruncated, "ends inside the acked bits")
	paddingNotZero    = fieldRule("DEC-10", CodeNonzeroPadding, "a padding bit is not zero")
	dataMissing       = byteRule("DEC-11", CodeTruncated, "ends inside the data")
	endCheckMissing   = byteRule("DEC-12", CodeTruncated, "ends inside the end check")
	endCheckWrong     = byteRule("DEC-13", CodeBadEndCheck, "end check mismatch")
	bytesLeft         = byteRule("DEC-14", CodeTrailingData, "bytes follow the packet")
	tooLong           = byteRule("DEC-16", CodeTrailingData, "longer than any datagram")
)

// What an encoder refuses, and nothing else (section 6.2, ENC-7).
var (
	numSlicesInvalid = fieldRule("ENC-2", CodeInvalidField, "num_slices is outside 1..256")
	sliceIDInvalid   = fieldRule("ENC-3", CodeInvalidField, "slice_id is outside 0..num_slices-1")
	dataInvalid      = fieldRule("ENC-4", CodeInvalidField, "wrong data length for this slice")
	ackedInvalid     = fieldRule("ENC-5", CodeInvalidField, "a bit is set for a slice that the chunk does not have")
	typeInvalid      = fieldRule("ENC-6", CodeInvalidField, "the packet is neither a slice nor an ack")
)
