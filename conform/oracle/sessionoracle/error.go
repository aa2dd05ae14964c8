package sessionoracle

import "github.com/chunkwire/chunkwire/conform/layout"

// The codes of an envelope, and that of a version (CXH-22).
const (
	unknownKind = "unknown_kind"
	unknownLink = "unknown_link"
	badMode     = "mode"
	stale       = "stale"
	duplicate   = "duplicate"
	badTag      = "tag"
	badVersion  = "version"
)

// checks are the sentences of an envelope that are not met.
var checks = map[string]string{
	unknownKind: "CXH-21", unknownLink: "CXE-20", badMode: "CXE-21", stale: "CXE-23", duplicate: "CXE-24", badTag: "CXE-25",
}

// Error is a refusal of a datagram or a message. Its place is the first byte of the field at fault.
type Error = layout.Fault

// refuse returns the refusal of an envelope.
func refuse(code string, at int) *Error {
	return &Error{Code: code, Check: checks[code], At: at}
}
