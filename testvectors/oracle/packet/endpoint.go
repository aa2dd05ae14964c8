package packet

import (
	"bytes"
	"slices"
)

// The limits of section 2 that an end has to itself, and the times.
const (
	Received          = 256
	SentMax           = 8192
	Reassembly        = 64
	ReassemblyPackets = 8
	AckEvery          = 16

	ReassemblyTime = 1_000_000 // us
	LostAfter      = 1_000_000
	AckDelay       = 20_000
	KeptFor        = 4_000_000
)

// never is later than every time.
const never = 1<<63 - 1

// Config sets up an endpoint. The two numbers are what its counters begin with; the
// window behind NextToReceive is empty.
type Config struct {
	Limits
	FragmentAbove int
	NextToSend    int64
	NextToReceive int64
}

// Endpoint is an end of a connection: sections 4 to 8 of the specification, with sets
// and lists in place of rings.
type Endpoint struct {
	cfg Config
	now int64

	toSend int64
	sent   []*sent // those kept, oldest first

	next       int64
	received   map[int64]bool
	dead       map[int64]bool
	parts      map[int64]*reassembly
	unreported int
	ackAt      int64

	step *Step
}

// The states of a sent number.
const (
	Sent  = "SENT"
	Acked = "ACKED"
	Lost  = "LOST"
)

type sent struct {
	number int64
	at     int64
	state  string
}

type reassembly struct {
	since int64
	head  Header         // of fragment 0, if that is there
	data  map[int][]byte // by the fragment's id
	count int
}

func (r *reassembly) bytes() (n int) {
	for _, data := range r.data {
		n += len(data)
	}
	return n
}

// Delivered is a payload that is given up.
type Delivered struct {
	Number  int64
	Payload []byte
}

// Step is what an endpoint did at an event, and the rows that it took, in order.
type Step struct {
	Datagrams [][]byte
	Delivered *Delivered
	Acked     []int64
	Lost      []int64
	Refused   *Error
	Rows      []string
}

// New returns an endpoint.
func New(cfg Config) *Endpoint {
	return &Endpoint{
		cfg: cfg, toSend: cfg.NextToSend, next: cfg.NextToReceive, ackAt: never,
		received: map[int64]bool{}, dead: map[int64]bool{}, parts: map[int64]*reassembly{},
	}
}

// begin begins an event. A time before the latest one counts as that (TIM-1).
func (e *Endpoint) begin(now int64) *Step {
	e.now = max(e.now, now)
	e.step = &Step{}
	return e.step
}

func (e *Endpoint) row(name string) { e.step.Rows = append(e.step.Rows, name) }

// Send sends a payload (PKF-1 to PKF-3, PKS-1).
func (e *Endpoint) Send(now int64, payload []byte) *Step {
	step := e.begin(now)
	if len(payload) < 1 || len(payload) > e.cfg.MaxPacket() {
		step.Refused = &Error{PayloadSize, "PKF-3", Nowhere}
		return step
	}
	e.send(payload)
	return step
}

func (e *Endpoint) send(payload []byte) {
	h := e.header()
	if len(payload) <= e.cfg.FragmentAbove {
		e.step.Datagrams = append(e.step.Datagrams, EncodeRegular(h, payload))
	} else {
		size := e.cfg.FragmentSize
		n := (len(payload) + size - 1) / size
		for id := range n {
			data := payload[id*size : min((id+1)*size, len(payload))]
			e.step.Datagrams = append(e.step.Datagrams, EncodeFragment(h, id, n, data))
		}
	}
	e.unreported, e.ackAt = 0, never // PKA-3
	e.sent = append(e.sent, &sent{number: e.toSend, at: e.now, state: Sent})
	e.toSend++
	for _, s := range slices.Clone(e.sent) {
		if e.newer(s) < SentMax {
			break
		}
		if s.state == Sent {
			e.row("L4")
			e.step.Lost = append(e.step.Lost, s.number)
		} else {
			e.row("L5")
		}
		e.forget(s)
	}
}

// newer is how many numbers were sent after one.
func (e *Endpoint) newer(s *sent) int64 { return e.toSend - 1 - s.number }

func (e *Endpoint) forget(s *sent) {
	e.sent = slices.DeleteFunc(e.sent, func(other *sent) bool { return other == s })
}

// header is that of a packet which is sent now (PKA-1).
func (e *Endpoint) header() Header {
	h := Header{Sequence: uint16(modulo(e.toSend)), Ack: uint16(modulo(e.next - 1))}
	for n := range 32 {
		if e.received[e.next-1-int64(n)] {
			h.AckBits |= 1 << n
		}
	}
	return h
}

// number is what the sequence of a datagram means, if it is not stale (PKS-2).
func (e *Endpoint) number(sequence uint16) (number int64, ok bool) {
	d := int64(modulo(int64(sequence) - (e.next - Received)))
	number = e.next - Received + d
	return number, d < 32768 && number >= 0
}

// Receive takes a datagram: the first row of section 5 whose guard holds.
func (e *Endpoint) Receive(now int64, datagram []byte) *Step {
	step := e.begin(now)
	p, err := Decode(e.cfg.Limits, datagram)
	if err != nil {
		refused, _ := err.(*Error)
		step.Refused = refused
		e.row("P1")
		return step
	}
	number, ok := e.number(p.Header.Sequence)
	switch {
	case !ok:
		e.refuse("P2", Stale)
	case e.received[number]:
		e.refuse("P3", Duplicate)
	case e.dead[number]:
		e.refuse("P4", Dead)
	case !p.IsFragment:
		e.row("P6")
		delete(e.parts, number)
		e.take(number, p.Header, p.Data)
	default:
		e.fragment(number, p)
	}
	return step
}

func (e *Endpoint) refuse(row, code string) {
	e.row(row)
	e.step.Refused = &Error{code, row, Nowhere}
}

// fragment is rows P7 to P13. The layer above takes every payload here, so that P5 and
// P12 are not among the rows.
func (e *Endpoint) fragment(number int64, p Packet) {
	part := e.parts[number]
	switch {
	case number < e.next-Reassembly:
		e.refuse("P7", Stale)
	case part != nil && part.count != p.Count:
		e.refuse("P8", FragmentCount)
	case part != nil && part.data[p.ID] != nil:
		e.refuse("P9", FragmentDuplicate)
	case !e.makeRoom(number, len(p.Data)):
		e.refuse("P10", ReassemblyFull)
	default:
		e.store(number, p)
	}
}

// makeRoom is PKX-3. It drops nothing if there is no room after all.
func (e *Endpoint) makeRoom(number int64, size int) bool {
	var drop []int64
	packets, total := 0, size
	var older []int64
	for n, part := range e.parts {
		packets++
		total += part.bytes()
		if n < number {
			older = append(older, n)
		}
	}
	slices.Sort(older)
	if e.parts[number] == nil {
		packets++
	}
	for packets > ReassemblyPackets || total > 2*e.cfg.MaxPacket() {
		if len(older) == 0 {
			return false
		}
		drop = append(drop, older[0])
		packets--
		total -= e.parts[older[0]].bytes()
		older = older[1:]
	}
	for _, n := range drop {
		e.kill(n)
	}
	return true
}

// kill ends a reassembly so that no late fragment begins it anew.
func (e *Endpoint) kill(number int64) {
	delete(e.parts, number)
	e.dead[number] = true
}

// store is STORE (PKR-2), and TAKE if the packet is complete.
func (e *Endpoint) store(number int64, p Packet) {
	part := e.parts[number]
	if part == nil {
		part = &reassembly{since: e.now, count: p.Count, data: map[int][]byte{}}
		e.parts[number] = part
		e.advance(number)
	}
	part.data[p.ID] = bytes.Clone(p.Data)
	if p.ID == 0 {
		part.head = p.Header
	}
	if len(part.data) < part.count {
		e.row("P11")
		return
	}
	e.row("P13")
	var payload []byte
	for id := range part.count {
		payload = append(payload, part.data[id]...)
	}
	delete(e.parts, number)
	e.take(number, part.head, payload)
}

// advance moves next to a number that was taken, or of which a fragment was stored, and
// removes what leaves a window (PKR-1 to PKR-3).
func (e *Endpoint) advance(number int64) {
	e.next = max(e.next, number+1)
	for _, set := range []map[int64]bool{e.received, e.dead} {
		for n := range set {
			if n < e.next-Received {
				delete(set, n)
			}
		}
	}
	for n := range e.parts {
		if n < e.next-Reassembly {
			delete(e.parts, n)
		}
	}
}

// take is TAKE (PKR-1). The payload of one byte 00 is quiet.
func (e *Endpoint) take(number int64, h Header, payload []byte) {
	e.advance(number)
	e.received[number] = true
	e.acks(h)
	if !bytes.Equal(payload, []byte{0}) {
		e.unreported++
		e.ackAt = min(e.ackAt, e.now+AckDelay)
	}
	e.step.Delivered = &Delivered{number, payload}
}

// acks is PKA-2.
func (e *Endpoint) acks(h Header) {
	for n := range 32 {
		if h.AckBits>>n&1 == 0 {
			continue
		}
		sequence := modulo(int64(h.Ack) - int64(n))
		for i := len(e.sent) - 1; i >= 0; i-- {
			s := e.sent[i]
			if modulo(s.number) != sequence {
				continue
			}
			switch s.state {
			case Sent:
				e.row("L1")
				e.ack(s)
			case Lost:
				e.row("L3")
				e.ack(s)
			}
			break
		}
	}
}

func (e *Endpoint) ack(s *sent) {
	s.state = Acked
	e.step.Acked = append(e.step.Acked, s.number)
}

// Poll does what is due: it finds lost packets, ends reassemblies, and sends an ack-only
// packet.
func (e *Endpoint) Poll(now int64) *Step {
	step := e.begin(now)
	for _, s := range slices.Clone(e.sent) {
		if s.state == Sent && e.now-s.at >= LostAfter {
			e.row("L2")
			s.state = Lost
			step.Lost = append(step.Lost, s.number)
		}
		if s.state != Sent && e.now-s.at >= KeptFor {
			e.row("L5")
			e.forget(s)
		}
	}
	for number, part := range e.parts {
		if e.now-part.since >= ReassemblyTime {
			e.kill(number)
		}
	}
	if e.now >= e.ackAt || e.unreported >= AckEvery {
		e.send([]byte{0})
	}
	return step
}
