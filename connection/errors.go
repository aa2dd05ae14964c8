package connection

import (
	"errors"
	"fmt"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
)

// Error says why a payload or a record was refused. Its place is the offset in the payload, in
// bytes, of the field at fault; core.NoPlace where the fault lies in no byte.
type Error = core.Error

// The codes of records 7 to 9 (section 7). The body of a slice or an ack has the codes of packages
// codec and repair, too.
const (
	CodeTruncated     core.Code = "truncated"
	CodeUnknownRecord core.Code = "unknown_record"
	CodeNotAlone      core.Code = "not_alone"
	CodeLength        core.Code = "length"
	CodeText          core.Code = "text"
	CodeLane          core.Code = "lane"
	CodeReserved      core.Code = "reserved"      // of Close: an application has no such code
	CodeInvalidField  core.Code = "invalid_field" // of an encoder: no body holds it
)

// codes are those by which a Conn counts the payloads that it refused itself.
var codes = [...]core.Code{
	CodeTruncated, CodeNotAlone, CodeLength, CodeText, CodeLane,
	codec.CodeNonzeroPadding, codec.CodeSliceIDOutOfRange, codec.CodeHaveOutOfRange, codec.CodeTrailingData,
}

var format = &core.Format{Name: "connection", Unit: "byte"}

// Sentinels for errors.Is: each matches every [*Error] of its code.
var (
	ErrTruncated     = format.Sentinel(CodeTruncated)
	ErrUnknownRecord = format.Sentinel(CodeUnknownRecord)
	ErrNotAlone      = format.Sentinel(CodeNotAlone)
	ErrLength        = format.Sentinel(CodeLength)
	ErrText          = format.Sentinel(CodeText)
	ErrLane          = format.Sentinel(CodeLane)
	ErrReserved      = format.Sentinel(CodeReserved)
	ErrInvalidField  = format.Sentinel(CodeInvalidField)
)

// rule returns the rule of a sentence, with its errors made in advance for all places of a
// payload of records.
func rule(id string, code core.Code, why string) *core.Rule {
	return format.Rule(id, code, why, 1, largestPayload)
}

// What a decoder refuses (section 7), and an encoder (CXR-4, CXR-8).
var (
	fieldMissing    = rule("CXR-20", CodeTruncated, "ends inside this field")
	typeUnknown     = rule("CXR-27", CodeUnknownRecord, "no record of a connection has this type")
	closeNotFirst   = rule("CXR-21", CodeNotAlone, "something is before a close")
	textTooLong     = rule("CXR-22", CodeLength, "the text is too long")
	textNotUTF8     = rule("CXR-23", CodeText, "the text is not UTF-8")
	closeNotLast    = rule("CXR-24", CodeNotAlone, "something is behind a close")
	laneBeyond      = rule("CXR-25", CodeLane, "there is no such lane")
	bodyFieldsShort = rule("CXR-26", CodeTruncated, "the body ends inside a field")
	bodyPadding     = rule("CXR-26", codec.CodeNonzeroPadding, "a padding bit of the body is not zero")
	bodySliceID     = rule("CXR-26", codec.CodeSliceIDOutOfRange, "slice_id is not below num_slices")
	bodyHave        = rule("CXR-26", codec.CodeHaveOutOfRange, "have is above num_slices")
	bodyTrailing    = rule("CXR-26", codec.CodeTrailingData, "bytes follow the body")
	bodyInvalid     = rule("CXR-8", CodeInvalidField, "there is no such slice or ack")
	codeReserved    = format.Rule("CXR-4", CodeReserved, "the code is not the application's", 1, 0)
)

// inBody returns the error of a body that begins at a place of the payload (CXR-26).
func inBody(err error, from int) *Error {
	e := err.(*codec.Error) // a decoder returns no error of another type
	at := from + e.Place()/8
	switch e.Code() {
	case codec.CodeNonzeroPadding:
		return bodyPadding.At(at)
	case codec.CodeSliceIDOutOfRange:
		return bodySliceID.At(at)
	case codec.CodeHaveOutOfRange:
		return bodyHave.At(at)
	case codec.CodeTrailingData:
		return bodyTrailing.At(at)
	}
	return bodyFieldsShort.At(at)
}

var (
	// ErrNoLanes refuses a chunk where the two ends agreed on no lane.
	ErrNoLanes = errors.New("connection: no lanes were agreed")
	// ErrClosed is what every ClosedError matches.
	ErrClosed = errors.New("connection: closed")
	// ErrUnacked is why a connection times out although the other end is heard (CXL-18). It wraps session.ErrTimeout.
	ErrUnacked = fmt.Errorf("connection: nothing that was sent was acked: %w", session.ErrTimeout)
	// ErrFailed is why a connection ends of which a chunk machine was given up.
	ErrFailed = errors.New("connection: failed")
	// ErrWorn is why it fails whose keys have had their time (CXE-10 to CXE-12).
	ErrWorn = errors.New("its keys have had their time")
	// ErrLied is why a connection ends whose other end acked packets that it was not sent (section 8.3).
	ErrLied = errors.New("connection: the other end acked what it was not sent")
)

// The codes of a close (CXR-4). From FirstCode on they are the application's.
const (
	CodeDone   uint16 = 0
	CodeFailed uint16 = 1 // the connection's own: a chunk machine was given up
	CodeLied   uint16 = 2 // the connection's own: the other end acked packets that it was not sent
	CodeWorn   uint16 = 3 // the connection's own: its keys have had their time
	FirstCode  uint16 = 256
)

// ClosedError is why a connection ends that one of its ends closed.
type ClosedError struct {
	Code   uint16
	Text   string
	Remote bool // the other end closed it
}

// Error quotes the text, which is the peer's (CXA-7).
func (e *ClosedError) Error() string {
	by := "here"
	if e.Remote {
		by = "by the other end"
	}
	if e.Text == "" {
		return fmt.Sprintf("connection: closed %s, code %d", by, e.Code)
	}
	return fmt.Sprintf("connection: closed %s, code %d: %q", by, e.Code, e.Text) // the other end wrote it
}

// Is makes errors.Is match ErrClosed.
func (e *ClosedError) Is(target error) bool { return target == ErrClosed }
