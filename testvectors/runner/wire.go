package runner

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
)

// row is a named value, on a line of its own.
type row struct{ name, value string }

// wire draws a packet's bytes field by field, as far as they go. It refuses
// nothing, so that it can show what is wrong.
type wire struct {
	bytes []byte
	at    int // in bits
	rows  []row
}

// drawWire draws a datagram, or, if body is "slice" or "ack", a bare body.
func drawWire(text, body string, protocolID any) []row {
	b, err := hex.DecodeString(text)
	if err != nil {
		return []row{{"hex", strconv.Quote(shortened(text))}}
	}
	w := &wire{bytes: b}
	w.add("bytes", strconv.Itoa(len(b)))
	kind := uint64(0)
	ok := true
	if body == "" {
		if ok = w.crc(protocolID); ok {
			kind, ok = w.field("type", 1, "%d")
		}
	} else if body == "ack" {
		kind = 1
	}
	if ok {
		ok = w.body(kind)
	}
	if ok && body == "" {
		_, ok = w.field("end check", 32, "0x%08x")
	}
	if left := len(b) - w.at/8; ok && left > 0 {
		w.add("trailing", content(b[w.at/8:]))
	}
	return w.rows
}

func (w *wire) crc(protocolID any) bool {
	v, ok := w.field("crc32", 32, "0x%08x")
	id, err := strconv.ParseUint(fmt.Sprint(protocolID), 10, 32)
	if !ok || err != nil {
		return ok
	}
	sum := crc32.NewIEEE()
	_, _ = sum.Write(binary.LittleEndian.AppendUint64(nil, id)) // the id and four zero bytes
	_, _ = sum.Write(w.bytes[4:])
	note := ", right"
	if right := sum.Sum32(); uint64(right) != v {
		note = fmt.Sprintf(", wrong: of these bytes it is 0x%08x", right)
	}
	w.rows[len(w.rows)-1].value += note
	return true
}

func (w *wire) body(kind uint64) bool {
	sliceID := uint64(0)
	_, ok := w.field("chunk_id", 16, "%d")
	if ok && kind == 0 {
		sliceID, ok = w.field("slice_id", 8, "%d")
	}
	last := uint64(0)
	if ok {
		last, ok = w.field("num_slices-1", 8, "%d")
	}
	if !ok {
		return false
	}
	if kind == 1 {
		return w.acked(int(last)+1) && w.padding()
	}
	size := uint64(1023)
	if sliceID == last {
		size, ok = w.field("slice_bytes-1", 10, "%d")
	}
	return ok && w.padding() && w.data(int(size)+1)
}

func (w *wire) acked(n int) bool {
	if left := 8*len(w.bytes) - w.at; left < n {
		w.add("acked", fmt.Sprintf("missing: %d of %d bits are left", left, n))
		return false
	}
	var bits strings.Builder
	for range n {
		bits.WriteByte('0' + byte(w.take(1)))
	}
	w.add("acked", shortened(bits.String()))
	return true
}

func (w *wire) padding() bool {
	if n := -w.at & 7; n > 0 {
		w.field("padding", n, "%b")
	}
	return true
}

func (w *wire) data(n int) bool {
	rest := w.bytes[w.at/8:]
	if len(rest) < n {
		w.add("data", fmt.Sprintf("missing: %d of %d bytes are left: %s", len(rest), n, content(rest)))
		return false
	}
	w.add("data", content(rest[:n]))
	w.at += 8 * n
	return true
}

// field takes a number of up to 32 bits.
func (w *wire) field(name string, n int, format string) (uint64, bool) {
	if left := 8*len(w.bytes) - w.at; left < n {
		w.add(name, fmt.Sprintf("missing: %d of %d bits are left", left, n))
		return 0, false
	}
	from := w.at
	v := w.take(n)
	place := fmt.Sprintf("bits %d to %d", from, from+n-1)
	if n == 1 {
		place = fmt.Sprintf("bit %d", from)
	}
	w.add(name, fmt.Sprintf("%-10s %s", fmt.Sprintf(format, v), place))
	return v, true
}

func (w *wire) take(n int) (v uint64) {
	for i := range n {
		v |= uint64(w.bytes[w.at>>3]>>(w.at&7)&1) << i
		w.at++
	}
	return v
}

func (w *wire) add(name, value string) { w.rows = append(w.rows, row{name, value}) }

// content describes bytes: all of them if there are few, or else the ends and a crc.
func content(b []byte) string {
	const few, ends = 40, 12
	if len(b) <= few {
		return fmt.Sprintf("%d bytes, %x", len(b), b)
	}
	return fmt.Sprintf("%d bytes, %x…%x, crc32 %08x", len(b), b[:ends], b[len(b)-ends:], crc32.ChecksumIEEE(b))
}

// shortened reduces a long text to its ends.
func shortened(s string) string {
	const few, ends = 300, 30
	if len(s) <= few {
		return s
	}
	return fmt.Sprintf("%s…%s (%d characters)", s[:ends], s[len(s)-ends:], len(s))
}
