package port

import (
	"github.com/chunkwire/chunkwire/conform/packets"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// packetOperations are the packet layer's (PKO-1).
var packetOperations = map[string]operation{
	contract.OpPacketEndpoint: machine(packets.Endpoint), contract.OpPacketCongestion: machine(packets.Congestion),
}
