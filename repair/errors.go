package repair

import (
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/frame"
)

// CodeHaveOutOfRange is the code of an ack for more slices than the chunk has. All others
// are those of package codec, whose sentinels match the errors of this package.
const CodeHaveOutOfRange core.Code = "have_out_of_range"

// ErrHaveOutOfRange is for errors.Is: it matches every error of its code.
var ErrHaveOutOfRange = frame.Format.Sentinel(CodeHaveOutOfRange)

// What a decoder refuses, beside what package frame does.
var (
	idMissing        = frame.FieldRule("RPD-1", frame.CodeTruncated, "ends inside id")
	lastBytesMissing = frame.FieldRule("RPD-2", frame.CodeTruncated, "ends inside last_bytes")
	haveMissing      = frame.FieldRule("RPD-3", frame.CodeTruncated, "ends inside have")
	haveTooLarge     = frame.FieldRule("RPD-4", CodeHaveOutOfRange, "have is above num_slices")
	topMissing       = frame.FieldRule("RPD-5", frame.CodeTruncated, "ends inside top")
)

// What an encoder refuses, beside what package frame does.
var (
	idInvalid        = frame.FieldRule("RPE-1", frame.CodeInvalidField, "id is outside 0..8191")
	lastBytesInvalid = frame.FieldRule("RPE-2", frame.CodeInvalidField, "last_bytes is outside 1..1024")
	dataInvalid      = frame.FieldRule("RPE-3", frame.CodeInvalidField, "wrong data length for this slice")
	haveInvalid      = frame.FieldRule("RPE-4", frame.CodeInvalidField, "have is outside 0..num_slices")
	topInvalid       = frame.FieldRule("RPE-5", frame.CodeInvalidField, "top is outside 0..8191")
)
