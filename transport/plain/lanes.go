package plain

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/connection/lanes"
)

// MaxLanes is the most that Config.Lanes may be. So many protocol ids lie between
// the first of n lanes and the first of n+1, so that nothing decodes between ends
// that do not agree (LAN-2).
const MaxLanes = 16

// RepairIDs is by how much the protocol ids with Config.Repair are above those without (RPI-1).
const RepairIDs = MaxLanes * MaxLanes

// laneFramers returns the framer of each lane (LAN-2, RPI-1).
func laneFramers(protocolID uint32, lanes int, repaired bool) []codec.Framer {
	framers := make([]codec.Framer, lanes)
	first := protocolID + uint32(MaxLanes*(lanes-1))
	if repaired {
		first += RepairIDs
	}
	for k := range framers {
		framers[k] = codec.KindOf(repaired).Framer(first + uint32(k))
	}
	return framers
}

// packet is one that has arrived, and by which lane.
type packet struct {
	codec.Packet
	lane int
}

// newLanes returns the machines of a connection: for each lane the end, for each
// direction, of a connection in the sense of the specification, with a protocol id of
// its own (LAN-1). Chunk i goes by lane i mod Config.Lanes (LAN-4).
func (c *Conn) newLanes() (*lanes.Lanes, error) {
	cfg := &c.endpoint.cfg
	set := cfg.ofLanes()
	set.Memory = &c.endpoint.memory
	set.Log = c.log
	return lanes.New(set)
}
