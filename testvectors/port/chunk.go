package port

import (
	"github.com/chunkwire/chunkwire/conform/chunks"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// chunkOperations are the chunk protocol's.
var chunkOperations = map[string]operation{
	contract.OpEncodeBody: encodeBody, contract.OpDecodeBody: decodeBody,
	contract.OpEncodePacket: encodePacket, contract.OpDecodePacket: decodePacket,
	contract.OpSender: machine(chunks.Sender), contract.OpReceiver: machine(chunks.Receiver),
}
