package port

import (
	"github.com/chunkwire/chunkwire/conform/packets"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// packetOperations are the packet layer's (PKO-1).
var packetOperations = map[string]operation{
	contract.OpPacketHeader: packetHeader, contract.OpPacketDecode: packetDecode,
	contract.OpPacketEndpoint: machine(packets.Endpoint), contract.OpPacketCongestion: machine(packets.Congestion),
}

// placed is a refusal whose answer has a place (PKO-2).
type placed struct {
	code string
	at   int
}

func (p placed) Error() string { return p.code }

// invalidField is a value that a field cannot hold (PKF-4).
const invalidField = "invalid_field"
