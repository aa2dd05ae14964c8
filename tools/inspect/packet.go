package inspect

import (
	"fmt"

	"github.com/chunkwire/chunkwire/packet"
)

// walkPacket walks along a datagram of the packet layer, and gives the payload of a whole packet
// to payload.
func walkPacket(w *walker, payload func()) {
	if w.left() == 0 {
		return
	}
	if w.b[w.at/8]&1 == 0 {
		w.packetHeader()
		payload()
		return
	}
	w.bits("fragment", 1, "PKF-2")
	w.bits("reserved", 7, "PKD-2")
	w.bits("sequence", 16, "PKF-2")
	id, _ := w.bits("fragment_id", 8, "PKF-1")
	n := w.count("num_fragments", 8, "PKF-1")
	w.mean("fragment_id", fmt.Sprintf("of 0 to %d", n-1))
	if id == 0 {
		w.group("header", "PKF-2", func() string { w.packetHeader(); return "" })
	}
	w.bytes("data", w.left(), "PKF-2")
}

// packetHeader walks along the header of a packet.
func (w *walker) packetHeader() {
	if w.left() == 0 {
		return
	}
	w.bits("fragment", 1, "PKT-1")
	present, _ := w.bits("ack_bits_present", 4, "PKT-2")
	distance, f := w.bits("distance", 1, "PKT-2")
	f.Meaning = map[uint64]string{0: "ack has 2 bytes", 1: "ack is a distance of 1 byte"}[distance]
	w.bits("reserved", 2, "PKD-2")
	sequence, _ := w.bits("sequence", 16, "PKT-1")
	if distance == 1 {
		v, f := w.bits("ack_distance", 8, "PKT-2")
		f.Meaning = fmt.Sprintf("ack %d", uint16(sequence-v))
	} else {
		w.bits("ack", 16, "PKT-1")
	}
	for i := range 4 {
		if present>>i&1 == 1 {
			w.bits(w.indexed("ack_bits", i), 8, "PKT-2")
		}
	}
}

func packetSummary(p *packet.Packet) string {
	if p.NumFragments > 0 {
		return fmt.Sprintf("packet %d, fragment %d of %d, %s", p.Sequence, p.FragmentID, p.NumFragments, count(len(p.Data), "byte"))
	}
	return fmt.Sprintf("packet %d, %s", p.Sequence, count(len(p.Data), "byte"))
}
