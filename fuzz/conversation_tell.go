package fuzz

import (
	"fmt"
	"strings"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/testvectors"
)

// A conversation is drawn with the sender S at the left and the receiver R at the
// right, each datagram twice: when it is sent, with its fate, and when it arrives.

func tellConversation(s *story, data []byte) { runConversation(witness{}, data, s) }

// way draws a packet between the two ends.
func way(to int, what string) string {
	line := " " + what + " " + strings.Repeat("-", max(1, 29-len(what)))
	if to == toSender {
		return "S <--" + line + "- R"
	}
	return "S --" + line + "-> R"
}

// packetText names a packet shortly, an ack by its bits.
func packetText(p codec.Packet) string {
	if p.Type == codec.TypeSlice {
		return fmt.Sprintf("slice %d/%d of chunk %d", p.Slice.SliceID, p.Slice.NumSlices, p.Slice.ChunkID)
	}
	a := p.Ack
	if a.NumSlices > 12 {
		return fmt.Sprintf("ack %d: %d of %d slices", a.ChunkID, a.Acked.Count(), a.NumSlices)
	}
	return fmt.Sprintf("ack %d: %s", a.ChunkID, testvectors.AckedBits(a.Acked, a.NumSlices))
}

func (w *world) tellMail(to int, datagram []byte, fate string) {
	if w.story == nil {
		return
	}
	p, _ := w.framer.Decode(datagram)
	w.story.at(w.now, "%s  %s", way(to, packetText(p)), fate)
}

func (w *world) tellArrival(m letter, p codec.Packet, err error) {
	switch {
	case err != nil:
		w.story.at(w.now, "%s  changed, refused: %v", way(m.to, m.was), err)
	case m.to == toSender:
		w.story.at(w.now, "%s  arrived: %v, the sender is %v", way(m.to, packetText(p)), w.sender.Row(), w.sender.State())
	default:
		w.story.at(w.now, "%s  arrived: %v, the receiver is %v", way(m.to, packetText(p)), w.receiver.Row(), w.receiver.State())
	}
}
