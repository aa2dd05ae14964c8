package port

import (
	"math"

	"github.com/chunkwire/chunkwire/conform/connections"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// connectionOperations are those of connections, beside those of sessions (CXO-1).
var connectionOperations = map[string]operation{
	contract.OpConnectionEncode: connectionEncode, contract.OpConnectionDecode: connectionDecode, contract.OpConnection: machine(connections.Op),
}

// variant is 1 if it is absent.
func (o *object) variant() uint8 {
	if !o.has("variant") {
		return session.VariantSlices
	}
	return uint8(o.within("variant", session.VariantSlices, session.VariantRepair))
}

// extensions are 0 if they are absent.
func (o *object) extensions() uint16 {
	if !o.has("extensions") {
		return 0
	}
	return uint16(o.within("extensions", 0, math.MaxUint16))
}
