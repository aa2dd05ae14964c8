// Package contract holds the words of the port contract (appendix B of
// spec/PROTOCOL.md) that more than one package writes or reads. What requests and
// responses have is declared where it is answered: formats in spec/formats.json,
// machines for package conform, the rest in package port.
package contract

import "encoding/json"

// The error codes that belong to the contract and not to a protocol (PRT-3).
const (
	Unsupported = "unsupported"
	BadRequest  = "bad_request"
)

// Header is what every request begins with (PRT-1).
type Header struct {
	ID json.RawMessage `json:"id"`
	Op string          `json:"op"`
}

// Answer is what every response begins with: Error is a code, and empty if OK.
type Answer struct {
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
}

// Placed is a refusal with the place at which the fault lies, -1 if it lies in none.
type Placed struct {
	Answer
	At int `json:"at"`
}

// The operations of machines of a chunk that have something of their own.
const (
	OpSender       = "sender"
	OpRepairSender = "repair_sender"
)

// The operations that encode or decode.
const (
	OpEncodeBody       = "encode_body"
	OpDecodeBody       = "decode_body"
	OpEncodePacket     = "encode_packet"
	OpDecodePacket     = "decode_packet"
	OpRepairEncode     = "repair_encode"
	OpRepairDecode     = "repair_decode"
	OpPacketHeader     = "packet_header"
	OpPacketDecode     = "packet_decode"
	OpRecordsEncode    = "records_encode"
	OpRecordsDecode    = "records_decode"
	OpConnectionEncode = "connection_encode"
	OpConnectionDecode = "connection_decode"
	OpSessionEncode    = "session_encode"
	OpSessionDecode    = "session_decode"
)

// The types of packets of chunks.
const (
	TypeSlice = "slice"
	TypeAck   = "ack"
)

// Open are the fields of steps whose values a vector of level "required" leaves to the port (TRC-5).
func Open(op string) []string {
	if op == "receiver" {
		return []string{"deadline_us"} // section 8.6 is recommended
	}
	return nil
}
