package connection

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/repair"
)

// plainFramer is the codec of a lane's datagrams, of either variant.
type plainFramer interface {
	appendSlice(dst []byte, s lanes.Slice) ([]byte, error)
	appendAck(dst []byte, a lanes.Ack) ([]byte, error)
	decode(datagram []byte) (PlainPacket, error)
}

func newPlainFramer(id uint32, repaired bool) plainFramer {
	if repaired {
		return repairFramer{repair.NewFramer(id)}
	}
	return namedFramer{codec.NewFramer(id)}
}

// namedFramer is the codec of spec/PROTOCOL.md.
type namedFramer struct{ codec.Framer }

func (f namedFramer) appendSlice(dst []byte, s lanes.Slice) ([]byte, error) {
	return f.AppendSlice(dst, s.Chunk)
}

func (f namedFramer) appendAck(dst []byte, a lanes.Ack) ([]byte, error) {
	return f.AppendAck(dst, a.Chunk)
}

func (f namedFramer) decode(datagram []byte) (PlainPacket, error) {
	p, err := f.Decode(datagram)
	return PlainPacket{Type: p.Type, Slice: lanes.Slice{Chunk: p.Slice}, Ack: lanes.Ack{Chunk: p.Ack}}, err
}

// repairFramer is the codec of spec/REPAIR.md.
type repairFramer struct{ repair.Framer }

func (f repairFramer) appendSlice(dst []byte, s lanes.Slice) ([]byte, error) {
	return f.AppendSlice(dst, s.Repair)
}

func (f repairFramer) appendAck(dst []byte, a lanes.Ack) ([]byte, error) {
	return f.AppendAck(dst, a.Repair)
}

func (f repairFramer) decode(datagram []byte) (PlainPacket, error) {
	p, err := f.Decode(datagram)
	return PlainPacket{Type: p.Type, Slice: lanes.Slice{Repair: p.Slice}, Ack: lanes.Ack{Repair: p.Ack}}, err
}
