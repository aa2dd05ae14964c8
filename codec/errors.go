package codec

import (
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/frame"
)

// Error says why bytes or a value were refused. Decoders and encoders return no
// error of another type. Its place is the offset in bits of the field at fault,
// counted from the start of the datagram or of the bare body; for an encoder it
// is where the field would stand in the bare body (DEC-15).
type Error = core.Error

// The codes of section 6.
const (
	CodeTruncated                   = frame.CodeTruncated
	CodeCRCMismatch                 = frame.CodeCRCMismatch
	CodeNonzeroPadding              = frame.CodeNonzeroPadding
	CodeSliceIDOutOfRange core.Code = "slice_id_out_of_range"
	CodeBadEndCheck                 = frame.CodeBadEndCheck
	CodeTrailingData                = frame.CodeTrailingData
	CodeInvalidField                = frame.CodeInvalidField
)

// Sentinels for errors.Is: each matches every [*Error] of its code.
var (
	ErrTruncated         = frame.Format.Sentinel(CodeTruncated)
	ErrCRCMismatch       = frame.Format.Sentinel(CodeCRCMismatch)
	ErrNonzeroPadding    = frame.Format.Sentinel(CodeNonzeroPadding)
	ErrSliceIDOutOfRange = frame.Format.Sentinel(CodeSliceIDOutOfRange)
	ErrBadEndCheck       = frame.Format.Sentinel(CodeBadEndCheck)
	ErrTrailingData      = frame.Format.Sentinel(CodeTrailingData)
	ErrInvalidField      = frame.Format.Sentinel(CodeInvalidField)
)

// What a decoder refuses (section 6.3), beside what package frame does.
var (
	sliceIDMissing    = frame.FieldRule("DEC-5", CodeTruncated, "ends inside slice_id")
	sliceIDTooLarge   = frame.FieldRule("DEC-7", CodeSliceIDOutOfRange, "slice_id is not below num_slices")
	sliceBytesMissing = frame.FieldRule("DEC-8", CodeTruncated, "ends inside slice_bytes")
	ackedMissing      = frame.FieldRule("DEC-9", CodeTruncated, "ends inside the acked bits")
	tooLong           = frame.ByteRule("DEC-16", CodeTrailingData, "longer than any datagram")
)

// What an encoder refuses, and nothing else (section 6.2, ENC-7), beside what package
// frame does.
var (
	sliceIDInvalid = frame.FieldRule("ENC-3", CodeInvalidField, "slice_id is outside 0..num_slices-1")
	dataInvalid    = frame.FieldRule("ENC-4", CodeInvalidField, "wrong data length for this slice")
	ackedInvalid   = frame.FieldRule("ENC-5", CodeInvalidField, "a bit is set for a slice that the chunk does not have")
)
