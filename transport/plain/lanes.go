package plain

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/repair"
)

// MaxLanes is the most that Config.Lanes may be. So many protocol ids lie between
// the first of n lanes and the first of n+1, so that nothing decodes between ends
// that do not agree (LAN-2).
const MaxLanes = 16

// framer is the codec of a lane's datagrams.
type framer interface {
	AppendSlice(dst []byte, s lanes.Slice) ([]byte, error)
	AppendAck(dst []byte, a lanes.Ack) ([]byte, error)
	Decode(datagram []byte) (packet, error)
	ProtocolID() uint32
}

// RepairIDs is by how much the protocol ids with Config.Repair are above those without (RPI-1).
const RepairIDs = MaxLanes * MaxLanes

// laneFramers returns the framer of each lane (LAN-2, RPI-1).
func laneFramers(protocolID uint32, lanes int, repaired bool) []framer {
	framers := make([]framer, lanes)
	first := protocolID + uint32(MaxLanes*(lanes-1))
	for k := range framers {
		if repaired {
			framers[k] = repairFramer{repair.NewFramer(first + RepairIDs + uint32(k))}
		} else {
			framers[k] = namedFramer{codec.NewFramer(first + uint32(k))}
		}
	}
	return framers
}

// packet is one that has arrived, and by which lane.
type packet struct {
	Type  codec.Type
	Slice lanes.Slice
	Ack   lanes.Ack
	lane  int
}

// namedFramer is that of spec/PROTOCOL.md.
type namedFramer struct{ codec.Framer }

func (f namedFramer) AppendSlice(dst []byte, s lanes.Slice) ([]byte, error) {
	return f.Framer.AppendSlice(dst, s.Chunk)
}

func (f namedFramer) AppendAck(dst []byte, a lanes.Ack) ([]byte, error) {
	return f.Framer.AppendAck(dst, a.Chunk)
}

func (f namedFramer) Decode(datagram []byte) (packet, error) {
	p, err := f.Framer.Decode(datagram)
	return packet{Type: p.Type, Slice: lanes.Slice{Chunk: p.Slice}, Ack: lanes.Ack{Chunk: p.Ack}}, err
}

// repairFramer is that of spec/REPAIR.md.
type repairFramer struct{ repair.Framer }

func (f repairFramer) AppendSlice(dst []byte, s lanes.Slice) ([]byte, error) {
	return f.Framer.AppendSlice(dst, s.Repair)
}

func (f repairFramer) AppendAck(dst []byte, a lanes.Ack) ([]byte, error) {
	return f.Framer.AppendAck(dst, a.Repair)
}

func (f repairFramer) Decode(datagram []byte) (packet, error) {
	p, err := f.Framer.Decode(datagram)
	return packet{Type: p.Type, Slice: lanes.Slice{Repair: p.Slice}, Ack: lanes.Ack{Repair: p.Ack}}, err
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
