package sessionoracle

import "fmt"

// The faults of a decoder, an encoder and an envelope: the codes, but where one code has
// several checks.
const (
	noByte        = "no byte"
	tooLarge      = "too large"
	agreedLanes   = "lanes of a LINKED"
	agreedTimeout = "timeout of a LINKED"
	truncated     = "truncated"
	unknownKind   = "unknown_kind"
	trailingData  = "trailing_data"
	badVersion    = "version"
	badMode       = "mode"
	otherMode     = "other mode"
	badLanes      = "lanes"
	badTimeout    = "timeout"
	padding       = "padding"
	badStamp      = "stamp"
	badLink       = "link"
	badVariant    = "variant"
	badReason     = "reason"
	unknownLink   = "unknown_link"
	stale         = "stale"
	duplicate     = "duplicate"
	badTag        = "tag"
)

// checks are the sentences that are not met.
var checks = map[string]string{
	noByte: "CXH-20", unknownKind: "CXH-21", badVersion: "CXH-22", truncated: "CXH-23", trailingData: "CXH-24", badMode: "CXH-25",
	badLanes: "CXH-26", badTimeout: "CXH-27", padding: "CXH-28", badStamp: "CXH-29", badLink: "CXH-30", agreedLanes: "CXH-31",
	badVariant: "CXH-32", agreedTimeout: "CXH-33", badReason: "CXH-34", tooLarge: "CXH-35",
	unknownLink: "CXE-20", otherMode: "CXE-21", stale: "CXE-23", duplicate: "CXE-24", badTag: "CXE-25",
}

// Error is a refusal of a datagram or a message.
type Error struct {
	Code  string
	Check string // the sentence that is not met
	At    int    // the first byte of the field at fault
}

func (e *Error) Error() string { return fmt.Sprintf("%s at %d (%s)", e.Code, e.At, e.Check) }

// refuse returns the refusal of a fault.
func refuse(fault string, at int) *Error {
	code := map[string]string{noByte: truncated, agreedLanes: badLanes, agreedTimeout: badTimeout, otherMode: badMode, tooLarge: trailingData}[fault]
	if code == "" {
		code = fault
	}
	return &Error{code, checks[fault], at}
}
