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

// SessionDecodeRequest asks which message a datagram is, without its id.
type SessionDecodeRequest struct {
	Op  string `json:"op"`
	Hex string `json:"hex"`
}

// SessionOpenRequest asks for the body of a datagram, without its id.
type SessionOpenRequest struct {
	Hex string `json:"hex"`
}
