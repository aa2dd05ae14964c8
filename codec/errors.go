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

// What a decoder refuses (section 6.3). The last number is the largest place
// that a datagram can have.
var (
	crcMissing        = format.Rule("DEC-1", CodeTruncated, "the datagram is too short to hold a crc", 1, 0)
	crcWrong          = format.Rule("DEC-2", CodeCRCMismatch, "the crc does not match the bytes and the protocol id", 1, 0)
	typeMissing       = format.Rule("DEC-3", CodeTruncated, "ends before the type", 1, 32)
	chunkIDMissing    = format.Rule("DEC-4", CodeTruncated, "ends inside chunk_id", 1, 33)
	sliceIDMissing    = format.Rule("DEC-5", CodeTruncated, "ends inside slice_id", 1, 49)
	numSlicesMissing  = format.Rule("DEC-6", CodeTruncated, "ends inside num_slices", 1, 57)
	sliceIDTooLarge   = format.Rule("DEC-7", CodeSliceIDOutOfRange, "slice_id is not below num_slices", 1, 49)
	sliceBytesMissing = format.Rule("DEC-8", CodeTruncated, "ends inside slice_bytes", 1, 65)
	ackedMissing      = format.Rule("DEC-9", CodeTruncated, "ends inside the acked bits", 1, 57)
	paddingNotZero    = format.Rule("DEC-10", CodeNonzeroPadding, "a padding bit is not zero", 1, 57+MaxSlices)
	dataMissing       = format.Rule("DEC-11", CodeTruncated, "ends inside the data", 8, 80)
	endCheckMissing   = format.Rule("DEC-12", CodeTruncated, "ends inside the end check", 8, 8*MaxDatagramSize)
	endCheckWrong     = format.Rule("DEC-13", CodeBadEndCheck, "end check mismatch", 8, 8*MaxDatagramSize)
	bytesLeft         = format.Rule("DEC-14", CodeTrailingData, "bytes follow the packet", 8, 8*MaxDatagramSize)
	tooLong           = format.Rule("DEC-16", CodeTrailingData, "longer than any datagram", 8, 8*MaxDatagramSize)
)

// What an encoder refuses, and nothing else (section 6.2, ENC-7).
var (
	numSlicesInvalid = format.Rule("ENC-2", CodeInvalidField, "num_slices is outside 1..256", 1, 24)
	sliceIDInvalid   = format.Rule("ENC-3", CodeInvalidField, "slice_id is outside 0..num_slices-1", 1, 16)
	dataInvalid      = format.Rule("ENC-4", CodeInvalidField, "wrong data length for this slice", 1, 32)
	ackedInvalid     = format.Rule("ENC-5", CodeInvalidField, "a bit is set for a slice that the chunk does not have", 1, 24)
	typeInvalid      = format.Rule("ENC-6", CodeInvalidField, "the packet is neither a slice nor an ack", 1, 0)
)
