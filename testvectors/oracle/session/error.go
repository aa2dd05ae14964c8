package session

import "fmt"

// The codes of a decoder, an encoder and an envelope.
const (
	Truncated    = "truncated"
	UnknownKind  = "unknown_kind"
	TrailingData = "trailing_data"
	BadVersion   = "version"
	BadMode      = "mode"
	BadLanes     = "lanes"
	BadTimeout   = "timeout"
	Padding      = "padding"
	BadStamp     = "stamp"
	BadLink      = "link"
	BadVariant   = "variant"
	BadReason    = "reason"
	UnknownLink  = "unknown_link"
	Stale        = "stale"
	Duplicate    = "duplicate"
	BadTag       = "tag"
)

// Error is a refusal of a datagram or a message.
type Error struct {
	Code string
	At   int // the first byte of the field at fault
}

func (e *Error) Error() string { return fmt.Sprintf("%s at %d", e.Code, e.At) }
