package contract

// This file has the operations of sessions (CONNECTION.md).

// The operations.
const (
	OpSessionEncode = "session_encode"
	OpSessionDecode = "session_decode"
	OpSessionSeal   = "session_seal"
	OpSessionOpen   = "session_open"
	OpSessionKeys   = "session_keys"
	OpSessionCookie = "session_cookie"
	OpSessionProof  = "session_proof"
	OpSessionClient = "session_client"
	OpSessionServer = "session_server"
)

var sessionOperations = []Operation{
	{Name: OpSessionEncode}, {Name: OpSessionDecode}, {Name: OpSessionSeal}, {Name: OpSessionOpen}, {Name: OpSessionKeys},
	{Name: OpSessionCookie}, {Name: OpSessionProof}, {Name: OpSessionClient}, {Name: OpSessionServer},
}

// The types of messages. Data is only decoded.
const (
	MessageLink      = "link"
	MessageChallenge = "challenge"
	MessageProof     = "proof"
	MessageLinked    = "linked"
	MessageRefused   = "refused"
	MessageData      = "data"
)

// SessionMessage is a message of the handshake, or a datagram with data whose envelope is
// not opened: each type has only some of the fields. Bytes are hex.
type SessionMessage struct {
	Type        string  `json:"type"`
	Nonce       *string `json:"nonce,omitempty"`
	Protocol    *int64  `json:"protocol,omitempty"`
	Mode        *string `json:"mode,omitempty"`
	Link        *int64  `json:"link,omitempty"`
	Counter     *int64  `json:"counter,omitempty"` // its 4 bytes
	ServerNonce *string `json:"server_nonce,omitempty"`
	Lanes       *int64  `json:"lanes,omitempty"`
	Variants    *int64  `json:"variants,omitempty"`
	Variant     *int64  `json:"variant,omitempty"`
	Extensions  *int64  `json:"extensions,omitempty"`
	Timeout     *int64  `json:"timeout,omitempty"` // in units of 100 ms
	Format      *string `json:"format,omitempty"`
	Identity    *string `json:"identity,omitempty"`
	Resume      *int64  `json:"resume,omitempty"`
	Stamp       *int64  `json:"stamp,omitempty"`
	Cookie      *string `json:"cookie,omitempty"`
	Version     *int64  `json:"version,omitempty"`
	Reason      *int64  `json:"reason,omitempty"`
	Proof       *string `json:"proof,omitempty"`
	Body        *string `json:"body,omitempty"`
	Tag         *string `json:"tag,omitempty"`
}

// SessionEncodeRequest asks for the bytes of a message, without its id. The response is a
// Response with Hex.
type SessionEncodeRequest struct {
	Op      string         `json:"op"`
	Message SessionMessage `json:"message"`
}

// SessionDecodeRequest asks which message a datagram is, without its id.
type SessionDecodeRequest struct {
	Op  string `json:"op"`
	Hex string `json:"hex"`
}

// SessionDecodeResponse is the response to it, without its id.
type SessionDecodeResponse struct {
	Answer
	Message SessionMessage `json:"message"`
}

// SessionSealRequest asks for the datagram of a body, without its id. The response is a
// Response with Hex.
type SessionSealRequest struct {
	Op      string `json:"op"`
	Mode    string `json:"mode"`
	Key     string `json:"key"` // of the direction
	Link    int64  `json:"link"`
	Counter int64  `json:"counter"` // not modulo 2^32
	Body    string `json:"body"`
}

// SessionOpenRequest asks for the body of a datagram, without its id.
type SessionOpenRequest struct {
	Op    string  `json:"op"`
	Mode  string  `json:"mode"`
	Key   string  `json:"key"`
	Link  int64   `json:"link"`
	Taken []int64 `json:"taken"` // the counters that came before, ascending
	Hex   string  `json:"hex"`
}

// SessionOpenResponse is the response to it, without its id.
type SessionOpenResponse struct {
	Answer
	Counter int64  `json:"counter"` // not modulo 2^32
	Body    string `json:"body"`
}

// SessionKeysRequest asks for the keys of a connection, without its id.
type SessionKeysRequest struct {
	Op          string `json:"op"`
	Key         string `json:"key"`
	Offer       string `json:"offer"` // of the first PROOF
	Link        int64  `json:"link"`
	ServerNonce string `json:"server_nonce"`
	Lanes       int64  `json:"lanes"`
	Variant     int64  `json:"variant"`
	Extensions  int64  `json:"extensions"`
	Timeout     int64  `json:"timeout"`
}

// SessionKeysResponse is the response to it, without its id.
type SessionKeysResponse struct {
	Answer
	C2S    string `json:"c2s"`
	S2C    string `json:"s2c"`
	Resume string `json:"resume"`
}

// SessionCookieRequest asks for the cookie of a challenge, without its id.
type SessionCookieRequest struct {
	Op      string `json:"op"`
	Secret  string `json:"secret"`
	Stamp   int64  `json:"stamp"`
	Address string `json:"address"` // text
	Offer   string `json:"offer"`
}

// SessionCookieResponse is the response to it, without its id.
type SessionCookieResponse struct {
	Answer
	Address string `json:"address"` // its 18 bytes
	Cookie  string `json:"cookie"`
}

// SessionProofRequest asks for the proof of a PROOF, a LINKED or a REFUSED, without its id.
type SessionProofRequest struct {
	Op     string `json:"op"`
	Key    string `json:"key"`
	Hex    string `json:"hex"`   // with any proof
	Offer  string `json:"offer"` // of the PROOF that is answered, as the next two
	Stamp  int64  `json:"stamp"`
	Cookie string `json:"cookie"`
}

// SessionProofResponse is the response to it, without its id.
type SessionProofResponse struct {
	Answer
	Proof string `json:"proof"`
}
