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

// walkFrame walks along a datagram in the frame of chunks.
func walkFrame(w *walker, withRepair bool) {
	w.bits("crc", 32, "FRM-2")
	t, f := w.bits("type", 1, "FRM-3")
	f.Meaning = codec.Type(t).String()
	w.body(withRepair, codec.Type(t) == codec.TypeAck)
	w.bits("end_check", 32, "FRM-6")
}

// body walks along a body. The data of a slice have the size that its fields give.
func (w *walker) body(withRepair, ack bool) {
	switch {
	case withRepair && ack:
		w.repairAck()
	case withRepair:
		w.repairSlice()
	case ack:
		w.plainAck()
	default:
		w.plainSlice()
	}
}

func (w *walker) plainSlice() {
	w.bits("chunk_id", 16, "SLC-1")
	id, _ := w.bits("slice_id", 8, "SLC-2")
	slices := w.numSlices("SLC-1")
	size := codec.SliceSize
	w.mean("slice_id", sliceMeaning(int(id), slices))
	if int(id) == slices-1 {
		size = w.count("slice_bytes", 10, "SLC-1")
	}
	w.align("DEC-10")
	w.bytes("data", size, "SLC-3")
}

func sliceMeaning(id, slices int) string {
	switch {
	case id == slices-1:
		return "the chunk's last"
	case id >= slices:
		return "a repair slice"
	}
	return ""
}

func (w *walker) repairSlice() {
	w.bits("chunk_id", 16, "RPS-1")
	id, _ := w.bits("id", 13, "RPS-1")
	slices := w.numSlices("RPS-1")
	w.mean("id", sliceMeaning(int(id), slices))
	size := codec.SliceSize
	if last := w.count("last_bytes", 10, "RPS-3"); slices == 1 || int(id) == slices-1 {
		size = last
	}
	w.align("DEC-10")
	w.bytes("data", size, "RPS-2")
}

func (w *walker) plainAck() {
	w.bits("chunk_id", 16, "ACK-1")
	slices, have := w.numSlices("ACK-1"), 0
	w.group("acked", "ACK-2", func() string {
		for k := range slices {
			v, _ := w.bits(w.indexed("acked", k), 1, "ACK-2")
			have += int(v)
		}
		return fmt.Sprintf("%d of %d", have, slices)
	})
	w.align("DEC-10")
}

func (w *walker) repairAck() {
	w.bits("chunk_id", 16, "RPA-1")
	slices := w.numSlices("RPA-1")
	have, f := w.bits("have", 9, "RPA-2")
	f.Meaning = fmt.Sprintf("%d of %d independent slices", have, slices)
	w.bits("top", 13, "RPN-4")
	w.align("DEC-10")
}

// numSlices reads num_slices, of which the datagram has one less.
func (w *walker) numSlices(sentence string) int { return w.count("num_slices", 8, sentence) }

func (w *walker) count(name string, n int, sentence string) int {
	v, f := w.bits(name, n, sentence)
	f.Meaning = fmt.Sprint(v + 1)
	return int(v) + 1
}
