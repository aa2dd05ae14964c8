package port

import (
	"github.com/chunkwire/chunkwire/conform/chunks"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// chunkOperations are the chunk protocol's.
var chunkOperations = map[string]operation{
	contract.OpSender: machine(chunks.Sender), contract.OpReceiver: machine(chunks.Receiver),
}
