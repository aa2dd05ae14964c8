package session

import (
	"errors"
	"fmt"

	"github.com/chunkwire/chunkwire/core"
)

// Error says why a datagram or a message was refused. Its place is the offset in bytes of the
// field at fault; core.NoPlace where the fault lies in no byte.
type Error = core.Error

// The codes of sections 3 to 6.
const (
	CodeTruncated    core.Code = "truncated"
	CodeUnknownKind  core.Code = "unknown_kind"
	CodeVersion      core.Code = "version"
	CodeTrailingData core.Code = "trailing_data"
	CodeMode         core.Code = "mode"
	CodeLanes        core.Code = "lanes"
	CodeTimeout      core.Code = "timeout"
	CodeStamp        core.Code = "stamp"
	CodeLink         core.Code = "link"
	CodeVariant      core.Code = "variant"
	CodeReason       core.Code = "reason"

	CodeUnknownLink core.Code = "unknown_link"
	CodeEndedLink   core.Code = "ended_link" // of a connection that has just ended: both ends say goodbye at once
	CodeAddress     core.Code = "address"
	CodeStale       core.Code = "stale"
	CodeDuplicate   core.Code = "duplicate"
	CodeTag         core.Code = "tag"

	CodeUnexpected  core.Code = "unexpected"   // a message that is of no use to who got it
	CodeCookie      core.Code = "cookie"       // of another address, offer or server
	CodeStaleCookie core.Code = "stale_cookie" // one that is too old
	CodeShare       core.Code = "share"        // a share that gives nothing to the keys
)

// codes are those by which a Server counts what it refused without an answer.
var codes = [...]core.Code{
	CodeTruncated, CodeUnknownKind, CodeVersion, CodeTrailingData, CodeMode, CodeLanes, CodeTimeout, CodeStamp,
	CodeLink, CodeVariant, CodeReason, CodeUnknownLink, CodeEndedLink, CodeAddress, CodeStale, CodeDuplicate, CodeTag,
	CodeUnexpected, CodeCookie, CodeStaleCookie, CodeShare,
}

var format = &core.Format{Name: "session", Unit: "byte"}

// Sentinels for errors.Is: each matches every [*Error] of its code.
var (
	ErrTruncated    = format.Sentinel(CodeTruncated)
	ErrUnknownKind  = format.Sentinel(CodeUnknownKind)
	ErrVersion      = format.Sentinel(CodeVersion)
	ErrTrailingData = format.Sentinel(CodeTrailingData)
	ErrMode         = format.Sentinel(CodeMode)
	ErrLanes        = format.Sentinel(CodeLanes)
	ErrTimeoutField = format.Sentinel(CodeTimeout)
	ErrStamp        = format.Sentinel(CodeStamp)
	ErrLink         = format.Sentinel(CodeLink)
	ErrVariant      = format.Sentinel(CodeVariant)
	ErrReason       = format.Sentinel(CodeReason)

	ErrUnknownLink = format.Sentinel(CodeUnknownLink)
	ErrEndedLink   = format.Sentinel(CodeEndedLink)
	ErrAddress     = format.Sentinel(CodeAddress)
	ErrStale       = format.Sentinel(CodeStale)
	ErrDuplicate   = format.Sentinel(CodeDuplicate)
	ErrTag         = format.Sentinel(CodeTag)

	ErrUnexpected  = format.Sentinel(CodeUnexpected)
	ErrCookie      = format.Sentinel(CodeCookie)
	ErrStaleCookie = format.Sentinel(CodeStaleCookie)
	ErrShare       = format.Sentinel(CodeShare)
)

// rule returns the rule of a sentence, with its errors up to a place made in advance.
func rule(id string, code core.Code, why string, last int) *core.Rule {
	return format.Rule(id, code, why, 1, last)
}

// placeless returns the rule of what lies in no byte.
func placeless(id string, code core.Code, why string) *core.Rule { return rule(id, code, why, 0) }

// What a decoder refuses, and an encoder (section 3.3). The last number is the largest place
// that is made in advance.
var (
	kindMissing     = rule("CXH-20", CodeTruncated, "there is no byte", 0)
	kindUnknown     = rule("CXH-21", CodeUnknownKind, "no datagram has this kind", 0)
	versionDiffers  = rule("CXH-22", CodeVersion, "another version", versionAt)
	messageMissing  = rule("CXH-23", CodeTruncated, "ends inside the message", proofSize)
	messageTooLong  = rule("CXH-24", CodeTrailingData, "bytes behind the message", proofSize)
	modeUnknown     = rule("CXH-25", CodeMode, "none of the three modes", modeAt)
	lanesTooMany    = rule("CXH-26", CodeLanes, "more than 16 lanes", lanesAt)
	timeoutOutside  = rule("CXH-27", CodeTimeout, "not 1 s to 3,600 s", timeoutAt)
	identityIsBare  = rule("CXH-36", CodeMode, "an identity that nothing protects", modeAt)
	stampTooLarge   = rule("CXH-29", CodeStamp, "a stamp of 2^62 or more", proofStampAt)
	linkIs0         = rule("CXH-30", CodeLink, "no link is 0", agreedLinkAt)
	agreedLanes     = rule("CXH-31", CodeLanes, "more than 16 lanes", agreedLanesAt)
	agreedTimeout   = rule("CXH-33", CodeTimeout, "not 1 s to 3,600 s", agreedTimeoutAt)
	variantNotOne   = rule("CXH-32", CodeVariant, "not one variant with lanes, or one without", agreedVariantAt)
	reasonIs0       = rule("CXH-34", CodeReason, "no reason is 0", reasonAt)
	dataMissing     = rule("CXH-23", CodeTruncated, "too short for a body and a tag", HeadSize+aeadTag)
	dataTooLong     = rule("CXH-35", CodeTrailingData, "larger than any datagram of data", LargestDatagram)
	timeoutNotWhole = rule("CXH-11", CodeTimeout, "not a whole number of 100 ms", agreedTimeoutAt)
)

// What a Link and a Server refuse of data (section 3.1).
var (
	linkUnknown     = rule("CXE-20", CodeUnknownLink, "there is no such link", dataLinkAt)
	linkEnded       = rule("CXE-20", CodeEndedLink, "the connection of this link has ended", dataLinkAt)
	modeDiffers     = rule("CXE-21", CodeMode, "the link has another mode", 0)
	addressDiffers  = placeless("CXE-22", CodeAddress, "not the address of the connection")
	counterStale    = rule("CXE-23", CodeStale, "the counter is too old", dataCounterAt)
	counterTwice    = rule("CXE-24", CodeDuplicate, "the counter came before", dataCounterAt)
	tagWrong        = rule("CXE-25", CodeTag, "the tag is invalid", LargestDatagram)
	notExpected     = placeless("CXC-2", CodeUnexpected, "the message is of no use here")
	cookieWrong     = placeless("CXS-2", CodeCookie, "the cookie is not for this address and LINK")
	cookieTooOld    = placeless("CXS-2", CodeStaleCookie, "the cookie is too old")
	shareIsWeak     = placeless("CXK-12", CodeShare, "the share gives nothing to the keys")
	proofIsOld      = placeless("CXS-6", CodeUnexpected, "a newer proof came before")
	notForThisPlace = placeless("CXS-1", CodeUnexpected, "no message for a server")
)

// Reason says why a server refuses a PROOF, or why a connection ended (CXH-8).
type Reason uint8

// The reasons.
const (
	Full             Reason = 1 + iota // no room for a new connection
	UnknownIdentity                    // unknown, or the proof is invalid
	OtherVersion                       // the server has another version
	OtherProtocol                      // PROTOCOL_ID differs
	OtherMode                          // MODE differs
	OtherFormat                        // FORMAT differs
	NoCommonVariant                    // VARIANTS have no common bit
	ConnectionClosed                   // there is no such connection any more
	Replaced                           // by a newer one of the same identity

	reasons = iota
)

func (r Reason) String() string {
	if r < Full || r > reasons {
		return fmt.Sprintf("reason %d", uint8(r))
	}
	return [...]string{"full", "identity", "version", "protocol", "mode", "format", "variant", "closed", "replaced"}[r-1]
}

// ErrTimeout is why a client ends when it hears nothing for TIMEOUT (CXC-12).
var ErrTimeout = errors.New("session: timed out")

// RefusedError is why a client ends when the server refuses it (CXC-12).
type RefusedError struct {
	Reason  Reason
	Version uint8 // the server's
	// Identity is the client's own, 0 without one.
	Identity uint64
	// Proven says that the server has the key. If it is false anyone on the path can have
	// said it.
	Proven bool
}

// Error says in the words of a user what is wrong, and what to do; the fields are of package transport.
func (e *RefusedError) Error() string {
	const same = ": both ends need the same"
	switch e.Reason {
	case Full:
		return "the server has no place left: try again later"
	case UnknownIdentity:
		if e.Identity == 0 {
			return "the server lets in only clients with Config.Identity and Config.Key, or has another Config.ServerKey"
		}
		return fmt.Sprintf("the server does not know the identity %d, or has another Config.Key for it, or another Config.ServerKey", e.Identity)
	case OtherVersion:
		return fmt.Sprintf("the server has version %d of the protocol, and this end version %d%s", e.Version, Version, same)
	case OtherProtocol:
		return "the server has another Config.ProtocolID" + same
	case OtherMode:
		return "the server has another Config.Mode" + same
	case OtherFormat:
		return "the server has other Config.Channels" + same
	case NoCommonVariant:
		return "the two ends have none of Config.Variants in common"
	case ConnectionClosed:
		return "the connection has ended at the server: connect again"
	case Replaced:
		return "another client with the same identity has taken the place"
	}
	return fmt.Sprintf("the server gives the %v, which this end does not know", e.Reason)
}

// Format writes with %+v, too, the name of the reason and whether it is proven.
func (e *RefusedError) Format(s fmt.State, verb rune) {
	proven := "unproven"
	if e.Proven {
		proven = "proven"
	}
	core.FormatError(s, verb, e, fmt.Sprintf("session: %v, %s", e.Reason, proven))
}

// Is makes errors.Is match a RefusedError of the same reason.
func (e *RefusedError) Is(target error) bool {
	t, ok := target.(*RefusedError)
	return ok && t.Reason == e.Reason
}
