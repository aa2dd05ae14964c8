package inspect

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/chunkwire/chunkwire/codec"
)

// endCheck is the last field of a datagram in the frame of chunks (FRM-6), as it is sent.
var endCheck = [4]byte{0xE2, 0xAC, 0x08, 0x99}

// hasEndCheck reports whether a datagram ends as those in the frame of chunks do.
func hasEndCheck(b []byte) bool { return len(b) >= 9 && [4]byte(b[len(b)-4:]) == endCheck }

// protocolIDOf returns the only protocol id with which the crc of a datagram is right
// (FRM-2). The crc goes over the protocol id, four zero bytes and the rest, and its steps
// can be taken back.
func protocolIDOf(datagram []byte) uint32 {
	state := ^binary.LittleEndian.Uint32(datagram)
	for i := len(datagram) - 1; i >= 4; i-- {
		state = stepBack(state, datagram[i])
	}
	for range 8 { // four zero bytes, and the id as if it were zero
		state = stepBack(state, 0)
	}
	return ^state
}

// stepBack returns the state of a crc before it took a byte.
func stepBack(state uint32, b byte) uint32 {
	i := topOf[state>>24]
	return (state^crc32.IEEETable[i])<<8 | uint32(i^b)
}

// topOf finds the entry of the table by its highest byte.
var topOf = func() (index [256]byte) {
	for i, v := range crc32.IEEETable {
		index[v>>24] = byte(i)
	}
	return index
}()

// laneIDs is how many protocol ids the lanes of a connection have; those with repair slices
// are as much above the others (LAN-1, RPI-1).
const laneIDs = 256

// Lane says which lane of which plain connection a protocol id is that of (LAN-2, RPI-1).
type Lane struct {
	Base   uint32 `json:"base"` // the protocol id of the connection
	Lanes  int    `json:"lanes"`
	Lane   int    `json:"lane"`
	Repair bool   `json:"repair"`
}

func (l Lane) String() string {
	s := fmt.Sprintf("protocol id 0x%08x, lane %d of %d", l.Base, l.Lane, l.Lanes)
	if l.Repair {
		s += ", repair slices"
	}
	return s
}

// laneOf finds the lane of a protocol id with one of the candidates. A number of lanes that is
// not 0 must fit.
func laneOf(id uint32, candidates []uint32, lanes int) (l Lane, ok bool) {
	for _, base := range candidates {
		d := id - base
		l = Lane{Base: base, Lanes: int(d%laneIDs)/16 + 1, Lane: int(d % 16), Repair: d >= laneIDs}
		if d < 2*laneIDs && l.Lane < l.Lanes && (lanes == 0 || l.Lanes == lanes) {
			return l, true
		}
	}
	return Lane{}, false
}

// frame decodes a datagram in the frame of chunks with a protocol id.
func frame(datagram []byte, id uint32, withRepair bool) (codec.Packet, error) {
	return codec.KindOf(withRepair).Framer(id).Decode(datagram)
}

// have returns how many slices an ack reports.
func have(a *codec.Ack) int { return max(a.Have, a.Acked.Count()) }

// describe returns a slice or an ack in words.
func describe(p *codec.Packet) string {
	s, a := &p.Slice, &p.Ack
	switch isAck := p.Type == codec.TypeAck; {
	case isAck && have(a) == a.NumSlices:
		return fmt.Sprintf("ack: chunk %d complete, %s", a.ChunkID, count(a.NumSlices, "slice"))
	case isAck:
		return fmt.Sprintf("ack: chunk %d, %d of %s", a.ChunkID, have(a), count(a.NumSlices, "slice"))
	case !s.Source():
		return fmt.Sprintf("repair slice %d of chunk %d, which has %s; %s", s.SliceID, s.ChunkID, count(s.NumSlices, "slice"), count(len(s.Data), "byte"))
	}
	return fmt.Sprintf("slice %d of chunk %d, which has %s; %s", s.SliceID, s.ChunkID, count(s.NumSlices, "slice"), count(len(s.Data), "byte"))
}
