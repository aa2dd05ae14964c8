package packet

import (
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/table"
)

// Endpoint is one end of a connection: it numbers and sends packets, takes the packets of the
// peer, and reports which of its own arrived. It does nothing between calls (PKI-1).
type Endpoint struct {
	state endpointState
	row   core.Row
	now   core.Micros // the latest that was given, in microseconds (PKN-2, PKN-3)

	// What does not change.
	format            Format
	space             core.Space
	fragmentAbove     int
	sentMax           int
	reassemblyWindow  core.Number
	reassemblyPackets int
	reassemblyBytes   int

	// Receiving (PKR-6). All windows move together.
	received core.Window
	dead     core.Window // given up in reassembly; the zero value if none was
	parts    reassembly
	arrival  arrival // the datagram that is being received

	// Acks that are owed (section 6).
	unreported int
	ackAt      core.Micros

	// Sending (section 7).
	sent        sentRing
	sentRow     core.Row
	waiting     core.Number // no number before it waits for an ack
	newestAcked core.Number // PKL-7
	told        acksOf      // by the header that was taken last
	sound       acksOf      // by the header that was looked at last, and acks nothing unsent
	newestLost  core.Number
	events      []Event
	out         []byte // empty; behind it the datagram that was sent last; lent
	datagrams   [][]byte

	// Estimates (section 8) and the mode (section 9).
	trip       roundTrip
	history    history
	seconds    seconds
	congestion Congestion
	pathFrom   core.Number // the first that was sent on this path

	stats Stats
}

// NewEndpoint returns an endpoint that has sent and received nothing (PKE-8). It fails with
// core.ErrConfig.
func NewEndpoint(cfg Config) (*Endpoint, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	return &Endpoint{
		format: cfg.Format, space: cfg.SequenceBits, fragmentAbove: cfg.FragmentAbove, sentMax: cfg.SentMax,
		reassemblyWindow: core.Number(cfg.Reassembly), reassemblyPackets: cfg.ReassemblyPackets, reassemblyBytes: cfg.ReassemblyBytes,
		received: core.NewWindow(cfg.Received, cfg.NextToReceive),
		ackAt:    core.Never,
		sent:     sentRing{oldest: cfg.NextToSend, next: cfg.NextToSend},
		waiting:  cfg.NextToSend, newestAcked: core.NoNumber, newestLost: core.NoNumber, sound: acksOf{next: core.NoNumber},
		congestion: NewCongestion(cfg.Profile),
	}, nil
}

// endpointState is the only state: an endpoint takes all events until it is dropped.
type endpointState uint8

const open endpointState = 0

func (endpointState) String() string { return "OPEN" }

// The guards of section 5 (PKR-9). Of a datagram the first that holds counts.
var (
	endpointGuards table.Guards

	notDecodable     = endpointGuards.Add("datagram", "not decodable")
	isStale          = endpointGuards.Add("datagram", "stale")
	isReceived       = endpointGuards.Add("datagram", "received")
	isDead           = endpointGuards.Add("datagram", "dead")
	regularIsRefused = endpointGuards.Add("regular", "refused")
	regularIsTaken   = endpointGuards.Add("regular", "taken")
	isBehind         = endpointGuards.Add("fragment", "behind")
	otherCount       = endpointGuards.Add("fragment", "another count")
	hereAlready      = endpointGuards.Add("fragment", "here already")
	noRoom           = endpointGuards.Add("fragment", "no room")
	othersMissing    = endpointGuards.Add("fragment", "others are missing")
	completesRefused = endpointGuards.Add("fragment", "completes, refused")
	completesTaken   = endpointGuards.Add("fragment", "completes, taken")
)

// The actions of section 5 (PKR-1, PKR-2, PKR-10).
type endpointAction = table.Action[Endpoint, *arrival]

var (
	count = endpointAction{Name: "COUNT", Do: (*Endpoint).count}
	drop  = endpointAction{Name: "DROP", Do: func(e *Endpoint, a *arrival) { e.parts.end(a.number) }}
	store = endpointAction{Name: "STORE", Do: (*Endpoint).store}
	take  = endpointAction{Name: "TAKE", Do: (*Endpoint).take}
)

type endpointTransition = table.Transition[endpointState, uint8, Endpoint, *arrival]

func endpointRow(row core.Row, guard uint8, does ...endpointAction) endpointTransition {
	return endpointTransition{Row: row, From: open, If: guard, To: open, Do: does}
}

// endpointTable is what becomes of a datagram: every transition that there is (section 5).
var endpointTable = table.New(1, endpointGuards, []endpointTransition{
	endpointRow("P1", notDecodable, count),
	endpointRow("P2", isStale, count),
	endpointRow("P3", isReceived, count),
	endpointRow("P4", isDead, count),
	endpointRow("P5", regularIsRefused, count),
	endpointRow("P6", regularIsTaken, drop, take),
	endpointRow("P7", isBehind, count),
	endpointRow("P8", otherCount, count),
	endpointRow("P9", hereAlready, count),
	endpointRow("P10", noRoom, count),
	endpointRow("P11", othersMissing, store),
	endpointRow("P12", completesRefused, drop, count),
	endpointRow("P13", completesTaken, drop, take),
})

// EndpointTable returns the rows of the table.
func EndpointTable() []core.Line { return endpointTable.Lines() }

// arrival is a datagram that arrived, and its result so far.
type arrival struct {
	Packet              // what it holds
	size    int         // of the datagram
	number  core.Number // of its packet
	partial *partial    // the reassembly of its packet, if there is one
	quiet   bool        // its payload asks for no ack
	sampled bool        // its header gave a sample
	err     *Error      // why it is refused
}

// Verdict is what the layer above says of a payload.
type Verdict uint8

const (
	// Take takes it; it asks for an ack.
	Take Verdict = iota
	// TakeQuietly takes it; nothing in it asks for an ack.
	TakeQuietly
	// Refuse refuses it. The packet counts as not received.
	Refuse
)

// Delivery is a payload for the layer above.
type Delivery struct {
	Number core.Number // of the peer's packet
	// Ack is the newest of our packets that the peer knew of when it sent this one; None
	// if it knew none.
	Ack     core.Number
	AckBits uint32 // of its header: bit n is for Ack - n (PKT-1)
	Behind  int    // how many numbers above Number are known; below 0 if it is the newest
	// Unsent says that the header acks a number that no packet had, or that its ack means one:
	// one below 0, or one that was left out (PKS-4). An honest peer's does not.
	Unsent  bool
	Payload []byte // lent until the call returns
}

// refuse notes why a datagram is refused, and returns the guard.
func (a *arrival) refuse(guard uint8, err *Error) uint8 {
	a.err = err
	return guard
}

// Receive takes a datagram that arrived at now (section 5). If it completes a payload,
// above is called with it, and says what becomes of it; above must not call the endpoint.
// Receive fails with why the datagram was refused; it then has changed only
// counters, and dropped the fragments of a payload that above refused (PKR-4). Nothing in
// a datagram ends more than that (PKR-5).
func (e *Endpoint) Receive(now core.Micros, datagram []byte, above func(Delivery) Verdict) error {
	e.advance(now)
	e.stats.DatagramsReceived++
	a := &e.arrival
	a.size = len(datagram)
	endpointTable.Step(e, &e.state, &e.row, e.guard(a, datagram, above), a)
	if a.sampled {
		e.evaluate()
	}
	err := a.err
	*a = arrival{} // the datagram is the caller's
	if err != nil {
		return err
	}
	return nil
}

// guard returns the first guard that holds for a datagram (PKR-8).
func (e *Endpoint) guard(a *arrival, datagram []byte, above func(Delivery) Verdict) uint8 {
	if a.err = e.format.decode(datagram, &a.Packet); a.err != nil {
		return notDecodable
	}
	var fresh bool
	a.number, fresh = e.space.From(e.received.Low(), a.Sequence)
	switch {
	case !fresh:
		return a.refuse(isStale, numberStale.NotAt())
	case e.received.Has(a.number):
		return a.refuse(isReceived, numberReceived.NotAt())
	case e.dead.Has(a.number):
		return a.refuse(isDead, numberDead.NotAt())
	case a.NumFragments > 0:
		return e.fragmentGuard(a, above)
	case e.offer(a, a.Data, above) == Refuse:
		return a.refuse(regularIsRefused, regularRefused.NotAt())
	}
	return regularIsTaken
}

// fragmentGuard returns the first guard that holds for a fragment.
func (e *Endpoint) fragmentGuard(a *arrival, above func(Delivery) Verdict) uint8 {
	if a.number < e.received.Next()-e.reassemblyWindow {
		return a.refuse(isBehind, fragmentStale.NotAt())
	}
	p := e.parts.find(a.number)
	a.partial = p
	switch {
	case p != nil && len(p.parts) != a.NumFragments:
		return a.refuse(otherCount, fragmentOtherCount.NotAt())
	case p != nil && p.parts[a.FragmentID] != nil:
		return a.refuse(hereAlready, fragmentTwice.NotAt())
	case p != nil && p.here+1 == a.NumFragments:
		return e.completeGuard(a, above)
	case !e.parts.fits(a.number, len(a.Data), e.reassemblyPackets, e.reassemblyBytes):
		return a.refuse(noRoom, reassemblyNoRoom.NotAt())
	}
	return othersMissing
}

// completeGuard puts a payload together and offers it.
func (e *Endpoint) completeGuard(a *arrival, above func(Delivery) Verdict) uint8 {
	if a.FragmentID != 0 {
		a.Header = a.partial.header
	}
	if e.offer(a, a.partial.payload(&a.Packet), above) == Refuse {
		return a.refuse(completesRefused, assembledRefused.NotAt())
	}
	return completesTaken
}

// isPad reports whether a payload is the one that says nothing (PKA-3, PKR-7).
func isPad(payload []byte) bool { return len(payload) == 1 && payload[0] == 0 }

// offer asks the layer above for its verdict.
func (e *Endpoint) offer(a *arrival, payload []byte, above func(Delivery) Verdict) Verdict {
	ack := e.space.UpTo(e.sent.next-1, a.Ack)
	verdict := above(Delivery{
		Number: a.number, Ack: max(ack, core.NoNumber), AckBits: a.AckBits, Behind: int(e.received.Next() - 1 - a.number),
		Unsent: e.unsent(&a.Header, ack), Payload: payload,
	})
	a.quiet = verdict == TakeQuietly || isPad(payload)
	return verdict
}

// count counts a refusal by its code.
func (e *Endpoint) count(a *arrival) { e.stats.refused.add(a.err.Code()) }

// take makes the packet one that was received (PKR-1).
func (e *Endpoint) take(a *arrival) {
	e.moveTo(a.number + 1)
	e.received.Add(a.number)
	e.stats.Received++
	e.seconds.add(e.now, receivedBytes, uint32(a.size))
	e.acks(&a.Header)
	if a.quiet {
		return
	}
	e.unreported++
	e.ackAt = min(e.ackAt, e.now+AckDelay)
	if e.unreported >= AckEvery {
		e.ackAt = e.now
	}
}

// store keeps a fragment until the others come (PKR-2, PKX-1, PKX-3).
func (e *Endpoint) store(a *arrival) {
	for e.parts.full(a.partial == nil, len(a.Data), e.reassemblyPackets, e.reassemblyBytes) {
		e.giveUp(0)
	}
	if a.partial == nil {
		a.partial = e.parts.begin(a.number, a.NumFragments, e.now)
	}
	e.moveTo(a.number + 1)
	e.parts.store(a.partial, &a.Packet)
	e.stats.Fragments++
	e.seconds.add(e.now, receivedBytes, uint32(a.size))
}

// moveTo lets next grow; what leaves a window ends (PKR-3). The window of dead moves when a
// number enters it: no older ones are asked for.
func (e *Endpoint) moveTo(next core.Number) {
	e.received.Move(next)
	for len(e.parts.list) > 0 && e.parts.list[0].number < next-e.reassemblyWindow {
		e.parts.remove(0)
		e.stats.Abandoned++
	}
}

// giveUp ends a reassembly so that it does not begin anew.
func (e *Endpoint) giveUp(i int) {
	number := e.parts.list[i].number
	if e.dead.Next() == 0 {
		e.dead = core.NewWindow(int(e.received.Next()-e.received.Low()), max(1, number))
	}
	e.dead.Add(number)
	e.parts.remove(i)
	e.stats.Abandoned++
}

// expireParts gives up what is incomplete for too long (PKX-2).
func (e *Endpoint) expireParts() {
	for i := len(e.parts.list) - 1; i >= 0; i-- {
		if e.now >= e.parts.list[i].since+ReassemblyTime {
			e.giveUp(i)
		}
	}
}

// advance begins an event at now. A time before the latest one counts as that one
// (PKN-3, PKI-2).
func (e *Endpoint) advance(now core.Micros) {
	e.now = max(e.now, now)
	e.expireParts()
}
