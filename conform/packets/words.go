package packets

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/oracle/packetoracle"
)

// pad is the payload of one byte 00.
const pad = "pad"

// endpointEvent reads send SIZE|pad; packet NUMBERS [SIZE|pad] [ack=N] [bits=HEX]; fragment
// NUMBERS IDS/COUNT [SIZE OF THE LAST] [ack=N] [bits=HEX]; bytes HEX.
func endpointEvent(w *conform.Words, config any, word string, args []string) conform.Event {
	if need := map[string]int{"send": 1, "packet": 1, "fragment": 2, "bytes": 1}[word]; len(args) < need {
		w.Bad("argument", strings.Join(args, " "))
		return nil
	}
	switch word {
	case "send":
		return Send{payload(w, args[0], w.Position)}
	case "packet":
		sequence := uint16(w.Number(args[0]))
		h, size := header(w, sequence, args[1:])
		return Receive{conform.Bytes(packetoracle.EncodeRegular(h, []byte(payload(w, size, int(sequence)))))}
	case "fragment":
		c, _ := whole(config)
		return fragment(w, c.FragmentSize, args)
	case "bytes":
		b, err := hex.DecodeString(strings.TrimPrefix(args[0], "-"))
		if err != nil {
			w.Bad("hex", args[0])
		}
		return Receive{conform.Bytes(b)}
	}
	return nil
}

func payload(w *conform.Words, size string, number int) conform.Bytes {
	switch size {
	case pad:
		return "\x00"
	case "":
		size = "1"
	}
	return conform.Bytes(conform.Content(number, w.Size(size)))
}

// header reads what may stand behind a number: a size, or pad, which is not read; ack and bits.
func header(w *conform.Words, sequence uint16, args []string) (h packetoracle.Header, size string) {
	h = packetoracle.Header{Sequence: sequence, Ack: 65535}
	for _, word := range args {
		switch key, value, _ := strings.Cut(word, "="); key {
		case "ack":
			h.Ack = uint16(w.Time(value))
		case "bits":
			bits, err := strconv.ParseUint(value, 16, 32)
			if err != nil {
				w.Bad("bits", word)
			}
			h.AckBits = uint32(bits)
		default:
			size = word
		}
	}
	return h, size
}

func fragment(w *conform.Words, size int, args []string) conform.Event {
	ids, of, _ := strings.Cut(args[1], "/")
	sequence, id, count := uint16(w.Number(args[0])), int(w.Number(ids)), w.Size(of)
	h, text := header(w, sequence, args[2:])
	last := size
	if text != "" {
		last = w.Size(text)
	}
	if w.Err != nil || id < 0 || id > 255 || count > 256 {
		w.Bad("fragment", strings.Join(args, " "))
		return nil
	}
	whole := conform.Content(int(sequence), (max(count, id+1)-1)*size+max(last, size))
	data := whole[id*size : id*size+size]
	if id == count-1 {
		data = whole[id*size : id*size+last]
	}
	return Receive{conform.Bytes(packetoracle.EncodeFragment(h, id, count, data))}
}

// widest takes every datagram that any endpoint takes.
var widest = packetoracle.Limits{FragmentSize: 1160, MaxFragments: 256}

// endpointWords is the inverse.
func endpointWords(config any, e conform.Event) string {
	switch e := e.(type) {
	case Send:
		if e.Payload == "\x00" {
			return "send " + pad
		}
		return fmt.Sprintf("send %d", len(e.Payload))
	case Receive:
		p, err := packetoracle.Decode(widest, []byte(e.Datagram))
		if err == nil && !p.IsFragment {
			return fmt.Sprintf("packet %d %d%s", p.Header.Sequence, len(p.Data), acks(p.Header))
		}
		if text := "-" + hex.EncodeToString([]byte(e.Datagram)); len(text) > 1 {
			return "bytes " + text[1:]
		}
		return "bytes -"
	}
	return ""
}

func acks(h packetoracle.Header) (text string) {
	if h.Ack != 65535 {
		text = fmt.Sprintf(" ack=%d", h.Ack)
	}
	if h.AckBits != 0 {
		text += fmt.Sprintf(" bits=%x", h.AckBits)
	}
	return text
}

// endpointSaid are ROWS >NUMBER:ACK/BITS >NUMBER.ID =NUMBER:SIZE acked=N lost=N refused=CODE@PLACE.
func endpointSaid(config any, step conform.Step) (said conform.Said) {
	s := step.(EndpointStep)
	for _, b := range s.Datagrams {
		said.Came = append(said.Came, datagram([]byte(b)))
	}
	if d := s.Delivered; d.Is {
		said.Came = append(said.Came, conform.Counted("=", int64(d.V.Sequence), fmt.Sprintf(":%d", len(d.V.Payload))))
	}
	for _, n := range s.Acked {
		said.Came = append(said.Came, conform.Counted("acked=", int64(n), ""))
	}
	for _, n := range s.Lost {
		said.Came = append(said.Came, conform.Counted("lost=", int64(n), ""))
	}
	if r := s.Refused; r.Is && r.V.At < 0 {
		said.Came = append(said.Came, conform.Plain("refused="+r.V.Error))
	} else if r.Is {
		said.Came = append(said.Came, conform.Plain(fmt.Sprintf("refused=%s@%d", r.V.Error, r.V.At)))
	}
	return said
}

func datagram(b []byte) conform.Item {
	p, err := packetoracle.Decode(widest, b)
	switch h := p.Header; {
	case len(b) > 3 && b[0] == 1:
		return conform.Counted(fmt.Sprintf(">%d.", uint16(b[1])|uint16(b[2])<<8), int64(b[3]), "")
	case err != nil:
		return conform.Plain(fmt.Sprintf(">%x", b))
	default:
		return conform.Counted(">", int64(h.Sequence), fmt.Sprintf(":%d/%x", h.Ack, h.AckBits))
	}
}

// congestionEvent reads SRTT|none [silent] [min=TIME].
func congestionEvent(w *conform.Words, config any, _ string, args []string) conform.Event {
	if len(args) == 0 {
		w.Bad("argument", "")
		return nil
	}
	var is Conditions
	if args[0] != "none" {
		is.SRTT = conform.Some(w.Time(args[0]))
	}
	for _, word := range args[1:] {
		least, isLeast := strings.CutPrefix(word, "min=")
		switch {
		case isLeast:
			is.MinRTT = conform.Some(w.Time(least))
		case word == "silent":
			is.Silent = true
		default:
			w.Bad("condition", word)
		}
	}
	return is
}

// congestionWords is the inverse.
func congestionWords(config any, e conform.Event) string {
	is, text := e.(Conditions), "none"
	if is.SRTT.Is {
		text = conform.WriteTime(is.SRTT.V)
	}
	if is.Silent {
		text += " silent"
	}
	if is.MinRTT.Is {
		text += " min=" + conform.WriteTime(is.MinRTT.V)
	}
	return text
}

// congestionSaid are ROWS MODE RECOVERY.
func congestionSaid(config any, step conform.Step) (said conform.Said) {
	s := step.(CongestionStep)
	said.Figures = []string{s.Mode, conform.WriteTime(s.Recovery)}
	return said
}
