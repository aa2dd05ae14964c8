package script

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// Content returns the bytes of a payload in a trace of the packet layer. None of them
// is 0, so that no payload is quiet.
func Content(number, size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(1 + (i+31*(i/256)+7*number)%255)
	}
	return b
}

// Datagram is a datagram that arrives, as a script describes it.
type Datagram struct {
	Sequence uint16
	Ack      uint16
	AckBits  uint32
	ID       int // of a fragment
	Count    int // 0: a regular packet
	Data     []byte
}

// Codec makes and reads datagrams: scripts are written without bytes.
type Codec struct {
	Encode   func(Datagram) []byte
	Describe func(datagram []byte) string // NUMBER:ACK/BITS, or NUMBER.ID
}

// Endpoint is a script for an endpoint.
type Endpoint struct {
	Config contract.EndpointConfig
	Events []contract.EndpointEvent
	codec  Codec
	lines  []endpointLine
}

type endpointLine struct {
	text   string
	events int
	want   endpointWant
}

// endpointWant is what must come of a line. All of it is complete.
type endpointWant struct {
	rows      []string
	datagrams []string
	delivered []string
	acked     []uint16
	lost      []uint16
	refused   *contract.Refused
}

// ParseEndpoint reads the lines of a script.
func ParseEndpoint(lines []string, codec Codec) (*Endpoint, error) {
	with, lines := settings(lines)
	t := &Endpoint{Config: endpointDefaults, codec: codec}
	var w words
	if w.endpointConfig(&t.Config, with); w.err != nil {
		return nil, w.err
	}
	for _, text := range lines {
		var w words
		if t.line(&w, text); w.err != nil {
			return nil, fmt.Errorf("%q: %w", text, w.err)
		}
	}
	return t, nil
}

// endpointDefaults keep datagrams short: a payload above 8 bytes is cut.
var endpointDefaults = contract.EndpointConfig{FragmentSize: 8, MaxFragments: 16, FragmentAbove: 8}

func (w *words) endpointConfig(cfg *contract.EndpointConfig, with map[string]string) {
	for key, value := range with {
		n := w.term(value) // of 64 bits
		switch key {
		case "fragment_size":
			cfg.FragmentSize = int(n)
		case "max_fragments":
			cfg.MaxFragments = int(n)
		case "fragment_above":
			cfg.FragmentAbove = int(n)
		case "send":
			cfg.NextToSend = n
		case "receive":
			cfg.NextToReceive = n
		default:
			w.bad("setting", key)
		}
	}
	cfg.FragmentAbove = max(cfg.FragmentAbove, cfg.FragmentSize)
}

func (t *Endpoint) line(w *words, text string) {
	event, wanted, found := strings.Cut(text, " : ")
	fields := strings.Fields(event)
	if !found || len(fields) < 2 {
		w.bad("event, or nothing expected", text)
		return
	}
	times := w.times(fields[0])
	for i, at := range times {
		t.Events = append(t.Events, t.event(w, at, i, fields[1:]))
	}
	t.lines = append(t.lines, endpointLine{text, len(times), w.endpointWant(strings.Fields(wanted))})
}

// event returns the i-th event of a line.
func (t *Endpoint) event(w *words, at int64, i int, fields []string) contract.EndpointEvent {
	e := contract.EndpointEvent{At: at, Event: fields[0]}
	args := fields[1:]
	need := map[string]int{"send": 1, "packet": 1, "fragment": 2, "bytes": 1}[e.Event]
	if len(args) < need {
		w.bad("event", strings.Join(fields, " "))
		return e
	}
	receive := func(b []byte) {
		e.Event, e.Datagram = contract.EventReceive, text(b)
	}
	switch e.Event {
	case "send":
		e.Payload = text(w.payload(args[0], len(t.Events)))
	case "packet":
		d, size := w.datagram(args[1:])
		d.Sequence = uint16(w.nth(args[0], i))
		if d.Data == nil {
			d.Data = Content(int(d.Sequence), max(size, 1))
		}
		receive(t.codec.Encode(d))
	case "fragment":
		receive(t.codec.Encode(t.fragment(w, i, args)))
	case "bytes":
		b, err := hex.DecodeString(strings.TrimPrefix(args[0], "-"))
		if err != nil {
			w.bad("hex", args[0])
		}
		receive(b)
	}
	return e
}

func text(b []byte) *string {
	s := hex.EncodeToString(b)
	return &s
}

// payload reads a size, or pad.
func (w *words) payload(word string, number int) []byte {
	if word == "pad" {
		return []byte{0}
	}
	return Content(number, w.number(word))
}

// nth returns the i-th number of a list, or the last one.
func (w *words) nth(list string, i int) int {
	numbers := w.ids(list)
	return numbers[min(i, len(numbers)-1)]
}

// datagram reads what may stand behind a number: a size, or pad; ack and bits. The size
// is 0 if there is none.
func (w *words) datagram(args []string) (d Datagram, size int) {
	d.Ack = 65535
	for _, word := range args {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "ack":
			d.Ack = uint16(w.number(value))
		case "bits":
			bits, err := strconv.ParseUint(value, 16, 32)
			if err != nil {
				w.bad("bits", word)
			}
			d.AckBits = uint32(bits)
		case "pad":
			d.Data = []byte{0}
		default:
			size = w.number(word)
		}
	}
	return d, size
}

// fragment reads SEQUENCE ID/COUNT [SIZE OF THE LAST] [ack=] [bits=].
func (t *Endpoint) fragment(w *words, i int, args []string) Datagram {
	d, last := w.datagram(args[2:])
	size := t.Config.FragmentSize
	if last == 0 {
		last = size
	}
	ids, count, _ := strings.Cut(args[1], "/")
	d.Sequence, d.ID, d.Count = uint16(w.nth(args[0], i)), w.nth(ids, i), w.number(count)
	whole := Content(int(d.Sequence), (max(d.Count, d.ID+1)-1)*size+max(last, size))
	d.Data = whole[d.ID*size : d.ID*size+size]
	if d.ID == d.Count-1 {
		d.Data = whole[d.ID*size : d.ID*size+last]
	}
	return d
}

var rowPattern = regexp.MustCompile(`^[PLC]\d+$`)

func (w *words) endpointWant(list []string) (e endpointWant) {
	for _, word := range list {
		key, value, _ := strings.Cut(word, "=")
		switch {
		case rowPattern.MatchString(word):
			e.rows = append(e.rows, word)
		case word == "-":
		case word[0] == '>':
			e.datagrams = append(e.datagrams, w.each(word[1:])...)
		case word[0] == '=':
			e.delivered = append(e.delivered, w.each(word[1:])...)
		case key == "acked":
			e.acked = append(e.acked, w.sequences(value)...)
		case key == "lost":
			e.lost = append(e.lost, w.sequences(value)...)
		case key == "refused":
			code, at, placed := strings.Cut(value, "@")
			e.refused = &contract.Refused{Error: code, At: -1}
			if placed {
				e.refused.At = w.number(at)
			}
		default:
			w.bad("expectation", word)
		}
	}
	return e
}

// each writes out NUMBERS or NUMBERS:REST.
func (w *words) each(text string) (list []string) {
	numbers, rest, more := strings.Cut(text, ":")
	if n, id, isFragment := strings.Cut(numbers, "."); isFragment {
		for _, i := range w.sequences(id) {
			list = append(list, fmt.Sprintf("%s.%d", n, i))
		}
		return list
	}
	for _, n := range w.sequences(numbers) {
		word := strconv.Itoa(int(n))
		if more {
			word += ":" + rest
		}
		list = append(list, word)
	}
	return list
}

// sequences reads numbers such as 3,5-7 or 7-5, of which the wire has the low 16 bits.
func (w *words) sequences(text string) (list []uint16) {
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		n, last := w.number(from), w.number(to)
		list = append(list, uint16(n))
		for n != last && w.err == nil {
			if n < last {
				n++
			} else {
				n--
			}
			list = append(list, uint16(n))
		}
	}
	return list
}

// Check compares a trace's steps, and the rows that each took, with its script.
func (t *Endpoint) Check(steps []contract.EndpointStep, rows [][]string) error {
	for _, l := range t.lines {
		if err := t.check(l, steps[:l.events], rows[:l.events]); err != nil {
			return fmt.Errorf("%q: got %w", l.text, err)
		}
		steps, rows = steps[l.events:], rows[l.events:]
	}
	return nil
}

func (t *Endpoint) check(l endpointLine, steps []contract.EndpointStep, rows [][]string) error {
	var got endpointWant
	for _, s := range steps {
		for _, d := range s.Datagrams {
			b, err := hex.DecodeString(d)
			if err != nil {
				return err
			}
			got.datagrams = append(got.datagrams, t.codec.Describe(b))
		}
		if d := s.Delivered; d != nil {
			got.delivered = append(got.delivered, fmt.Sprintf("%d:%d", d.Sequence, len(d.Payload)/2))
		}
		got.acked, got.lost = append(got.acked, s.Acked...), append(got.lost, s.Lost...)
		if (s.Refused == nil) != (l.want.refused == nil) || s.Refused != nil && *s.Refused != *l.want.refused {
			return fmt.Errorf("refused %+v", s.Refused)
		}
	}
	got.rows = once(rows)
	switch {
	case !slices.Equal(got.rows, l.want.rows):
		return fmt.Errorf("rows %v", got.rows)
	case !slices.EqualFunc(got.datagrams, l.want.datagrams, begins):
		return fmt.Errorf("datagrams %v", got.datagrams)
	case !slices.EqualFunc(got.delivered, l.want.delivered, begins):
		return fmt.Errorf("delivered %v", got.delivered)
	case !slices.Equal(got.acked, l.want.acked):
		return fmt.Errorf("acked %v", got.acked)
	case !slices.Equal(got.lost, l.want.lost):
		return fmt.Errorf("lost %v", got.lost)
	}
	return nil
}

// begins reports whether what came is what was wanted, which may leave out what stands
// behind the colon.
func begins(got, want string) bool {
	return got == want || strings.HasPrefix(got, want+":")
}

// once returns the rows of all steps, each where it came first.
func once(rows [][]string) (list []string) {
	for _, taken := range rows {
		for _, row := range taken {
			if !slices.Contains(list, row) {
				list = append(list, row)
			}
		}
	}
	return list
}
