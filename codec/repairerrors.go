package codec

import (
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/frame"
)

// CodeHaveOutOfRange is the code of an ack for more repair slices than the chunk has.
const CodeHaveOutOfRange core.Code = "have_out_of_range"

// ErrHaveOutOfRange is for errors.Is: it matches every error of its code.
var ErrHaveOutOfRange = frame.Format.Sentinel(CodeHaveOutOfRange)

// What a decoder of kind Repair refuses beside these.
var (
	repairIDMissing  = frame.FieldRule("RPD-1", CodeTruncated, "ends inside id")
	lastBytesMissing = frame.FieldRule("RPD-2", CodeTruncated, "ends inside last_bytes")
	haveMissing      = frame.FieldRule("RPD-3", CodeTruncated, "ends inside have")
	haveTooLarge     = frame.FieldRule("RPD-4", CodeHaveOutOfRange, "have is above num_slices")
	topMissing       = frame.FieldRule("RPD-5", CodeTruncated, "ends inside top")
)

// What an encoder of kind Repair refuses beside what package frame does.
var (
	repairIDInvalid   = frame.FieldRule("RPE-1", CodeInvalidField, "id is outside 0..8191")
	lastBytesInvalid  = frame.FieldRule("RPE-2", CodeInvalidField, "last_bytes is outside 1..1024")
	repairDataInvalid = frame.FieldRule("RPE-3", CodeInvalidField, "wrong data length for this slice")
	haveInvalid       = frame.FieldRule("RPE-4", CodeInvalidField, "have is outside 0..num_slices")
	topInvalid        = frame.FieldRule("RPE-5", CodeInvalidField, "top is outside 0..8191")
)
