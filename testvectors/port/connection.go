package port

import (
	"github.com/chunkwire/chunkwire/conform/connections"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// connectionOperations are those of connections, beside those of sessions (CXO-1).
var connectionOperations = map[string]operation{contract.OpConnection: machine(connections.Op)}
