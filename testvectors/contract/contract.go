// Package contract holds the JSON of the port contract (appendix B of
// spec/PROTOCOL.md): what a port is asked, and what it answers. Everything that
// writes or reads requests and responses uses these types.
//
// This file has what all protocols share. Each protocol adds a file with the types
// of its own operations; the chunk protocol's are in chunk.go and trace.go, the packet
// layer's in packet.go, those of channels in channel.go, those of sessions and
// connections in session.go and connection.go.
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

// Operation is what a conformance runner must know of an operation.
type Operation struct {
	Name string
	// Open are the fields of steps whose value a vector of level "required" leaves
	// to the port.
	Open []string
}

// operations are those of all protocols.
var operations = [][]Operation{chunkOperations, packetOperations, channelOperations, sessionOperations, connectionOperations, repairOperations}

// Find returns an operation by its name, or one without a name.
func Find(name string) Operation {
	for _, list := range operations {
		for _, o := range list {
			if o.Name == name {
				return o
			}
		}
	}
	return Operation{}
}
