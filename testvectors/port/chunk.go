package port

import (
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// chunkOperations are the chunk protocol's.
var chunkOperations = map[string]operation{
	contract.OpSender: sender, contract.OpReceiver: receiver,
}
