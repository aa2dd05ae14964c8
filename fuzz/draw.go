package fuzz

import (
	"fmt"
	"strings"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/testvectors"
)

// part is a field of a packet, as far as its bytes go.
type part struct {
	name     string
	from, to int // bits; to is the first behind it
	value    string
}

// partsOf takes a datagram or a bare body apart, as far as it goes, whether it is
// accepted or not.
func partsOf(b []byte, framed bool, kind codec.Type) (parts []part) {
	d := &dissection{bytes: b}
	if framed {
		d.number("crc", 32, func(v uint64) string { return fmt.Sprintf("%#08x", v) })
		if v, ok := d.number("type", 1, func(v uint64) string { return codec.Type(v).String() }); ok {
			kind = codec.Type(v)
		}
	}
	if d.number("chunk_id", 16, plain); kind == codec.TypeAck {
		d.ack()
	} else {
		d.slice()
	}
	if framed {
		d.padding()
		d.number("end check", 32, func(v uint64) string { return fmt.Sprintf("%#x", v) })
	}
	d.rest("what follows", 8*len(b)-d.at)
	return d.parts
}

// dissection goes along a packet's bits.
type dissection struct {
	bytes []byte
	at    int
	parts []part
}

func plain(v uint64) string { return fmt.Sprint(v) }

func (d *dissection) left() int { return 8*len(d.bytes) - d.at }

// number takes a field of n bits. If there are not so many, it takes those that
// are there, and after it there is nothing.
func (d *dissection) number(name string, n int, text func(uint64) string) (v uint64, ok bool) {
	if d.left() < n {
		d.rest(name+", cut short", d.left())
		return 0, false
	}
	v = field(d.bytes, d.at, n)
	d.parts = append(d.parts, part{name, d.at, d.at + n, text(v)})
	d.at += n
	return v, true
}

// rest takes n bits that are no number.
func (d *dissection) rest(name string, n int) {
	if n = min(n, d.left()); n > 0 {
		d.parts = append(d.parts, part{name, d.at, d.at + n, amount(n)})
		d.at += n
	}
}

func amount(bits int) string {
	if bits%8 == 0 {
		return fmt.Sprintf("%d bytes", bits/8)
	}
	return fmt.Sprintf("%d bits", bits)
}

func (d *dissection) padding() {
	if n := min((8-d.at%8)%8, d.left()); n > 0 {
		d.number("padding", n, plain)
	}
}

func (d *dissection) slice() {
	id, _ := d.number("slice_id", 8, plain)
	lastID, ok := d.number("num_slices - 1", 8, plain)
	size := uint64(codec.SliceSize - 1)
	if ok && id == lastID {
		size, ok = d.number("slice_bytes - 1", 10, plain)
	}
	if !ok {
		return
	}
	d.padding()
	d.rest("data", 8*int(size+1))
}

func (d *dissection) ack() {
	lastID, ok := d.number("num_slices - 1", 8, plain)
	if !ok {
		return
	}
	n := min(int(lastID)+1, d.left())
	if n <= int(lastID) {
		d.rest("acked, cut short", n)
		return
	}
	var set codec.Bitset
	for k := range n {
		if field(d.bytes, d.at+k, 1) == 1 {
			set.Set(k)
		}
	}
	bits := testvectors.AckedBits(set, n)
	if n > 24 {
		bits = fmt.Sprintf("%d of %d", set.Count(), n)
	}
	d.parts = append(d.parts, part{"acked", d.at, d.at + n, bits})
	d.at += n
	d.padding()
}

// drawPacket writes a table of a packet's fields, and what the decoder says.
func drawPacket(s *story, b []byte, framed bool, kind codec.Type, p codec.Packet, err error) {
	fault := -1
	if e, ok := err.(*codec.Error); ok {
		fault = e.Bit()
	}
	s.say("   %-11s %-22s %-14s %s", "bits", "field", "value", "in the stream")
	marked := false
	for _, f := range partsOf(b, framed, kind) {
		mark := "  "
		if !marked && err != nil && fault >= f.from && fault < f.to {
			mark, marked = "=>", true
		}
		s.say("%s %-11s %-22s %-14s %s", mark, span(f), f.name, f.value, stream(b, f))
	}
	switch {
	case err == nil:
		s.say("accepted: %s", packetText(p))
	case !marked:
		s.say("=> %-11d here it ends", fault)
		fallthrough
	default:
		s.say("refused: %v", err)
	}
}

func span(f part) string {
	if f.to-f.from == 1 {
		return fmt.Sprint(f.from)
	}
	return fmt.Sprintf("%d-%d", f.from, f.to-1)
}

// stream writes the bits of a field in their order, if they are not too many.
func stream(b []byte, f part) string {
	const most = 40
	var text strings.Builder
	for bit := f.from; bit < min(f.to, f.from+most); bit++ {
		fmt.Fprint(&text, field(b, bit, 1))
	}
	if f.to-f.from > most {
		text.WriteString(" ...")
	}
	return text.String()
}
