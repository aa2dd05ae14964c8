package runner

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// drawHex draws the bytes of a request or a response, as its operation means them.
func drawHex(request any, bytes string) []row {
	if strings.HasPrefix(text(request, "op"), "packet_") {
		return drawPacket(bytes)
	}
	return drawWire(bytes, bodyOf(request), get(request, "protocol_id"))
}

// packetWire draws a datagram of the packet layer, as far as it goes. It refuses nothing.
type packetWire struct {
	bytes []byte
	at    int
	rows  []row
}

// drawPacket draws a datagram of the packet layer, or a header.
func drawPacket(text string) []row {
	b, err := hex.DecodeString(text)
	if err != nil {
		return []row{{"hex", strconv.Quote(shortened(text))}}
	}
	w := &packetWire{bytes: b}
	w.add("bytes", strconv.Itoa(len(b)))
	if len(b) > 0 && b[0] == 1 {
		w.field("prefix", 1)
		w.field("sequence", 2)
		w.field("fragment_id", 1)
		w.field("num_fragments-1", 1)
		if len(b) > 3 && b[3] == 0 {
			w.header("embedded ")
		}
		w.rest("data")
		return w.rows
	}
	w.header("")
	w.rest("payload")
	return w.rows
}

func (w *packetWire) header(name string) {
	prefix := w.field(name+"prefix", 1)
	w.field(name+"sequence", 2)
	if prefix>>5&1 == 1 {
		w.field(name+"distance", 1)
	} else {
		w.field(name+"ack", 2)
	}
	for n := range 4 {
		if prefix>>(1+n)&1 == 1 {
			w.field(fmt.Sprintf("%sack_bits %d", name, n), 1)
		}
	}
}

// field takes a number of one or two bytes, and says if it is missing.
func (w *packetWire) field(name string, n int) (v int) {
	if len(w.bytes)-w.at < n {
		w.add(name, fmt.Sprintf("missing: %d of %d bytes are left", len(w.bytes)-w.at, n))
		w.at = len(w.bytes)
		return 0
	}
	for i := range n {
		v |= int(w.bytes[w.at+i]) << (8 * i)
	}
	w.add(name, fmt.Sprintf("%-5d 0x%0*x at %d", v, 2*n, v, w.at))
	w.at += n
	return v
}

func (w *packetWire) rest(name string) {
	if w.at < len(w.bytes) {
		w.add(name, fmt.Sprintf("%s at %d", content(w.bytes[w.at:]), w.at))
	}
}

func (w *packetWire) add(name, value string) { w.rows = append(w.rows, row{name, value}) }
