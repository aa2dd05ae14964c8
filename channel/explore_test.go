package channel

// The explorer drives a real sender and a real receiver through every state that they can
// reach together, and checks each. The engine is package conform/sim/explore:
//
//	go test ./channel -run TestExplore -v                                  # in every run
//	go test ./channel -run TestExplore -explore.ci -v                      # larger ones
//	go test ./channel -run TestExploreNightly -explore.nightly -v          # large ones
//
// Windows are 2 with sequences of 3 bits, or 4 with 4 bits, as CHN-6 demands. What can
// happen, at any time: the application sends a message or a group, with a lifetime or
// without; the sender puts what is due into a packet, all or one record, or probes; the
// receiver reports what it owes, or repeats a report while something is missing; any packet
// in flight arrives or is lost, in any order; what is sent into a full network is lost; a
// report finds any of what it names old enough to be resent; a lifetime ends; one
// message is read; and, where a scenario says so, an end gives up.
//
// Why there are finitely many states. Sequences and numbers count only by their distances.
// Of times only what is due counts, and that each timer may be due at any time adds behavior
// and leaves none out. Which named entries are old enough is a choice of the explorer's, so
// that neither the packet of a transmission nor its time is in a state. The two backoffs
// change nothing but times. Of reports only the order of their packets counts.
//
// What is assumed of the packet layer (PACKETS.md): each number is taken once, which is why
// no packet in flight is doubled; none that is RECEIVED or more behind the newest is taken; and no
// more than a few packets are lost in a row.

import (
	"flag"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/explore"
	"github.com/chunkwire/chunkwire/core"
)

var (
	exploreCI      = flag.Bool("explore.ci", false, "let TestExploreLarge visit 3.5 million states")
	exploreNightly = flag.Bool("explore.nightly", false, "let TestExploreNightly visit far more")
)

const (
	exTime  = 7200 * core.Second // it is always now
	exHour  = 3600 * core.Second
	exFirst = 1000
	exMost  = 4 // sequences in a window
	exKept  = 8 // sequences that were accepted and are not both released and read
	exSpace = 1000
	exAll   = 99 // records of a packet
)

// exMessage is a kind of message that the application sends.
type exMessage struct {
	count  uint8 // records
	mortal bool  // it has a lifetime
}

// exTruth is what is true of a sequence: what it was when it was accepted, whether its
// lifetime has ended, and whether the sender has marked it.
type exTruth struct {
	index, count         uint8
	mortal, gone, marked bool
}

// exSlot is what the receiver has of a sequence.
type exSlot struct {
	holds        content
	index, count uint8
	ready, done  bool
}

// exPacket is a packet in flight. Of the sender: its number, the lowest sequence in it, what
// it has of this and the next three, and what its STATUS says. Of the receiver: its number,
// and base, room and the missing sequences of its REPORT.
type exPacket uint64

// What a packet has of a sequence: nothing, a message, a fragment of a group of 2 or 3, or a skip.
const (
	exNothing uint8 = iota
	exWhole
	exOf2
	exOf3  = exOf2 + 2
	exSkip = exOf3 + 3
)

func newExPacket(number, low core.Number) exPacket { return exPacket(number)<<44 | exPacket(low)<<24 }

func (p exPacket) number() core.Number { return core.Number(p >> 44) }
func (p exPacket) low() core.Number    { return core.Number(p >> 24 & 0xfffff) }

// renumbered returns the packet with another number.
func (p exPacket) renumbered(n core.Number) exPacket { return p&(1<<44-1) | exPacket(n)<<44 }

func (p *exPacket) put(n core.Number, kind uint8) { *p |= exPacket(kind) << (3 * (n - p.low())) }
func (p exPacket) kind(i core.Number) uint8       { return uint8(p >> (3 * i) & 7) }

func (p *exPacket) putStatus(next core.Number) { *p |= exPacket(next-p.low()+1) << 12 }
func (p exPacket) status() (next core.Number, has bool) {
	n := p >> 12 & 15
	return p.low() + core.Number(n) - 1, n > 0
}
func newExReport(number, base core.Number, room int, missing uint8) exPacket {
	return newExPacket(number, base) | exPacket(room)<<8 | exPacket(missing)
}
func (p exPacket) room() int      { return int(p >> 8 & 15) }
func (p exPacket) missing() uint8 { return uint8(p) }

// exState is both machines, without what no guard reads, and what an observer knows.
type exState struct {
	// The sender.
	base, sent, next, limit core.Number
	number                  core.Number // of its next packet
	heard                   core.Number // 0: no report; their numbers begin at 1
	senderFailed            bool

	// What was accepted, from low to next: low is the lower of base and tail.
	low   core.Number
	truth [exKept]exTruth

	// The receiver.
	tail, lowest, top core.Number // lowest is its base
	have              [exMost]exSlot
	chain             [exMost]uint8 // what is ready, as distances to tail
	chained           uint8
	owes              bool        // a report
	newest            core.Number // that its packet layer has taken
	receiverFailed    bool

	flight [2]explore.Bag[exPacket] // to the sender, to the receiver
}

const (
	toSender   = 0
	toReceiver = 1
)

func (st *exState) at(n core.Number) *exTruth { return &st.truth[n-st.low] }

type exVerb uint8

const (
	exSend exVerb = iota
	exCompose
	exProbe
	exReport
	exArrive
	exLose
	exExpire
	exRead
	exGiveUp
	exPoke
)

func (v exVerb) String() string {
	return [...]string{"send", "compose", "probe", "report", "arrive", "lose", "expire", "read", "give up", "poke"}[v]
}

type exMove struct {
	verb exVerb
	end  uint8 // to which the packet goes; who gives up
	i    uint8 // which packet, message, or number of records
	mask uint8 // what of a report is old enough
}

// exScenario is what an exploration lets happen.
type exScenario struct {
	name     string
	kind     Kind
	bits     core.Space
	window   int
	fresh    int
	received core.Number // RECEIVED of the packet layer
	queue    int
	flight   [2]int // packets to the sender, to the receiver
	messages []exMessage
	lag      core.Number // packets that are lost in a row
	givesUp  bool
	pokes    bool
	shifts   bool // numbers are made those of the start again after each move
	plain    bool // nothing is lost, packets are full, and reports find all old: only the order is any
	any      bool // although it is plain, a report finds any part old
	limit    int
}

type exWorld struct {
	exScenario
	rows map[core.Row]bool
}

func (w *exWorld) config() Config {
	return Config{
		Kind: w.kind, SequenceBits: w.bits, Format: Format{Window: w.window, Data: 1, Group: 3}, Fresh: w.fresh, SendQueue: max(w.queue, min(3, w.window)), First: exFirst,
	}
}

func (w *exWorld) Start() exState {
	return exState{
		base: exFirst, sent: exFirst, next: exFirst, limit: exFirst + core.Number(w.window), number: exFirst,
		low: exFirst, tail: exFirst, lowest: exFirst, top: exFirst, newest: exFirst - 1,
	}
}

// loadSender returns the sender of a state. The message that ends with expires, if it is
// there, is at the end of its lifetime; what of the sent entries the mask says is old.
func (w *exWorld) loadSender(st *exState, expires core.Number, old uint8) *Sender {
	s := check.Must(NewSender(w.config()))
	s.now, s.heardAt, s.saidAt, s.backoff = exTime, exTime, exTime, 1 // else the next probe can be early
	s.base, s.sent, s.next, s.limit, s.heard, s.low = st.base, st.sent, st.next, st.limit, st.heard, st.base
	if st.senderFailed {
		s.state = Failed
		return s
	}
	s.entries.reach(s.base, s.next)
	for n := s.base; n < s.next; n++ {
		t := st.at(n)
		e := entry{data: []byte{byte(n)}, at: exTime, death: noDeath, index: t.index, count: t.count, gone: t.gone}
		if old>>(n-s.base)&1 == 1 {
			e.at -= exHour
		}
		if t.gone {
			e.data = nil
		}
		*s.entries.at(n) = e
		if t.marked {
			s.setDue(n)
		}
		if dies := exTime + exHour; t.mortal && !t.gone && t.index == t.count-1 {
			if n == expires {
				dies = exTime
			}
			s.addDeath(dies, n)
		}
	}
	return s
}

// saveSender makes a state what the sender is.
func (w *exWorld) saveSender(f *exFault, st *exState, s *Sender) {
	w.took(s.row)
	st.base, st.sent, st.next, st.limit, st.heard = s.base, s.sent, s.next, s.limit, s.heard
	st.senderFailed = s.state == Failed
	for n := s.base; n < s.next && s.state == Open; n++ {
		e, t := s.entries.at(n), st.at(n)
		t.marked = e.due
		f.that(e.gone == t.gone, "CHT-SAFE-6: %d is gone %v, should be %v", n, e.gone, t.gone)
		f.that(e.gone || len(e.data) == 1 && e.data[0] == byte(n), "CHS-6: the data of %d has changed", n)
	}
	st.settle()
}

// settle forgets what is released and read.
func (st *exState) settle() {
	for low := min(st.base, st.tail); st.low < low; st.low++ {
		copy(st.truth[:], st.truth[1:])
		st.truth[exKept-1] = exTruth{}
	}
	for n := st.low; n < st.base; n++ {
		st.at(n).marked = false
	}
}

// loadReceiver returns the receiver of a state.
func (w *exWorld) loadReceiver(st *exState) *Receiver {
	v := check.Must(NewReceiver(w.config()))
	v.now, v.progressAt, v.lastReport = exTime, exTime, exTime-exHour
	if st.owes {
		v.reportAt = exTime
	}
	v.tail, v.base, v.top = st.tail, st.lowest, st.top
	v.have = core.NewWindow(w.window, st.tail+core.Number(w.window))
	v.slots.reach(v.tail, v.tail+core.Number(w.window))
	for i := range core.Number(w.window) {
		h, n := st.have[i], st.tail+i
		if h.holds == nothing {
			continue
		}
		v.have.Add(n)
		*v.slots.at(n) = slot{holds: h.holds, index: h.index, count: h.count, ready: h.ready, done: h.done, next: core.NoNumber}
		if h.holds != skipped {
			v.slots.at(n).data = []byte{byte(n)}
		}
		if v.isPart(n) {
			v.fragments++
		}
	}
	for _, at := range st.chain[:st.chained] {
		v.push(st.tail + core.Number(at))
	}
	if st.receiverFailed {
		v.state = Failed
	}
	return v
}

// saveReceiver makes a state what the receiver is.
func (w *exWorld) saveReceiver(st *exState, v *Receiver) {
	w.took(v.row)
	st.tail, st.lowest, st.top, st.owes = v.tail, v.base, v.top, v.reportAt != core.Never
	st.receiverFailed = v.state == Failed
	st.have, st.chain, st.chained = [exMost]exSlot{}, [exMost]uint8{}, 0
	for i := range core.Number(w.window) {
		if n := st.tail + i; v.have.Has(n) {
			s := v.slots.at(n)
			st.have[i] = exSlot{s.holds, s.index, s.count, s.ready, s.done}
		}
	}
	for n := v.ready.head; n != core.NoNumber; n = v.slots.at(n).next {
		st.chain[st.chained] = uint8(n - st.tail)
		st.chained++
	}
	st.settle()
}

func (w *exWorld) took(row core.Row) {
	if row != "" {
		w.rows[row] = true
	}
}

// Key mixes everything relative to low, and numbers relative to the newest.
func (w *exWorld) Key(st *exState) (k explore.Key) {
	for _, n := range []core.Number{st.base, st.sent, st.next, st.limit, st.tail, st.lowest, st.top} {
		k.Mix(uint64(n - st.low))
	}
	k.Mix(uint64(st.number - st.newest))
	k.MixBits(st.owes, st.senderFailed, st.receiverFailed)
	for n := st.low; n < st.next; n++ {
		t := st.at(n)
		k.Mix(uint64(t.index)<<8 | uint64(t.count))
		k.MixBits(t.mortal, t.gone, t.marked)
	}
	for _, h := range st.have[:w.window] {
		k.Mix(uint64(h.holds)<<16 | uint64(h.index)<<8 | uint64(h.count))
		k.MixBits(h.ready, h.done)
	}
	k.Mix(uint64(st.chained))
	for _, at := range st.chain[:st.chained] {
		k.Mix(uint64(at))
	}
	for end := range st.flight {
		b := &st.flight[end]
		k.Mix(uint64(b.Len()))
		for i := range b.Len() {
			p := b.At(i)
			number := p.number() - st.heard
			if end == toReceiver {
				number = p.number() - st.newest
			}
			k.Mix(uint64(number), uint64(p.low()-st.low), uint64(p&(1<<24-1)))
		}
	}
	return k
}

// exFault collects what is wrong with a step.
type exFault struct{ err error }

func (f *exFault) that(ok bool, format string, args ...any) {
	if !ok && f.err == nil {
		f.err = fmt.Errorf(format, args...)
	}
}

// due reports whether the sender has something to send.
func (st *exState) due() bool {
	for n := st.base; n < min(st.sent, st.limit); n++ {
		if st.at(n).marked {
			return true
		}
	}
	return st.sent < min(st.next, st.limit)
}

// outstanding is how many packets the sender has sent since the newest that was taken.
func (st *exState) outstanding() core.Number { return st.number - st.newest - 1 }

// mayLose reports whether another packet to the receiver may be lost, of those with these
// numbers, and others are still to be sent.
func (w *exWorld) mayLose(st *exState, number core.Number, outstanding core.Number) bool {
	if outstanding < w.lag {
		return true
	}
	b := &st.flight[toReceiver]
	for i := range b.Len() {
		if n := b.At(i).number(); n > st.newest && n != number {
			return true
		}
	}
	return false
}

// rankOf is the rank of giving up in a benign run: an end does when the other one has failed.
func rankOf(failed bool) uint8 {
	if failed {
		return 1
	}
	return 0
}

func (w *exWorld) Options(st *exState, list []explore.Option[exMove]) []explore.Option[exMove] {
	can := func(m exMove, fair bool, benign uint8) {
		list = append(list, explore.Option[exMove]{Move: m, Fair: fair, Benign: benign})
	}
	if !st.senderFailed {
		list = w.sendOptions(st, list)
		if st.base < st.next && w.givesUp {
			can(exMove{verb: exGiveUp, end: toSender}, st.receiverFailed, rankOf(st.receiverFailed))
		}
	}
	missing := st.lowest < st.top
	if !st.receiverFailed {
		switch {
		case st.owes:
			can(exMove{verb: exReport}, true, 4)
		case missing:
			can(exMove{verb: exReport}, true, 6)
		}
		if missing && w.givesUp {
			can(exMove{verb: exGiveUp, end: toReceiver}, st.senderFailed, rankOf(st.senderFailed))
		}
	}
	if v := w.loadReceiver(st); v.hasReady() {
		can(exMove{verb: exRead}, true, 2)
	} else {
		list = append(list, explore.Option[exMove]{Move: exMove{verb: exRead}, Idle: true})
	}
	for i := range st.flight[toReceiver].Distinct() {
		can(exMove{verb: exArrive, end: toReceiver, i: uint8(i)}, true, 1)
		if !w.plain && w.mayLose(st, st.flight[toReceiver].At(i).number(), st.outstanding()) {
			can(exMove{verb: exLose, end: toReceiver, i: uint8(i)}, false, 0)
		}
	}
	for i := range st.flight[toSender].Distinct() {
		p := st.flight[toSender].At(i)
		can(exMove{verb: exArrive, end: toSender, i: uint8(i), mask: p.missing()}, true, 1)
		if !w.plain {
			can(exMove{verb: exLose, end: toSender, i: uint8(i)}, false, 0)
		}
		for mask := p.missing(); mask != 0 && (w.any || !w.plain); {
			if mask = (mask - 1) & p.missing(); w.window > 2 {
				mask = 0 // all or none
			}
			can(exMove{verb: exArrive, end: toSender, i: uint8(i), mask: mask}, true, 0)
		}
	}
	if w.pokes {
		for i := range exPokes {
			list = append(list, explore.Option[exMove]{Move: exMove{verb: exPoke, i: uint8(i)}, Idle: exPokes[i].idle})
		}
	}
	return list
}

// sendOptions appends what the sender and its application can do.
func (w *exWorld) sendOptions(st *exState, list []explore.Option[exMove]) []explore.Option[exMove] {
	can := func(m exMove, fair bool, benign uint8) {
		list = append(list, explore.Option[exMove]{Move: m, Fair: fair, Benign: benign})
	}
	for i, m := range w.messages {
		if int(st.next-st.base)+int(m.count) <= w.queue {
			can(exMove{verb: exSend, i: uint8(i)}, false, 0)
		}
	}
	for n := st.base; n < st.next; n++ {
		if t := st.at(n); t.mortal && !t.gone && t.index == t.count-1 {
			can(exMove{verb: exExpire, i: uint8(n - st.base)}, false, 0)
		}
	}
	full := st.flight[toReceiver].Len() >= w.flight[toReceiver]
	if st.outstanding() >= w.lag || full && !w.mayLose(st, 0, st.outstanding()+1) {
		return list
	}
	switch {
	case st.due():
		can(exMove{verb: exCompose, i: exAll}, true, 3)
		if !w.plain {
			can(exMove{verb: exCompose, i: 1}, false, 0)
		}
	case st.base < st.next:
		most := uint8(st.sent - st.base)
		can(exMove{verb: exProbe, i: most}, true, 5)
		for i := uint8(0); i < most && (i == 0 && w.any || !w.plain); i++ {
			can(exMove{verb: exProbe, i: i}, true, 0)
		}
	}
	return list
}

func (w *exWorld) Apply(st *exState, m exMove) error {
	var f exFault
	switch m.verb {
	case exSend:
		w.send(&f, st, w.messages[m.i])
	case exCompose, exProbe:
		w.compose(&f, st, m)
	case exReport:
		w.report(&f, st)
	case exArrive:
		p := st.flight[m.end].Take(int(m.i))
		if m.end == toReceiver {
			w.arrives(&f, st, p)
		} else {
			w.heard(&f, st, p, m.mask)
		}
	case exLose:
		st.flight[m.end].Take(int(m.i))
	case exExpire:
		w.expire(&f, st, st.base+core.Number(m.i))
	case exRead:
		w.read(&f, st)
	case exGiveUp:
		w.giveUp(&f, st, m.end)
	case exPoke:
		w.poke(&f, st, exPokes[m.i])
	}
	w.tidy(st)
	return f.err
}

func (w *exWorld) send(f *exFault, st *exState, m exMessage) {
	s := w.loadSender(st, 0, 0)
	message := make([]byte, m.count)
	for i := range m.count {
		st.truth[st.next-st.low+core.Number(i)] = exTruth{index: i, count: m.count, mortal: m.mortal}
		message[i] = byte(st.next) + i
	}
	lifetime := core.Micros(0)
	if m.mortal {
		lifetime = exHour
	}
	f.that(s.Send(exTime, message, lifetime) == nil, "a message is refused")
	w.saveSender(f, st, s)
}

// compose lets the sender fill a packet: with some records, or with a STATUS and what so much
// space has room for.
func (w *exWorld) compose(f *exFault, st *exState, m exMove) {
	s := w.loadSender(st, 0, 0)
	most, space := int(m.i), exSpace
	if m.verb == exProbe {
		s.saidAt -= exHour
		most, space = exAll, statusSize
		if m.i == 0 { // an early one
			s.backoff, s.resent, space = 0, s.base+1, exSpace
		}
		for n := s.base; n < s.base+core.Number(m.i); n++ {
			space += s.entries.at(n).size()
		}
	}
	p, fresh := exPacket(0), int(st.sent)
	for range most {
		r, ok := s.Poll(exTime, st.number, space)
		if !ok {
			break
		}
		w.took(s.row)
		space -= r.Size()
		n := s.unwrap(st.base, r.Sequence)
		if p == 0 {
			low := n
			if r.Type == TypeStatus && m.i > 0 {
				low = st.base
			}
			p = newExPacket(st.number, low)
		}
		w.put(f, st, &p, n, &r)
	}
	f.that(p != 0, "nothing is composed")
	f.that(int(s.sent)-fresh <= w.fresh, "CHS-13: a packet carries %d new sequences", int(s.sent)-fresh)
	st.number++
	w.saveSender(f, st, s)
	if b := &st.flight[toReceiver]; b.Len() < w.flight[toReceiver] {
		b.Add(p)
	}
}

// put puts a record into a packet, if it is true.
func (w *exWorld) put(f *exFault, st *exState, p *exPacket, n core.Number, r *Record) {
	if r.Type == TypeStatus {
		f.that(n == st.sent, "STATUS says %d, not %d", n, st.sent)
		p.putStatus(n)
		return
	}
	if n >= st.next {
		f.that(false, "CHT-SAFE-6: %v %d, which was never accepted", r.Type, n)
		return
	}
	t := *st.at(n)
	switch r.Type {
	case TypeSkip:
		for end := n + core.Number(r.Count); n < end; n++ {
			f.that(n < st.next && st.at(n).gone, "CHT-SAFE-6: %d is skipped, and its lifetime has not ended", n)
			p.put(n, exSkip)
		}
		return
	case TypeMessage:
		f.that(t.count == 1, "CHT-SAFE-6: %d is a message", n)
		p.put(n, exWhole)
	case TypeFragment:
		f.that(r.Count == int(t.count) && r.Index == int(t.index), "CHT-SAFE-6: %d is fragment %d of %d", n, r.Index, r.Count)
		p.put(n, exFragment(t.index, t.count))
	}
	f.that(!t.gone && len(r.Data) == 1 && r.Data[0] == byte(n), "CHT-SAFE-6: %d goes out with %x, gone %v", n, r.Data, t.gone)
}

func exFragment(index, count uint8) uint8 {
	if count == 2 {
		return exOf2 + index
	}
	return exOf3 + index
}

// records returns the records of a packet, and which sequences they mean.
func (w *exWorld) records(p exPacket) (records []Record, means []core.Number) {
	add := func(n core.Number, r Record) {
		r.Sequence = w.bits.Wire(n)
		records, means = append(records, r), append(means, n)
	}
	if next, has := p.status(); has {
		add(next, Record{Type: TypeStatus})
	}
	for i := range core.Number(exMost) {
		n, kind := p.low()+i, p.kind(i)
		data := []byte{byte(n)}
		switch {
		case kind == exWhole:
			add(n, Record{Type: TypeMessage, Data: data})
		case kind == exSkip && i > 0 && p.kind(i-1) == exSkip:
			records[len(records)-1].Count++
		case kind == exSkip:
			add(n, Record{Type: TypeSkip, Count: 1})
		case kind >= exOf3:
			add(n, Record{Type: TypeFragment, Index: int(kind - exOf3), Count: 3, Data: data})
		case kind >= exOf2:
			add(n, Record{Type: TypeFragment, Index: int(kind - exOf2), Count: 2, Data: data})
		}
	}
	return records, means
}

// arrives lets a packet arrive at the receiver.
func (w *exWorld) arrives(f *exFault, st *exState, p exPacket) {
	if p.number() <= st.newest-w.received {
		return // the packet layer refuses it
	}
	st.newest = max(st.newest, p.number())
	v := w.loadReceiver(st)
	records, means := w.records(p)
	for i := range records {
		took := v.nearest(records[i].Sequence)
		v.row = ""
		v.Handle(exTime, &records[i])
		w.took(v.row)
		switch v.row {
		case "V4", "V5", "V8", "V9":
			f.that(took == means[i] || v.row == "V9" && took < v.base, "CHN-6: the receiver takes %d for %d: %v, row %s", means[i], took, records[i], v.row)
		case "V3":
			f.that(took != means[i], "CHG-2: %d conflicts", took)
		}
	}
	w.saveReceiver(st, v)
}

// heard lets a report arrive at the sender, which finds what the mask says old.
func (w *exWorld) heard(f *exFault, st *exState, p exPacket, old uint8) {
	r := w.reportOf(p)
	s := w.loadSender(st, 0, old<<(p.low()-min(p.low(), st.base)))
	s.Report(exTime, p.number(), core.NoNumber, &r)
	f.that(s.row != "D5", "an honest report is implausible: %+v", r)
	f.that(s.row != "D6" || s.base == p.low(), "CHN-5: the sender takes %d for %d", p.low(), s.base)
	w.saveSender(f, st, s)
}

// reportOf returns the REPORT of a packet.
func (w *exWorld) reportOf(p exPacket) Record {
	r := Record{Type: TypeReport, Sequence: w.bits.Wire(p.low()), Room: p.room()}
	if p.missing() != 0 {
		r.Groups = []Group{exGroup(w.bits, p.low(), p.missing())}
	}
	return r
}

// exGroup returns the group that names some of the sequences from base on.
func exGroup(bits core.Space, base core.Number, missing uint8) (g Group) {
	start := core.Number(0)
	for i := range core.Number(8) {
		if missing>>i&1 == 1 {
			start = i
		}
	}
	g.Start = bits.Wire(base + start)
	for i := range start {
		if missing>>(start-1-i)&1 == 1 {
			g.Bits |= 1 << i
		}
	}
	return g
}

// report lets the receiver report. It must say what is so (CHT-SAFE-4).
func (w *exWorld) report(f *exFault, st *exState) {
	v := w.loadReceiver(st)
	r, ok := v.Poll(exTime, exSpace)
	missing := uint8(0)
	for n := st.lowest; n < st.top; n++ {
		if !v.have.Has(n) {
			missing |= 1 << (n - st.lowest)
		}
	}
	number := st.heard + 1
	for i := range st.flight[toSender].Len() {
		number = max(number, st.flight[toSender].At(i).number()+1)
	}
	p := newExReport(number, st.lowest, int(v.Limit()-v.base), missing)
	want := w.reportOf(p)
	same := r.Type == TypeReport && r.Sequence == want.Sequence && r.Room == want.Room && fmt.Sprint(r.Groups) == fmt.Sprint(want.Groups)
	f.that(ok && same, "CHV-6: the report is %+v, not %+v", r, want)
	w.saveReceiver(st, v)
	if b := &st.flight[toSender]; b.Len() < w.flight[toSender] {
		b.Add(p)
	}
}

// expire ends the lifetime of the message whose last sequence is given.
func (w *exWorld) expire(f *exFault, st *exState, last core.Number) {
	s := w.loadSender(st, last, 0)
	for n := max(st.low, last-core.Number(st.at(last).index)); n <= last; n++ {
		st.at(n).gone = true
	}
	s.Poll(exTime, st.number, 0)
	w.saveSender(f, st, s)
}

// read reads one message or skipped sequence (CHT-SAFE-1 to CHT-SAFE-3, CHT-SAFE-5).
func (w *exWorld) read(f *exFault, st *exState) {
	v := w.loadReceiver(st)
	tail := v.tail
	before := st.have
	m, ok := v.Read(exTime, nil)
	if !ok {
		w.took(v.row)
		return
	}
	n := m.Sequence
	f.that(w.kind == Unordered || n == tail, "CHT-SAFE-1: %d is read, next is %d", n, tail)
	f.that(n >= tail && n < st.sent, "CHT-SAFE-2: %d is read, which is not in the window", n)
	if f.err == nil {
		t := *st.at(n)
		f.that(!before[n-tail].done, "CHT-SAFE-2: %d is read again", n)
		if m.Skipped {
			f.that(t.gone, "CHT-SAFE-3: %d is skipped, and its lifetime has not ended", n)
		} else {
			want := ""
			for i := range t.count {
				want += string([]byte{byte(n) + i})
			}
			f.that(t.index == 0 && string(m.Data) == want, "CHT-SAFE-5: %d is read as %x, not %x", n, m.Data, want)
		}
	}
	w.saveReceiver(st, v)
}

// giveUp lets an end give up: the time for that has come.
func (w *exWorld) giveUp(f *exFault, st *exState, end uint8) {
	if end == toSender {
		s := w.loadSender(st, 0, 0)
		s.heardAt -= exHour
		_, ok := s.Poll(exTime, st.number, exSpace)
		f.that(!ok && s.Err() != nil, "the sender does not give up")
		w.saveSender(f, st, s)
		return
	}
	v := w.loadReceiver(st)
	v.progressAt -= exHour
	_, ok := v.Poll(exTime, exSpace)
	f.that(!ok && v.Err() != nil, "the receiver does not give up")
	w.saveReceiver(st, v)
}

// exPokes are what anybody can do at any time and what changes nothing, but that some draw a
// report.
var exPokes = []struct {
	name string
	idle bool
	do   func(w *exWorld, s *Sender, v *Receiver)
}{
	{"nothing is sent", true, func(_ *exWorld, s *Sender, _ *Receiver) { _ = s.Send(exTime, nil, 0) }},
	{"too much is sent", true, func(_ *exWorld, s *Sender, _ *Receiver) {
		if left := s.sendQueue - int(s.next-s.base); left < s.format.mostFragments() {
			_ = s.Send(exTime, make([]byte, left+1), 0)
		}
	}},
	{"a report of what was not sent", true, func(w *exWorld, s *Sender, _ *Receiver) {
		s.Report(exTime, s.heard+9, core.NoNumber, &Record{Type: TypeReport, Sequence: w.bits.Wire(s.sent + 1)})
	}},
	{"a poll without space", true, func(_ *exWorld, s *Sender, v *Receiver) {
		s.Poll(exTime, 0, 0)
		v.Poll(exTime, 0)
	}},
	{"a fragment of another group", true, func(w *exWorld, _ *Sender, v *Receiver) {
		for n := v.base; n < v.Limit(); n++ {
			if !v.came(n) && v.holds(n-1) == aMessage {
				v.Handle(exTime, &Record{Type: TypeFragment, Sequence: w.bits.Wire(n), Index: 1, Count: 2, Data: []byte{0}})
				return
			}
		}
	}},
	{"a message beyond", false, func(w *exWorld, _ *Sender, v *Receiver) {
		v.Handle(exTime, &Record{Type: TypeMessage, Sequence: w.bits.Wire(v.Limit()), Data: []byte{0}})
	}},
	{"a skip beyond", false, func(w *exWorld, _ *Sender, v *Receiver) {
		v.Handle(exTime, &Record{Type: TypeSkip, Sequence: w.bits.Wire(v.Limit() - 1), Count: 2})
	}},
	{"a status beyond", false, func(w *exWorld, _ *Sender, v *Receiver) {
		v.Handle(exTime, &Record{Type: TypeStatus, Sequence: w.bits.Wire(v.Limit() + 1)})
	}},
}

func (w *exWorld) poke(f *exFault, st *exState, p struct {
	name string
	idle bool
	do   func(w *exWorld, s *Sender, v *Receiver)
}) {
	s, v := w.loadSender(st, 0, 0), w.loadReceiver(st)
	p.do(w, s, v)
	w.saveSender(f, st, s)
	w.saveReceiver(st, v)
}

// tidy takes out of the network what the packet layer refuses, and numbers reports by their
// order.
func (w *exWorld) tidy(st *exState) {
	b := &st.flight[toReceiver]
	for i := b.Len() - 1; i >= 0; i-- {
		if b.At(i).number() <= st.newest-w.received {
			b.Take(i)
		}
	}
	var ordered explore.Bag[exPacket]
	last, number := st.heard, core.Number(0)
	for i := range st.flight[toSender].Len() { // ascending
		p := st.flight[toSender].At(i)
		if p.number() > last {
			last = p.number()
			number++
		}
		if number == 0 { // overtaken: nothing in it counts (D4)
			p = newExReport(0, st.base, 0, 0)
		}
		ordered.Add(p.renumbered(number))
	}
	st.flight[toSender] = ordered
	st.heard = 0
	if w.shifts {
		st.shift()
	}
}

// shift makes low and the newest number those of the start. That changes nothing that is told
// apart: states with one key become the same.
func (st *exState) shift() {
	sequences, numbers := st.low-exFirst, st.newest-(exFirst-1)
	for _, n := range []*core.Number{&st.low, &st.base, &st.sent, &st.next, &st.limit, &st.tail, &st.lowest, &st.top} {
		*n -= sequences
	}
	st.number -= numbers
	st.newest -= numbers
	for end := range st.flight {
		var shifted explore.Bag[exPacket]
		for i := range st.flight[end].Len() {
			p := st.flight[end].At(i) - exPacket(sequences)<<24
			if end == toReceiver {
				p -= exPacket(numbers) << 44
			}
			shifted.Add(p)
		}
		st.flight[end] = shifted
	}
}

// Check makes sure of what holds in every state.
func (w *exWorld) Check(st *exState) error {
	var f exFault
	f.that(st.base <= st.lowest, "CHT-SAFE-4: released is all below %d, but %d has not come", st.base, st.lowest)
	f.that(st.tail <= st.lowest && st.lowest <= st.top && st.top <= st.tail+core.Number(w.window), "CHV-8: tail %d, base %d, top %d", st.tail, st.lowest, st.top)
	f.that(st.base <= st.sent && st.sent <= st.next && st.sent <= st.limit && st.limit <= st.tail+core.Number(w.window), "CHS-7: base %d, sent %d, next %d, limit %d", st.base, st.sent, st.next, st.limit)
	f.that(st.top <= st.sent, "CHV-14: %d is known to exist, sent are those below %d", st.top-1, st.sent)
	for i, h := range st.have[:w.window] {
		n := st.tail + core.Number(i)
		if h.holds == nothing || n >= st.next {
			f.that(h.holds == nothing, "CHT-SAFE-2: %d came, which was not sent", n)
			continue
		}
		t := st.at(n)
		f.that(h.holds != skipped || t.gone, "CHT-SAFE-3: %d is skipped, and its lifetime has not ended", n)
	}
	return f.err
}

// Ended: all is read and released, or an end has failed and the other one, too, or waits for
// nothing (CHT-LIVE-1, CHT-LIVE-2).
func (w *exWorld) Ended(st *exState) bool {
	sender := st.senderFailed || st.base == st.next
	receiver := st.receiverFailed || st.lowest == st.top
	if st.senderFailed || st.receiverFailed {
		return sender && receiver
	}
	return sender && receiver && st.tail == st.next
}

func (w *exWorld) Text(before, after *exState, m exMove) string {
	text := m.verb.String()
	switch m.verb {
	case exSend:
		text += fmt.Sprintf(" %+v", w.messages[m.i])
	case exCompose, exProbe:
		text += fmt.Sprintf(" %d, packet %d", m.i, before.number)
	case exArrive, exLose:
		p := before.flight[m.end].At(int(m.i))
		if m.end == toSender {
			text += fmt.Sprintf(" report %d, base %d, room %d, missing %b, old %b", p.number(), p.low(), p.room(), p.missing(), m.mask)
			break
		}
		var said []string
		records, means := w.records(p)
		for i, r := range records {
			said = append(said, fmt.Sprintf("%v %d (%d of %d)", r.Type, means[i], r.Index, r.Count))
		}
		text += fmt.Sprintf(" packet %d: %s", p.number(), strings.Join(said, ", "))
	case exPoke:
		text += " " + exPokes[m.i].name
	}
	return fmt.Sprintf("%-60s sender %d %d %d %d, receiver %d %d %d", text, after.base, after.sent, after.next, after.limit, after.tail, after.lowest, after.top)
}

func (w *exWorld) Describe(st *exState) string { return fmt.Sprintf("%+v", *st) }

var (
	exMessages = []exMessage{{1, false}}
	exMortals  = []exMessage{{1, false}, {1, true}}
	exGroups   = []exMessage{{1, false}, {2, true}}
	exGroup2   = []exMessage{{2, true}}
	exGroup3   = []exMessage{{3, true}}
)

// narrow is a window of 2 that keeps to CHN-6 with 3 bits, if nothing else is said with
// FRESH 2 and RECEIVED 3: 2 * 2 + 2 * 2 = 8.
func narrow(sc exScenario) exScenario {
	sc.bits, sc.window, sc.lag = 3, 2, 2
	if sc.fresh == 0 {
		sc.fresh = 2
	}
	if sc.received == 0 {
		sc.received = 3
	}
	return sc
}

// wide is a window of 4 that keeps to CHN-6 with 4 bits: 2 * 4 + 2 * 4 = 16.
func wide(sc exScenario) exScenario {
	sc.bits, sc.window, sc.fresh, sc.lag = 4, 4, 4, 2
	if sc.received == 0 {
		sc.received = 3
	}
	return sc
}

// exScenarios are explored in every run of the tests.
var exScenarios = []exScenario{
	narrow(exScenario{name: "messages", queue: 2, flight: [2]int{1, 1}, messages: exMessages, limit: 200_000}),
	narrow(exScenario{name: "one new a packet", queue: 2, fresh: 1, received: 5, flight: [2]int{1, 1}, messages: exMessages, limit: 200_000}),
	narrow(exScenario{name: "reports", queue: 1, flight: [2]int{2, 1}, messages: exMessages, limit: 200_000}),
	narrow(exScenario{name: "late packets", queue: 2, flight: [2]int{1, 2}, messages: exMessages, plain: true, limit: 200_000}),
	narrow(exScenario{name: "lifetimes", queue: 1, flight: [2]int{1, 1}, messages: exMortals, limit: 200_000}),
	narrow(exScenario{name: "groups", queue: 2, flight: [2]int{1, 1}, messages: exGroup2, limit: 200_000}),
	narrow(exScenario{name: "late fragments", queue: 2, flight: [2]int{1, 2}, messages: exGroup2, plain: true, any: true, received: 2, limit: 200_000}),
	narrow(exScenario{name: "giving up", queue: 1, flight: [2]int{1, 1}, messages: exMessages, givesUp: true, pokes: true, limit: 200_000}),
}

// largeScenarios have 3.5 million states.
var largeScenarios = []exScenario{
	narrow(exScenario{name: "messages", queue: 2, flight: [2]int{1, 2}, messages: exMessages, limit: 1_000_000}),
	narrow(exScenario{name: "reports", queue: 2, flight: [2]int{2, 1}, messages: exMessages, limit: 1_000_000}),
	narrow(exScenario{name: "lifetimes", queue: 2, flight: [2]int{1, 1}, messages: exMortals, limit: 1_000_000}),
	narrow(exScenario{name: "groups", queue: 3, flight: [2]int{1, 1}, messages: exGroups, limit: 1_000_000}),
	narrow(exScenario{name: "late fragments", queue: 2, flight: [2]int{1, 2}, messages: exGroup2, limit: 1_000_000}),
	narrow(exScenario{name: "giving up", queue: 2, flight: [2]int{1, 1}, messages: exMessages, givesUp: true, pokes: true, limit: 1_000_000}),
	wide(exScenario{name: "groups of 3", queue: 3, flight: [2]int{1, 1}, messages: exGroup3, limit: 1_000_000}),
	wide(exScenario{name: "window of 4", queue: 2, flight: [2]int{1, 1}, messages: exMessages, limit: 1_000_000}),
}

// nightlyScenarios have millions of states each.
var nightlyScenarios = []exScenario{
	narrow(exScenario{name: "lifetimes", queue: 2, flight: [2]int{1, 2}, messages: exMortals, limit: 20_000_000}),
	wide(exScenario{name: "late packets", queue: 4, flight: [2]int{1, 2}, messages: exMessages, plain: true, limit: 20_000_000}),
}

// explored explores a scenario. It returns the rows that were taken.
func explored(t *testing.T, sc exScenario) (*explore.Result, map[core.Row]bool) {
	t.Helper()
	w := &exWorld{exScenario: sc, rows: map[core.Row]bool{}}
	r := explore.Run[exState, exMove](w, explore.Limits{States: sc.limit, Livelocks: true})
	if r.Err != nil {
		t.Fatalf("%v\n%s\nafter %v", r.Err, r.Trace, r)
	}
	t.Logf("%-16s %-9v window %d, %d bits, queue %d, %d+%d packets in flight: %v", sc.name, sc.kind, sc.window, sc.bits, sc.queue, sc.flight[0], sc.flight[1], r)
	return r, w.rows
}

// exploredBoth explores scenarios of both kinds, and returns all rows that were taken, and how
// many states there were.
func exploredBoth(t *testing.T, scenarios []exScenario) (rows map[core.Row]bool, states int) {
	rows = map[core.Row]bool{}
	for _, sc := range scenarios {
		for _, sc.kind = range []Kind{Ordered, Unordered} {
			t.Run(fmt.Sprint(sc.name, " ", sc.kind), func(t *testing.T) {
				r, taken := explored(t, sc)
				maps.Copy(rows, taken)
				states += r.States
			})
		}
	}
	return rows, states
}

// Every state of a sender and a receiver is right (CHT-SAFE-1 to CHT-SAFE-6), from each all
// can be settled if nothing is lost any more (CHT-LIVE-1), and every row is taken.
func TestExplore(t *testing.T) {
	rows, _ := exploredBoth(t, exScenarios)
	for _, table := range [][]core.Line{SenderTable(), ReceiverTable()} {
		for _, line := range table {
			if !rows[line.Row] && !t.Failed() {
				t.Errorf("no exploration takes row %s", line.Row)
			}
		}
	}
}

func TestExploreLarge(t *testing.T) {
	if !*exploreCI {
		t.Skip("needs -explore.ci")
	}
	if _, states := exploredBoth(t, largeScenarios); states < 3_000_000 {
		t.Errorf("%d states are fewer than 3 million", states)
	}
}

func TestExploreNightly(t *testing.T) {
	if !*exploreNightly {
		t.Skip("needs -explore.nightly")
	}
	exploredBoth(t, nightlyScenarios)
}

// The bound of CHN-6 is sharp: if the packet layer takes packets that are one number older,
// old data comes into the stream, and the explorer finds how.
func TestExploreFindsThatTheBoundIsSharp(t *testing.T) {
	foundOld(t, narrow(exScenario{queue: 2, received: 4, flight: [2]int{1, 2}, messages: exMessages, plain: true, limit: 200_000}))
}

// The same where there is nothing between the bound and the violation, 2 * 2 + 5 * 1 = 9.
func TestExploreFindsThatNoLessWillDo(t *testing.T) {
	if !*exploreCI {
		t.Skip("needs -explore.ci")
	}
	foundOld(t, narrow(exScenario{queue: 2, fresh: 1, received: 6, flight: [2]int{1, 2}, messages: exMessages, plain: true, limit: 1_000_000}))
}

// foundOld makes sure that an exploration finds old data in the stream.
func foundOld(t *testing.T, sc exScenario) {
	t.Helper()
	w := &exWorld{exScenario: sc, rows: map[core.Row]bool{}}
	r := explore.Run[exState, exMove](w, explore.Limits{States: sc.limit})
	if r.Err == nil || !strings.Contains(r.Err.Error(), "CHN-6") {
		t.Fatalf("%v after %v", r.Err, r)
	}
	t.Logf("window %d, FRESH %d, RECEIVED %d, %d bits: %v after %v", sc.window, sc.fresh, sc.received, sc.bits, r.Err, r)
}

// States with the same key are the same, in everything that is kept of the machines. A variable
// that one gets one day must be in the key, or be folded away.
func TestExploreTakesNoTwoStatesForOne(t *testing.T) {
	for _, sc := range []exScenario{
		narrow(exScenario{kind: Unordered, queue: 2, flight: [2]int{1, 1}, messages: exMessages, limit: 200_000}),
		narrow(exScenario{queue: 2, flight: [2]int{1, 1}, messages: exGroup2, limit: 200_000}),
	} {
		sc.shifts = true
		w := &exWorld{exScenario: sc, rows: map[core.Row]bool{}}
		if r := explore.RunComparing[exState, exMove](w, explore.Limits{States: sc.limit}); r.Err != nil {
			t.Fatalf("%v\n%s\nafter %v", r.Err, r.Trace, r)
		}
	}
}
