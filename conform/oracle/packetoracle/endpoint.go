package packetoracle

import (
	"bytes"
	"slices"
)

// The limits of section 2 that an end has to itself, as they usually are, and the times.
const (
	Received          = 256
	SentMax           = 8192
	Reassembly        = 64
	ReassemblyPackets = 8
	AckEvery          = 16

	ReassemblyTime = 1_000_000 // us
	LostAfter      = 1_000_000
	AckDelay       = 20_000
	Kept           = 4_000_000
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
	Profile       string // of its congestion avoidance
	Rings
}

// Rings are the limits of section 2 that an end has to itself. What is 0 is as usual.
type Rings struct {
	Received, SentMax, Reassembly, ReassemblyPackets int64
	ReassemblyBytes                                  int
	SequenceBits                                     int // of which the wire has fewer where all states are searched
}

// complete returns the rings that are meant.
func (c Config) complete() Config {
	usual := func(v *int64, is int64) {
		if *v == 0 {
			*v = is
		}
	}
	usual(&c.Received, Received)
	usual(&c.SentMax, SentMax)
	usual(&c.Reassembly, min(Reassembly, c.Received/2))
	usual(&c.ReassemblyPackets, min(ReassemblyPackets, c.Reassembly))
	if c.ReassemblyBytes == 0 {
		c.ReassemblyBytes = 2 * c.MaxPacket()
	}
	if c.SequenceBits == 0 {
		c.SequenceBits = 16
	}
	return c
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

	path       path
	pathFrom   int64 // the first number that was sent on this path
	congestion *Congestion
	step       *Step

	// Above is what the layer above says of a payload; nil: it takes each.
	Above func(Arrived) Verdict
}

// Arrived is a payload that is complete: the number of its packet, and the newest of our own
// numbers that its header acks, -1 for none.
type Arrived struct {
	Number, Ack int64
	Payload     []byte

	Means int64  // Ack, also where that is none
	Bits  uint32 // of the header
	Next  int64  // 1 + the newest number known before
}

// Verdict is what the layer above says of a payload.
type Verdict string

// The verdicts.
const (
	Take    Verdict = "take"
	Quietly Verdict = "take quietly"
	Refuse  Verdict = "refuse"
)

// verdict asks the layer above.
func (e *Endpoint) verdict(number int64, h Header, payload []byte) Verdict {
	v := Take
	if e.Above != nil {
		means := e.means(int64(h.Ack))
		v = e.Above(Arrived{number, max(means, -1), payload, means, h.AckBits, e.next})
	}
	if v == Take && quiet(payload) {
		return Quietly // PKR-7
	}
	return v
}

// sent is a number that was sent, and is kept.
type sent struct {
	number int64
	at     int64
	bytes  int
	state  string
}

// The states of a sent number (section 7).
const (
	stateSent  = "SENT"
	stateQuiet = "QUIET"
	stateLost  = "LOST"
	stateAcked = "ACKED"
)

type reassembly struct {
	begun int64
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
		cfg: cfg.complete(), toSend: cfg.NextToSend, next: cfg.NextToReceive, ackAt: never,
		received: map[int64]bool{}, dead: map[int64]bool{}, parts: map[int64]*reassembly{},
		path: path{newestAcked: -1, newestLost: -1}, congestion: NewCongestion(cfg.Profile),
	}
}

// Congestion returns the endpoint's congestion avoidance.
func (e *Endpoint) Congestion() *Congestion { return e.congestion }

// ForgetPath is what CXL-10 of CONNECTION.md asks of an endpoint: what was sent before is of another path.
func (e *Endpoint) ForgetPath(now int64) {
	e.now = max(e.now, now)
	e.path = path{newestAcked: e.path.newestAcked, newestLost: -1, decayed: e.now / second}
	e.pathFrom, e.congestion = e.toSend, NewCongestion(e.cfg.Profile)
}

// evaluate gives the conditions of the path to congestion avoidance (PKC-1).
func (e *Endpoint) evaluate() {
	known := e.Estimates()
	var srtt *int64
	if known.Measured {
		srtt = &known.SRTT
	}
	e.congestion.Evaluate(e.now, srtt, known.MinRTT, known.Silent)
}

// begin begins an event. A time before the latest one counts as that (PKN-3). Each event
// first ends the reassemblies that took too long (PKI-2; PKX-2, step 5).
func (e *Endpoint) begin(now int64) *Step {
	e.now = max(e.now, now)
	e.step = &Step{}
	for number, part := range e.parts {
		if e.now-part.begun >= ReassemblyTime {
			e.kill(number)
		}
	}
	return e.step
}

func (e *Endpoint) row(name string) { e.step.Rows = append(e.step.Rows, name) }

// Send sends a payload (PKF-1 to PKF-3, PKS-1).
func (e *Endpoint) Send(now int64, payload []byte) *Step { return e.give(now, payload, false) }

// SendQuiet sends a payload that the peer will take quietly (PKL-4).
func (e *Endpoint) SendQuiet(now int64, payload []byte) *Step { return e.give(now, payload, true) }

func (e *Endpoint) give(now int64, payload []byte, isQuiet bool) *Step {
	step := e.begin(now)
	if len(payload) < 1 || len(payload) > e.cfg.MaxPacket() {
		step.Refused = &Error{Code: PayloadSize, Check: "PKF-3", At: Nowhere}
		return step
	}
	e.send(payload, isQuiet)
	return step
}

// Next is the number that the next packet gets, and AckAt when an ack-only packet is due.
func (e *Endpoint) Next() int64  { return e.toSend }
func (e *Endpoint) AckAt() int64 { return e.ackAt }

// LeaveOut leaves the next number out (PKS-4).
func (e *Endpoint) LeaveOut() {
	e.step = &Step{}
	e.keep(&sent{number: e.toSend, at: e.now, state: stateAcked})
	e.toSend++
}

// Keeps reports whether something is known of a number that was used up.
func (e *Endpoint) Keeps(number int64) bool {
	return slices.ContainsFunc(e.sent, func(s *sent) bool { return s.number == number })
}

// NextToReceive is one more than the largest number that came.
func (e *Endpoint) NextToReceive() int64 { return e.next }

// Held is what is in reassembly (PKX-3).
func (e *Endpoint) Held() (packets, bytes int) {
	for _, part := range e.parts {
		bytes += part.bytes()
	}
	return len(e.parts), bytes
}

// wire is what the wire has of a number, and means the number of our own that it means (PKS-3).
func (e *Endpoint) wire(number int64) int64 { return number & (1<<e.cfg.SequenceBits - 1) }
func (e *Endpoint) means(a int64) int64     { return e.toSend - 1 - e.wire(e.toSend-1-a) }

// send is PKA-4 from step 2 on.
func (e *Endpoint) send(payload []byte, isQuiet bool) {
	number, h := e.toSend, e.header()
	e.toSend++
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
	s := &sent{number: number, at: e.now, state: stateSent}
	for _, datagram := range e.step.Datagrams {
		s.bytes += len(datagram)
	}
	if isQuiet || quiet(payload) {
		s.state = stateQuiet // PKL-4
	} else {
		e.congestion.Sent(e.now) // PKC-3
	}
	e.path.count(e.now, countSent, s.bytes)
	e.keep(s)
	e.unreported, e.ackAt = 0, never
}

// keep keeps a number that is used up. The oldest makes room.
func (e *Endpoint) keep(s *sent) {
	for _, old := range e.sent {
		if old.number == s.number-e.cfg.SentMax {
			e.pushOut(old)
			break
		}
	}
	e.sent = append(e.sent, s)
}

// quiet reports whether a payload is the one byte 0x00 (PKR-7).
func quiet(payload []byte) bool { return len(payload) == 1 && payload[0] == 0 }

// pushOut is rows L4, L6, L8 and L11.
func (e *Endpoint) pushOut(s *sent) {
	e.row(map[string]string{stateSent: "L4", stateLost: "L6", stateAcked: "L8", stateQuiet: "L11"}[s.state])
	if s.state == stateSent {
		e.lose(s)
	}
	e.forget(s)
}

// lose is the actions SETTLE LOST and LOST.
func (e *Endpoint) lose(s *sent) {
	if s.number >= e.pathFrom {
		e.path.count(e.now, countSettled, 1)
		e.path.count(e.now, countLost, 1)
		e.path.newestLost = max(e.path.newestLost, s.number)
	}
	e.step.Lost = append(e.step.Lost, s.number)
}

func (e *Endpoint) forget(s *sent) {
	e.sent = slices.DeleteFunc(e.sent, func(other *sent) bool { return other == s })
}

// header is that of a packet which is sent now (PKA-1).
func (e *Endpoint) header() Header {
	h := Header{Sequence: uint16(e.wire(e.toSend)), Ack: uint16(e.wire(e.next - 1))}
	for n := range 32 {
		if e.received[e.next-1-int64(n)] {
			h.AckBits |= 1 << n
		}
	}
	return h
}

// number is what the sequence of a datagram means, if it is not stale (PKS-2).
func (e *Endpoint) number(sequence uint16) (number int64, ok bool) {
	low := e.next - e.cfg.Received
	d := e.wire(int64(sequence) - low)
	return low + d, d < 1<<(e.cfg.SequenceBits-1) && low+d >= 0
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
	samples := len(e.path.samples)
	number, ok := e.number(p.Header.Sequence)
	switch {
	case !ok:
		e.refuse("P2", Stale)
	case e.received[number]:
		e.refuse("P3", Duplicate)
	case e.dead[number]:
		e.refuse("P4", Dead)
	case !p.IsFragment:
		v := e.verdict(number, p.Header, p.Data)
		if v == Refuse {
			e.refuse("P5", PayloadRefused)
			break
		}
		e.row("P6")
		delete(e.parts, number)
		e.take(number, p.Header, p.Data, v)
	default:
		e.fragment(number, p)
	}
	if step.Refused == nil {
		e.path.count(e.now, countReceived, len(datagram)) // PKE-7
	}
	if len(e.path.samples) > samples {
		e.evaluate() // PKC-2
	}
	return step
}

func (e *Endpoint) refuse(row, code string) {
	e.row(row)
	e.step.Refused = &Error{Code: code, Check: row, At: Nowhere}
}

// fragment is rows P7 to P13.
func (e *Endpoint) fragment(number int64, p Packet) {
	part := e.parts[number]
	here := 0
	if part != nil {
		here = len(part.data)
	}
	switch {
	case number < e.next-e.cfg.Reassembly:
		e.refuse("P7", Stale)
	case part != nil && part.count != p.Count:
		e.refuse("P8", FragmentCount)
	case part != nil && part.data[p.ID] != nil:
		e.refuse("P9", FragmentDuplicate)
	case here+1 < p.Count && !e.hasRoom(number, len(p.Data)):
		e.refuse("P10", ReassemblyFull)
	case here+1 < p.Count:
		e.row("P11")
		e.store(number, p)
	default:
		e.complete(number, p)
	}
}

// fits reports whether a fragment of a packet fits beside the other packets that keep
// says (PKX-3).
func (e *Endpoint) fits(number int64, size int, keep func(number int64) bool) bool {
	packets, total := int64(1), size
	for n, part := range e.parts {
		switch {
		case n == number:
			total += part.bytes()
		case keep(n):
			packets++
			total += part.bytes()
		}
	}
	return packets <= e.cfg.ReassemblyPackets && total <= e.cfg.ReassemblyBytes
}

// hasRoom reports whether a fragment fits without the packets that are older.
func (e *Endpoint) hasRoom(number int64, size int) bool {
	return e.fits(number, size, func(n int64) bool { return n > number })
}

// makeRoom drops the oldest packets as long as a fragment does not fit.
func (e *Endpoint) makeRoom(number int64, size int) {
	for !e.fits(number, size, func(int64) bool { return true }) {
		oldest := int64(never)
		for n := range e.parts {
			oldest = min(oldest, n)
		}
		e.kill(oldest)
	}
}

// kill ends a reassembly so that no late fragment begins it anew.
func (e *Endpoint) kill(number int64) {
	delete(e.parts, number)
	e.dead[number] = true
}

// store is STORE (PKR-2).
func (e *Endpoint) store(number int64, p Packet) {
	e.makeRoom(number, len(p.Data))
	if e.parts[number] == nil {
		e.parts[number] = &reassembly{begun: e.now, count: p.Count, data: map[int][]byte{}}
	}
	e.advance(number)
	e.parts[number].add(p)
}

func (r *reassembly) add(p Packet) {
	r.data[p.ID] = bytes.Clone(p.Data)
	if p.ID == 0 {
		r.head = p.Header
	}
}

// complete is rows P12 and P13, of the payload that a fragment completes.
func (e *Endpoint) complete(number int64, p Packet) {
	part := e.parts[number]
	part.add(p)
	var payload []byte
	for id := range part.count {
		payload = append(payload, part.data[id]...)
	}
	delete(e.parts, number)
	v := e.verdict(number, part.head, payload)
	if v == Refuse {
		e.refuse("P12", PayloadRefused)
		return
	}
	e.row("P13")
	e.take(number, part.head, payload, v)
}

// advance moves next to a number that was taken, or of which a fragment was stored, and
// removes what leaves a window (PKR-1 to PKR-3).
func (e *Endpoint) advance(number int64) {
	e.next = max(e.next, number+1)
	for _, set := range []map[int64]bool{e.received, e.dead} {
		for n := range set {
			if n < e.next-e.cfg.Received {
				delete(set, n)
			}
		}
	}
	for n := range e.parts {
		if n < e.next-e.cfg.Reassembly {
			delete(e.parts, n)
		}
	}
}

// take is TAKE (PKR-1).
func (e *Endpoint) take(number int64, h Header, payload []byte, v Verdict) {
	e.advance(number)
	e.received[number] = true
	e.acks(h)
	if v == Take {
		e.unreported++
		if e.unreported >= AckEvery {
			e.ackAt = e.now
		} else {
			e.ackAt = min(e.ackAt, e.now+AckDelay)
		}
	}
	e.step.Delivered = &Delivered{number, payload}
}

// acks is PKA-2.
func (e *Endpoint) acks(h Header) {
	before := e.path.newestAcked
	for n := range 32 {
		if h.AckBits>>n&1 == 0 {
			continue
		}
		number := e.means(int64(h.Ack) - int64(n))
		for _, s := range e.sent {
			if s.number == number {
				e.ack(s, n == 0, before)
			}
		}
	}
}

// ack is rows L1, L3 and L9: is it the ack's own number, and which was the newest one
// acked before this packet.
func (e *Endpoint) ack(s *sent, own bool, before int64) {
	row, ok := map[string]string{stateSent: "L1", stateLost: "L3", stateQuiet: "L9"}[s.state]
	if !ok {
		return // it was acked before
	}
	e.row(row)
	if row != "L9" && s.number >= e.pathFrom {
		e.path.latency(e.now, s, own, before)
	}
	if row == "L1" && s.number >= e.pathFrom {
		e.path.count(e.now, countSettled, 1)
	}
	e.path.count(e.now, countAcked, s.bytes)
	e.path.newestAcked = max(e.path.newestAcked, s.number)
	s.state = stateAcked
	e.step.Acked = append(e.step.Acked, s.number)
}

// Poll is PKI-2.
func (e *Endpoint) Poll(now int64) *Step {
	step := e.begin(now)
	for _, s := range slices.Clone(e.sent) {
		if s.state == stateSent && e.now-s.at >= LostAfter {
			e.row("L2")
			s.state = stateLost
			e.lose(s)
		}
		if e.now-s.at >= Kept {
			e.row(map[string]string{stateLost: "L5", stateAcked: "L7", stateQuiet: "L10"}[s.state])
			e.forget(s)
		}
	}
	if e.now >= e.ackAt {
		e.send([]byte{0}, false)
	}
	e.evaluate()
	return step
}

// Deadline is PKI-4 without PKC-8, for who does not use section 9.
func (e *Endpoint) Deadline() int64 {
	at := e.ackAt
	for _, s := range e.sent {
		at = min(at, s.at+Kept)
		if s.state == stateSent {
			at = min(at, s.at+LostAfter)
		}
	}
	for _, part := range e.parts {
		at = min(at, part.begun+ReassemblyTime)
	}
	return at
}
