package packet

// The explorer drives two real endpoints over small windows through every state that they
// can reach together, and checks each. The engine is package conform/sim/explore:
//
//	go test ./packet -run TestExplore -v                                  # in every run
//	go test ./packet -run TestExploreNightly -explore.nightly -v          # larger networks
//
// Numbers have 5 bits, Received and SentMax are 4, Reassembly is 2. What can happen, at any
// time: an end sends a packet, whole or in two fragments; an ack-only packet that is owed
// is sent; any datagram in flight arrives, is refused above, is lost or is doubled, in any
// order; what is sent into a full network is lost; the oldest number that waits is overdue;
// the oldest that is kept is old; a reassembly has lasted for too long; and, once, a forged
// datagram arrives.
//
// Why there are finitely many states. Numbers count only by their distance to the next one
// of their direction. Of times only what is due counts, and that each timer may be due at
// any time adds behavior and leaves none out. Estimates and counters are read by no guard.
//
// What is assumed (section 11): fewer packets than half the space are lost in a row, and no
// datagram arrives after 16 further packets of its sender, or of its receiver: its acks
// would mean other numbers.

import (
	"flag"
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/explore"
	"github.com/chunkwire/chunkwire/core"
)

var exploreNightly = flag.Bool("explore.nightly", false, "let TestExploreNightly visit far more states")

const (
	exTime     = 10 * core.Second
	exFirst    = 1000
	exWindow   = 4
	exLag      = 11 // how far a sender can be ahead of what its receiver knows
	exLifetime = 16 // how many packets a datagram can outlive
)

var exConfig = Config{
	Format: Format{FragmentSize: 1, MaxFragments: 3}, FragmentAbove: 1, SequenceBits: 5,
	Received: exWindow, SentMax: exWindow, Reassembly: 2, ReassemblyPackets: 2, ReassemblyBytes: 3,
	NextToSend: exFirst, NextToReceive: exFirst,
}

// exKind is what a datagram is.
type exKind uint8

const (
	exWhole exKind = iota
	exPad
	exPart0 // of two
	exPart1
	exOther // the second of three: nobody makes these
)

// exDatagram is a datagram in flight: its number, its acks as numbers, what it is.
type exDatagram uint64

func newExDatagram(n, ack core.Number, bits uint32, kind exKind) exDatagram {
	return exDatagram(n)<<40 | exDatagram(ack)<<16 | exDatagram(bits)<<8 | exDatagram(kind)
}

func (d exDatagram) number() core.Number { return core.Number(d >> 40) }
func (d exDatagram) ack() core.Number    { return core.Number(d >> 16 & 0xffffff) }
func (d exDatagram) bits() uint32        { return uint32(d >> 8 & 0xff) }
func (d exDatagram) kind() exKind        { return exKind(d & 0xff) }

// exContent is the payload of a packet: it has the number.
func exContent(n core.Number, kind exKind) []byte {
	switch kind {
	case exPad:
		return []byte{0}
	case exWhole:
		return []byte{0x40 | byte(n&31)}
	}
	return []byte{0x80 | byte(n&31), 0xc0 | byte(n&31)}
}

// bytes returns the datagram as it is on the wire.
func (d exDatagram) bytes() []byte {
	p := Packet{Header: Header{Sequence: uint16(d.number() & 31)}, Data: exContent(d.number(), d.kind())}
	switch d.kind() {
	case exPart0:
		p.NumFragments, p.Data = 2, p.Data[:1]
	case exPart1:
		p.NumFragments, p.FragmentID, p.Data = 2, 1, p.Data[1:]
	case exOther:
		p.NumFragments, p.FragmentID, p.Data = 3, 1, p.Data[1:]
	}
	if p.FragmentID == 0 {
		p.Ack, p.AckBits = uint16(d.ack()&31), d.bits()
	}
	return check.Must(exConfig.Format.Append(nil, &p))
}

// exPart is a packet in reassembly of which one fragment is here.
type exPart struct {
	number core.Number
	kind   exKind
	ack    core.Number // of fragment 0
	bits   uint32
}

// exEnd is what an endpoint knows, without what no guard reads.
type exEnd struct {
	next           core.Number
	received, dead uint8 // bit i: next - 1 - i
	parts          [2]exPart
	numParts       uint8
	owes           bool // an ack
	oldest, toSend core.Number
	states         [exWindow]sentState // from oldest on
	taken          uint32              // bit i: the peer took toSend - 1 - i
}

type exState struct {
	ends   [2]exEnd
	flight [2]explore.Bag[exDatagram] // to each end
	forged bool
}

type exVerb uint8

const (
	exSend exVerb = iota
	exSendParts
	exSendPad
	exAck
	exArrive
	exRefuse
	exLose
	exDouble
	exOverdue
	exOld
	exExpire
	exForge
	exPoll
)

func (v exVerb) String() string {
	return [...]string{"sends", "sends fragments", "sends a pad", "acks", "gets", "refuses", "loses", "doubles", "loses patience", "forgets", "gives up", "gets forged", "polls"}[v]
}

type exMove struct {
	verb exVerb
	end  uint8 // whose move it is; of a datagram the end to which it goes
	i    uint8
}

// exScenario is what an exploration lets happen.
type exScenario struct {
	name    string
	flight  [2]int // datagrams to each end
	lag     int    // how far a sender can be ahead, at most exLag
	timers  bool   // sent numbers are lost and forgotten
	keeps   int    // an end sends only while it keeps fewer numbers; 0: no matter
	oneWay  bool   // end 1 only acks, and keeps none of its numbers
	parts   [2]bool
	sends   [2]bool
	doubles bool
	refuses bool
	pads    bool // end 0 sends packets that ask for no ack
	alone   bool // one packet in reassembly instead of two
	forged  []exForgery
	limit   int
}

// exForgery is a datagram of nobody that arrives at end 1 once, at any time: its number is
// so far from the receiver's next one.
type exForgery struct {
	ahead core.Number
	kind  exKind
	bits  uint32
}

type exWorld struct {
	exScenario
	life core.Number // how many packets a datagram outlives
	rows map[core.Row]bool
}

func (w *exWorld) Start() (st exState) {
	for i := range st.ends {
		st.ends[i] = exEnd{next: exFirst, oldest: exFirst, toSend: exFirst}
	}
	return st
}

// load makes the scratch endpoint what an end is.
func (w *exWorld) load(c *exEnd) *Endpoint {
	cfg := exConfig
	if w.alone {
		cfg.ReassemblyPackets = 1
	}
	e := check.Must(NewEndpoint(cfg))
	e.now = exTime
	e.received, e.dead = core.NewWindow(exWindow, c.next), core.NewWindow(exWindow, c.next)
	for i := range core.Number(exWindow) {
		if c.received>>i&1 == 1 {
			e.received.Add(c.next - 1 - i)
		}
		if c.dead>>i&1 == 1 {
			e.dead.Add(c.next - 1 - i)
		}
	}
	for _, p := range c.parts[:c.numParts] {
		f := check.Must(exConfig.Format.Decode(newExDatagram(p.number, p.ack, p.bits, p.kind).bytes()))
		e.parts.store(e.parts.begin(p.number, f.NumFragments, exTime), &f)
	}
	if c.owes {
		e.unreported, e.ackAt = 1, exTime+AckDelay
	}
	e.sent = sentRing{slots: make([]sentPacket, exWindow), oldest: c.oldest, next: c.toSend}
	for n := c.oldest; n < c.toSend; n++ {
		*e.sent.get(n) = sentPacket{at: exTime, state: c.states[n-c.oldest]}
	}
	e.waiting = c.oldest
	return e
}

// save makes an end what an endpoint is.
func (c *exEnd) save(e *Endpoint) {
	taken, toSend := c.taken, c.toSend
	*c = exEnd{next: e.received.Next(), owes: e.ackAt != core.Never, oldest: e.sent.oldest, toSend: e.sent.next}
	c.taken = taken << (c.toSend - toSend)
	for i := range core.Number(exWindow) {
		if e.received.Has(c.next - 1 - i) {
			c.received |= 1 << i
		}
		if e.dead.Has(c.next - 1 - i) {
			c.dead |= 1 << i
		}
	}
	for _, p := range e.parts.list {
		part := exPart{number: p.number, kind: exPart1}
		switch {
		case len(p.parts) == 3:
			part.kind = exOther
		case p.parts[0] != nil:
			part.kind, part.bits = exPart0, p.header.AckBits
			part.ack = e.space.UpTo(e.sent.next-1, p.header.Ack)
		}
		c.parts[c.numParts] = part
		c.numParts++
	}
	for n := c.oldest; n < c.toSend; n++ {
		c.states[n-c.oldest] = e.sent.get(n).state
	}
}

// Key mixes everything relative to the next number of its direction.
func (w *exWorld) Key(st *exState) (k explore.Key) {
	k.MixBits(st.forged)
	for i := range st.ends {
		c, peer := &st.ends[i], &st.ends[1-i]
		k.Mix(uint64(peer.toSend-c.next+exLifetime), uint64(c.received)<<8|uint64(c.dead), uint64(c.taken), uint64(c.toSend-c.oldest))
		k.MixBits(c.owes)
		for _, s := range c.states {
			k.Mix(uint64(s))
		}
		k.Mix(uint64(c.numParts))
		for _, p := range c.parts[:c.numParts] {
			k.Mix(uint64(peer.toSend-p.number+exLifetime), uint64(p.kind))
			if p.kind == exPart0 && (c.oldest < c.toSend || !w.oneWay) {
				k.Mix(uint64(c.toSend-p.ack), uint64(p.bits))
			}
		}
		k.Mix(uint64(st.flight[i].Len()))
		for j := range st.flight[i].Len() {
			d := st.flight[i].At(j)
			k.Mix(uint64(peer.toSend-d.number()), uint64(d.kind()))
			if c.oldest < c.toSend || !w.oneWay { // else its acks mean nothing
				k.Mix(uint64(c.toSend-d.ack()), uint64(d.bits()))
			}
		}
	}
	return k
}

func (w *exWorld) Options(st *exState, list []explore.Option[exMove]) []explore.Option[exMove] {
	can := func(verb exVerb, end, i int, fair bool) {
		list = append(list, explore.Option[exMove]{Move: exMove{verb, uint8(end), uint8(i)}, Fair: fair})
	}
	for end := range st.ends {
		c, peer := &st.ends[end], &st.ends[1-end]
		if w.sends[end] && (w.keeps == 0 || int(c.toSend-c.oldest) < w.keeps) && int(c.toSend-peer.next) <= w.lag {
			can(exSend, end, 0, false)
			if w.parts[end] {
				can(exSendParts, end, 0, false)
			}
			if w.pads {
				can(exSendPad, end, 0, false)
			}
		}
		if c.owes && w.flight[1-end] > 0 && int(c.toSend-peer.next) <= w.lag {
			can(exAck, end, 0, true)
		}
		for i := range st.flight[end].Distinct() {
			can(exArrive, end, i, true)
			can(exLose, end, i, false)
			if w.refuses {
				can(exRefuse, end, i, false)
			}
			if w.doubles && st.flight[end].Len() < w.flight[end] {
				can(exDouble, end, i, false)
			}
		}
		for n := c.oldest; n < c.toSend && w.timers; n++ {
			if c.states[n-c.oldest] == waits {
				can(exOverdue, end, 0, true)
				break
			}
		}
		if w.timers && c.oldest < c.toSend && c.states[0] != waits {
			can(exOld, end, 0, true)
		}
		for i := range int(c.numParts) {
			can(exExpire, end, i, true)
		}
		list = append(list, explore.Option[exMove]{Move: exMove{exPoll, uint8(end), 0}, Idle: true})
	}
	if !st.forged {
		for i := range w.forged {
			can(exForge, 1, i, false)
		}
	}
	return list
}

// exFault collects what is wrong with a step.
type exFault struct{ err error }

func (f *exFault) that(ok bool, format string, args ...any) {
	if !ok && f.err == nil {
		f.err = fmt.Errorf(format, args...)
	}
}

func (w *exWorld) Apply(st *exState, m exMove) error {
	var f exFault
	c, peer := &st.ends[m.end], &st.ends[1-m.end]
	switch m.verb {
	case exLose:
		st.flight[m.end].Take(int(m.i))
		return nil
	case exDouble:
		st.flight[m.end].Add(st.flight[m.end].At(int(m.i)))
		return nil
	}
	before := *c
	e := w.load(c)
	switch m.verb {
	case exSend:
		w.send(&f, st, m.end, e, exWhole)
	case exSendParts:
		w.send(&f, st, m.end, e, exPart0)
	case exSendPad:
		w.send(&f, st, m.end, e, exPad)
	case exAck:
		e.ackAt = exTime
		out, ok := e.Poll(exTime)
		f.that(ok, "no ack-only packet")
		w.goesOut(&f, st, m.end, [][]byte{out}, exPad)
	case exArrive, exRefuse:
		w.arrives(&f, c, peer, e, st.flight[m.end].Take(int(m.i)), m.verb == exRefuse, st.forged)
	case exForge:
		forgery := w.forged[m.i]
		st.forged = true
		d := newExDatagram(c.next+forgery.ahead, c.toSend-1, forgery.bits, forgery.kind)
		_ = e.Receive(exTime, d.bytes(), func(Delivery) Verdict { return Take })
	case exOverdue:
		e.findWaiting()
		e.sent.get(e.waiting).at -= LostAfter
		e.Poll(exTime)
		f.that(len(e.events) == 1 && e.events[0].Kind == EventLost, "one number is lost, not %v", e.events)
	case exOld:
		e.sent.get(e.sent.oldest).at -= Kept
		e.Poll(exTime)
		f.that(len(e.events) == 0 && e.sent.oldest == before.oldest+1, "one number is forgotten")
	case exExpire:
		e.parts.list[m.i].since -= ReassemblyTime
		e.Poll(exTime)
		f.that(len(e.parts.list) == int(before.numParts)-1 && e.dead.Has(before.parts[m.i].number), "one reassembly is dead")
	case exPoll:
		_, ok := e.Poll(exTime)
		f.that(!ok && len(e.events) == 0, "nothing is due")
	}
	if e.row != "" {
		w.rows[e.row] = true
	}
	if e.sentRow != "" {
		w.rows[e.sentRow] = true
	}
	for _, event := range e.events {
		state := waits
		if event.Number >= before.oldest && event.Number < before.toSend {
			state = before.states[event.Number-before.oldest]
		} else {
			f.that(false, "%v %d, which was not kept", event.Kind, event.Number)
		}
		if event.Kind == EventAcked {
			f.that(state != acked, "%d is acked twice", event.Number)
			f.that(st.forged || before.taken>>(before.toSend-1-event.Number)&1 == 1, "%d is acked, but was not taken (PKT-SAFE-2)", event.Number)
		} else {
			f.that(state == waits, "%d is lost in state %v", event.Number, state)
		}
	}
	c.save(e)
	if w.oneWay && m.end == 1 {
		c.oldest, c.states = c.toSend, [exWindow]sentState{}
	}
	w.lifetimes(st)
	for i := range st.ends {
		st.ends[i].forgetTaken(st.ends[1-i].next)
	}
	return f.err
}

// send lets an end send a packet.
func (w *exWorld) send(f *exFault, st *exState, end uint8, e *Endpoint, kind exKind) {
	out, n, err := e.Send(exTime, exContent(st.ends[end].toSend, kind))
	f.that(err == nil && n == st.ends[end].toSend, "number %d, %v", n, err)
	w.goesOut(f, st, end, out, kind)
}

// goesOut puts datagrams of the next packet into the network, as far as there is room. Its
// header must say what the end has received (PKA-1).
func (w *exWorld) goesOut(f *exFault, st *exState, end uint8, out [][]byte, kind exKind) {
	c := &st.ends[end]
	for i, b := range out {
		d := newExDatagram(c.toSend, c.next-1, uint32(c.received), kind+exKind(i))
		f.that(string(b) == string(d.bytes()), "the datagram is %x, not %x", b, d.bytes())
		if to := &st.flight[1-end]; to.Len() < w.flight[1-end] {
			to.Add(d)
		}
	}
}

// arrives lets a genuine datagram arrive. What must become of it follows from its unwrapped
// number and what the end knows (section 5.2).
func (w *exWorld) arrives(f *exFault, c, peer *exEnd, e *Endpoint, d exDatagram, refuse, forged bool) {
	n := d.number()
	want := c.expected(d, refuse, w.alone)
	offered := false
	_ = e.Receive(exTime, d.bytes(), func(got Delivery) Verdict {
		offered = true
		kind := d.kind()
		f.that(got.Number == n, "number %d, not %d", got.Number, n)
		f.that(forged || string(got.Payload) == string(exContent(n, kind)), "the payload of %d is %x (PKT-SAFE-1)", n, got.Payload)
		if refuse {
			return Refuse
		}
		return Take
	})
	f.that(e.row == want, "row %s, not %s, for %d, %+v", e.row, want, n, *c)
	if e.row == "P6" || e.row == "P13" {
		bit := uint32(1) << (peer.toSend - 1 - n)
		f.that(offered && (forged || peer.taken&bit == 0), "%d is taken twice (PKT-SAFE-1)", n)
		peer.taken |= bit
	}
}

// expected returns the row for a datagram, by its unwrapped number.
func (c *exEnd) expected(d exDatagram, refuse, alone bool) core.Row {
	n, whole := d.number(), d.kind() <= exPad
	var begun *exPart
	for i := range c.parts[:c.numParts] {
		if c.parts[i].number == n {
			begun = &c.parts[i]
		}
	}
	choose := func(refused, taken core.Row) core.Row {
		if refuse {
			return refused
		}
		return taken
	}
	inSet := func(set uint8) bool { return n < c.next && set>>(c.next-1-n)&1 == 1 }
	switch {
	case n < c.next-exWindow:
		return "P2"
	case inSet(c.received):
		return "P3"
	case inSet(c.dead):
		return "P4"
	case whole:
		return choose("P5", "P6")
	case n < c.next-2:
		return "P7"
	case begun != nil && begun.kind == exOther:
		return "P8"
	case begun != nil && begun.kind == d.kind():
		return "P9"
	case begun != nil:
		return choose("P12", "P13")
	case (c.numParts == 2 || alone && c.numParts == 1) && n < c.parts[0].number:
		return "P10"
	}
	return "P11"
}

// forgetTaken drops what nothing asks for any more: which numbers were taken that neither
// this end keeps nor the other's window has.
func (c *exEnd) forgetTaken(next core.Number) {
	if keep := c.toSend - min(c.oldest, next-exWindow); keep < 32 {
		c.taken &= 1<<keep - 1
	}
}

// lifetimes takes out of the network, and out of reassembly, what is too old.
func (w *exWorld) lifetimes(st *exState) {
	for end := range st.ends {
		c, peer, b := &st.ends[end], &st.ends[1-end], &st.flight[end]
		for i := b.Len() - 1; i >= 0; i-- {
			if d := b.At(i); peer.toSend-d.number() > w.life || c.oldest < c.toSend && c.toSend-d.ack() > w.life {
				b.Take(i)
			}
		}
		for i := int(c.numParts) - 1; i >= 0; i-- {
			if p := c.parts[i]; p.kind == exPart0 && c.oldest < c.toSend && c.toSend-p.ack > w.life {
				e := w.load(c)
				e.giveUp(i)
				c.save(e)
			}
		}
	}
}

// Check makes sure of what holds in every state.
func (w *exWorld) Check(st *exState) error {
	var f exFault
	for i := range st.ends {
		c, peer := &st.ends[i], &st.ends[1-i]
		f.that(c.received&c.dead == 0, "a number is received and dead")
		for _, p := range c.parts[:c.numParts] {
			f.that(p.number >= c.next-2 && p.number < c.next, "a reassembly of %d is outside its window", p.number)
			at := c.next - 1 - p.number
			f.that((c.received|c.dead)>>at&1 == 0, "a reassembly of %d, which is received or dead", p.number)
		}
		for n := max(c.next-exWindow, exFirst); n < c.next && !st.forged; n++ {
			took := peer.taken>>(peer.toSend-1-n)&1 == 1
			f.that(took == (c.received>>(c.next-1-n)&1 == 1), "received says the wrong of %d", n)
		}
		f.that(st.forged || c.next <= peer.toSend, "a number is known that was not sent")
	}
	return f.err
}

// Ended: all is quiet (PKT-LIVE-2, PKT-LIVE-5).
func (w *exWorld) Ended(st *exState) bool {
	for i := range st.ends {
		c := &st.ends[i]
		blocked := w.flight[1-i] == 0 || int(c.toSend-st.ends[1-i].next) > w.lag // too many were lost in a row
		if c.owes && !blocked || c.numParts > 0 || w.timers && c.oldest < c.toSend || st.flight[i].Len() > 0 {
			return false
		}
	}
	return true
}

func (w *exWorld) Text(before, _ *exState, m exMove) string {
	text := fmt.Sprintf("end %d %v", m.end, m.verb)
	switch m.verb {
	case exArrive, exRefuse, exLose, exDouble:
		d := before.flight[m.end].At(int(m.i))
		text += fmt.Sprintf(" %d, kind %d, ack %d, bits %04b", d.number(), d.kind(), d.ack(), d.bits())
	}
	return text
}

func (w *exWorld) Describe(st *exState) string { return fmt.Sprintf("%+v", *st) }

// exScenarios are explored in every run of the tests.
var exScenarios = []exScenario{
	{name: "sent numbers", flight: [2]int{1, 1}, sends: [2]bool{true, false}, timers: true, oneWay: true, lag: 1, limit: 200_000},
	{name: "quiet packets", flight: [2]int{1, 1}, sends: [2]bool{true, false}, pads: true, timers: true, oneWay: true, lag: 0, limit: 200_000},
	{name: "received numbers", flight: [2]int{0, 2}, sends: [2]bool{true, false}, doubles: true, oneWay: true, lag: exLag, limit: 200_000},
	{name: "fragments", flight: [2]int{0, 2}, sends: [2]bool{true, false}, parts: [2]bool{true, false}, refuses: true, oneWay: true, lag: 2, limit: 200_000},
	{name: "one in reassembly", flight: [2]int{0, 2}, sends: [2]bool{true, false}, parts: [2]bool{true, false}, alone: true, oneWay: true, lag: 2, limit: 200_000},
	{name: "forged datagrams", flight: [2]int{0, 1}, sends: [2]bool{true, false}, parts: [2]bool{true, false}, oneWay: true, lag: 2, limit: 200_000,
		forged: []exForgery{{0, exOther, 0}, {1, exOther, 0}, {7, exWhole, 15}, {-3, exWhole, 15}, {-9, exWhole, 0}, {1, exPart0, 3}}},
}

// nightlyScenarios have millions of states.
var nightlyScenarios = []exScenario{
	{name: "sent numbers", flight: [2]int{1, 1}, sends: [2]bool{true, false}, timers: true, oneWay: true, lag: 2, limit: 10_000_000},
	{name: "received numbers", flight: [2]int{0, 3}, sends: [2]bool{true, false}, doubles: true, oneWay: true, lag: exLag, limit: 10_000_000},
	{name: "fragments", flight: [2]int{0, 3}, sends: [2]bool{true, false}, parts: [2]bool{true, false}, refuses: true, oneWay: true, lag: 4, limit: 10_000_000},
}

// explored explores a scenario. It returns the rows that were taken.
func explored(t *testing.T, sc exScenario) map[core.Row]bool {
	t.Helper()
	w := &exWorld{exScenario: sc, life: exLifetime, rows: map[core.Row]bool{}}
	if w.lag < exLag {
		w.life = core.Number(w.lag + exWindow)
	}
	r := explore.Run[exState, exMove](w, explore.Limits{States: sc.limit})
	if r.Err != nil {
		t.Fatalf("%v\n%s\nafter %v", r.Err, r.Trace, r)
	}
	t.Logf("%-20s %d+%d datagrams in flight: %v", sc.name, sc.flight[0], sc.flight[1], r)
	return w.rows
}

// Every state of two endpoints is right, from each all can be settled, and every row is taken
// but those for datagrams that do not decode.
func TestExplore(t *testing.T) {
	missing := map[core.Row]bool{}
	for _, table := range [][]core.Line{EndpointTable(), SentTable()} {
		for _, line := range table {
			missing[line.Row] = line.Row != "P1"
		}
	}
	for _, sc := range exScenarios {
		t.Run(sc.name, func(t *testing.T) {
			for row := range explored(t, sc) {
				missing[row] = false
			}
		})
	}
	failed := t.Failed()
	for row, is := range missing {
		if is && !failed {
			t.Errorf("no exploration takes row %s", row)
		}
	}
}

func TestExploreNightly(t *testing.T) {
	if !*exploreNightly {
		t.Skip("needs -explore.nightly")
	}
	for _, sc := range nightlyScenarios {
		t.Run(sc.name, func(t *testing.T) { explored(t, sc) })
	}
}
