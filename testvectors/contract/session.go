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

// The events of a client and a server, beside EventPoll and EventReceive.
const (
	EventData  = "data"
	EventSent  = "sent"
	EventMove  = "move"
	EventClose = "close"
	EventEnd   = "end"
)

// SessionConfig is what a client offers, or a server agrees to.
type SessionConfig struct {
	Protocol   int64  `json:"protocol"`
	Mode       string `json:"mode"`
	Lanes      int64  `json:"lanes"`
	Variants   int64  `json:"variants"`
	Extensions int64  `json:"extensions"`
	Timeout    int64  `json:"timeout"` // in units of 100 ms
	Format     string `json:"format"`
	Random     string `json:"random"`
}

// SessionClientConfig sets up a client for a trace.
type SessionClientConfig struct {
	Identity string `json:"identity"`
	Key      string `json:"key"`
	SessionConfig
}

// SessionClientRequest is a trace of a client, without its id.
type SessionClientRequest struct {
	Op     string               `json:"op"`
	Config SessionClientConfig  `json:"config"`
	Events []SessionClientEvent `json:"events"`
}

// SessionClientEvent is something that happens to a client in a trace.
type SessionClientEvent struct {
	At    int64   `json:"at"`
	Event string  `json:"event"`
	Hex   *string `json:"hex,omitempty"` // of a receive
}

// SessionClientResponse is the response to a trace of a client, without its id.
type SessionClientResponse struct {
	Answer
	Steps []SessionClientStep `json:"steps"`
}

// SessionClientStep is what a client did at an event. Its lists are never nil.
type SessionClientStep struct {
	Rows      []string      `json:"rows"`
	State     string        `json:"state"`
	Refused   *Refused      `json:"refused"`
	Datagrams []string      `json:"datagrams"`
	Link      *SessionLink  `json:"link"` // at the step that makes it
	Ended     *SessionEnded `json:"ended"`
	Deadline  *int64        `json:"deadline"`
}

// SessionLink is a link that was made.
type SessionLink struct {
	Link       int64  `json:"link"`
	Lanes      int64  `json:"lanes"`
	Variant    int64  `json:"variant"`
	Extensions int64  `json:"extensions"`
	Timeout    int64  `json:"timeout"`
	Sealed     string `json:"sealed"` // the first datagram, with the body 00
}

// Why a client is CLOSED.
const (
	EndedTimeout = "timeout"
	EndedRefused = "refused"
	EndedClosed  = "closed"
	EndedFailed  = "failed" // of a connection only
)

// SessionEnded is why a client is CLOSED.
type SessionEnded struct {
	Why    string `json:"why"`
	Reason int64  `json:"reason"` // 0: none
	Proven bool   `json:"proven"`
}

// SessionServerConfig sets up a server for a trace.
type SessionServerConfig struct {
	SessionConfig
	Keys           []SessionKey `json:"keys"`
	Anonymous      bool         `json:"anonymous"`
	MaxConnections int64        `json:"max_connections"`
	MaxPerAddress  int64        `json:"max_per_address"`
}

// SessionKey is the key of an identity.
type SessionKey struct {
	Identity string `json:"identity"`
	Key      string `json:"key"`
}

// SessionServerRequest is a trace of a server, without its id.
type SessionServerRequest struct {
	Op     string               `json:"op"`
	Config SessionServerConfig  `json:"config"`
	Events []SessionServerEvent `json:"events"`
}

// SessionServerEvent is something that happens to a server in a trace.
type SessionServerEvent struct {
	At     int64   `json:"at"`
	Event  string  `json:"event"`
	From   *string `json:"from,omitempty"` // of a receive
	Hex    *string `json:"hex,omitempty"`
	Link   *int64  `json:"link,omitempty"`   // of data and an end
	Reason *int64  `json:"reason,omitempty"` // of an end
}

// SessionServerResponse is the response to a trace of a server, without its id.
type SessionServerResponse struct {
	Answer
	Steps []SessionServerStep `json:"steps"`
}

// SessionServerStep is what a server did at an event. Its lists are never nil.
type SessionServerStep struct {
	Rows     []string      `json:"rows"` // of entries
	Refused  *Refused      `json:"refused"`
	Answer   *string       `json:"answer"`
	Counted  *string       `json:"counted"` // why silence met what was decoded
	Entry    *SessionEntry `json:"entry"`   // whose LINKED is the answer, or to which data or an end happened
	Living   int64         `json:"living"`
	Ended    int64         `json:"ended"`
	Deadline *int64        `json:"deadline"`
}

// SessionEntry is an entry of a server.
type SessionEntry struct {
	Link    int64   `json:"link"`
	State   string  `json:"state"`
	Address string  `json:"address"` // its 18 bytes
	Sealed  *string `json:"sealed"`  // the first datagram of a new link, with the body 00
}
