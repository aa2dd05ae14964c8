package connection

import (
	"slices"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/packet"
)

// besideSlice is how many bytes a payload has for the rest when a slice goes with it.
const besideSlice = largestPayload - largestSlice

// outgoing is the packet that is being sent.
type outgoing struct {
	payload  []byte
	quiet    bool
	messages int  // bytes of records of messages
	reports  int  // bytes of reports
	slice    bool // it has one

	datagram []byte // what Poll appends to
	sent     bool
	ect      bool // the datagram goes with ECT0
}

// begin begins an empty payload in the memory of one before.
func (o *outgoing) begin(payload []byte) {
	o.payload, o.quiet, o.messages, o.reports, o.slice = payload[:0], true, 0, 0, false
}

// bodies is what a packet has for the envelope, of which some can wait to be sealed.
type bodies struct {
	list [][]byte
	next int
}

func (b *bodies) waiting() bool { return b.next < len(b.list) }

// set makes these wait.
func (b *bodies) set(list ...[]byte) { b.list, b.next = append(b.list[:0], list...), 0 }

// take returns the next one. Nothing of it is kept.
func (b *bodies) take() (body []byte) {
	body, b.list[b.next] = b.list[b.next], nil
	b.next++
	return body
}

// reasons is why a packet is due (CXM-2).
type reasons struct {
	chunkAck, report, owed, alive bool
	slice                         bool
	messages                      bool // the tick, or what does not wait for it, and the budget allows it
}

// reasons finds out why a packet is due now. A tick begins here.
func (c *Conn) reasons() (r reasons) {
	r.report = c.reportAt() <= c.now
	r.owed = c.packets.AckDeadline() <= c.now
	r.alive = c.aliveAt() <= c.now
	if c.lanes != nil {
		c.lanes.Yield(c.now < c.messageAt+YieldTime)
		r.chunkAck = c.lanes.AckDeadline() <= c.now
		r.slice = c.lanes.SliceDeadline() <= c.now
	}
	if !c.mayTalk() {
		return r
	}
	if !c.ticking && c.now >= c.tickAt && c.mux.Pending() {
		c.ticking, c.tickAt = true, c.now+c.interval()
	}
	r.messages = c.ticking || c.mux.DataPrompt() <= c.now
	return r
}

// onlySlice reports whether a slice is the only reason for a packet.
func (r *reasons) onlySlice() bool {
	return r.slice && !(r.chunkAck || r.report || r.owed || r.alive || r.messages)
}

// messageRate returns how many bits a second messages can have (CXM-4).
func (c *Conn) messageRate() int64 {
	if c.packets.Mode() == packet.Bad {
		return c.rate / badShare
	}
	return c.rate
}

// mayTalk reports whether messages can be sent: the budget has some, and it is this connection's turn (CXA-8).
func (c *Conn) mayTalk() bool { return c.budget.some() && c.turnAt <= c.now }

// reportAt returns when a report makes a packet due (CXM-25).
func (c *Conn) reportAt() core.Micros {
	at := max(c.mux.ReportPrompt(), c.turnAt)
	if !c.reports.some() {
		at = max(at, c.reports.at(c.messageRate()/reportShare))
	}
	return at
}

// interval returns the time between two ticks (CXM-3).
func (c *Conn) interval() core.Micros {
	if c.packets.Mode() == packet.Bad {
		return max(c.tick, BadTick)
	}
	return c.tick
}

// aliveAt returns when a pad is due if nothing is sent before (CXM-2, CXC-15).
func (c *Conn) aliveAt() core.Micros {
	switch {
	case c.spokeAt == never:
		return 0
	case !c.confirmed:
		return c.spokeAt + session.LinkInterval
	}
	return c.spokeAt + c.keepAlive
}

// dataAt returns when messages make a packet due, if the budget allows it.
func (c *Conn) dataAt() core.Micros {
	at := c.mux.DataPrompt()
	switch {
	case c.ticking:
		return 0
	case c.mux.Pending():
		return min(at, c.tickAt)
	}
	return at
}

// compose makes the payload of a packet, if one is due (CXM-1). A fragment that waits is one.
func (c *Conn) compose() bool {
	if c.bodies.waiting() {
		return true
	}
	r := c.reasons()
	switch {
	case r == reasons{}:
		c.out.begin(nil)
	case r.messages && c.mux.Alone():
		c.out.begin(c.memory.payload)
		c.composeMessages(largestPayload)
		c.memory.payload = c.out.payload
	default:
		c.out.begin(c.inPlace())
		c.composeRecords(&r)
	}
	if !c.mux.Pending() {
		c.ticking = false
	}
	if len(c.out.payload) == 0 && r.alive {
		c.out.payload = append(c.out.payload, 0)
	}
	return len(c.out.payload) > 0 || c.pollPackets()
}

// inPlace returns where the payload of a packet of one datagram belongs in what Poll appends to,
// so that it need not be copied there.
func (c *Conn) inPlace() []byte {
	at := len(c.out.datagram) + session.HeadSize + c.packets.HeaderSize()
	c.out.datagram = slices.Grow(c.out.datagram, session.MaxOverhead+packet.MaxHeader+largestPayload)
	return c.out.datagram[at:at]
}

// composeRecords appends what is due and what fits, in the order of CXM-1.
func (c *Conn) composeRecords(r *reasons) {
	if r.chunkAck {
		c.composeChunkAcks()
	}
	if r.report {
		c.out.reports = -len(c.out.payload)
		c.out.payload = c.mux.ComposeReports(c.out.payload, c.now, c.room())
		c.out.reports += len(c.out.payload)
	}
	space := besideSlice
	if *r != (reasons{}) && c.clocks.due(c.now) && c.room() >= clockSize {
		c.append(&Record{Type: TypeClock, Clock: c.clocks.say(c.now)})
		space -= clockSize
	}
	switch {
	case !c.mayTalk():
	case r.onlySlice():
		c.composeMessages(space)
	case *r != reasons{}:
		c.composeMessages(c.room())
	}
	if r.slice && c.room() >= largestSlice {
		c.composeSlice()
	}
}

// room returns how many bytes the payload has room for.
func (c *Conn) room() int { return largestPayload - len(c.out.payload) }

// composeChunkAcks appends the acks of chunks that are due, and beside them the counts of
// marks (CXM-14). The header of the packet is made in the same event (CXM-24).
func (c *Conn) composeChunkAcks() {
	beside := 0
	if c.marks.tells() {
		beside = ecnSize
	}
	for c.room() >= largestAck+beside {
		k, a, ok := c.lanes.PollAck(c.now)
		if !ok {
			break
		}
		c.append(&Record{Type: TypeChunkAck, Lane: k, Ack: a})
	}
	if len(c.out.payload) > 0 && beside > 0 {
		c.append(&Record{Type: TypeECN, Marks: c.marks.here})
	}
}

// composeMessages appends what the channels have, as much as fits.
func (c *Conn) composeMessages(space int) {
	before := len(c.out.payload)
	payload, quiet := c.mux.ComposeData(c.out.payload, c.now, c.packets.Next(), space)
	c.out.payload, c.out.quiet = payload, c.out.quiet && quiet
	if c.out.messages = len(payload) - before; c.out.messages > 0 {
		c.messageAt = c.now
	}
}

// composeSlice appends a slice, if its scheduler has one.
func (c *Conn) composeSlice() {
	if k, s, ok := c.lanes.PollSlice(c.now); ok {
		c.append(&Record{Type: TypeSlice, Lane: k, Slice: s})
		if c.witnesses == nil {
			c.witnesses = new(witnesses)
		}
		if wait := c.witnesses.send(c.records, k, &s, c.packets.Next()); wait > 0 {
			c.lanes.Hold(c.now + wait)
		}
		c.out.slice, c.out.quiet = true, false
	}
}

// append appends a record that is sound.
func (c *Conn) append(r *Record) { c.out.payload, _ = c.records.Append(c.out.payload, r) }

// pollPackets lets the packet layer do what is due, and reports whether it has a packet that
// only acks.
func (c *Conn) pollPackets() bool {
	body, ok := c.packets.Poll(c.now)
	if ok {
		c.bodies.set(body)
	}
	return ok
}

// send sends the payload that was composed, or the next fragment.
func (c *Conn) send(input) {
	if !c.bodies.waiting() {
		c.number()
	}
	body := c.bodies.take()
	before := len(c.out.datagram)
	c.out.datagram = c.link.Seal(c.out.datagram, body)
	c.out.sent, c.spokeAt = true, c.now
	c.counts.DatagramsSent++
	c.counts.BytesSent += int64(len(c.out.datagram) - before)
}

// number gives the payload its number, for which it was composed (CXM-11), and pays for it.
func (c *Conn) number() {
	head := len(c.out.datagram) + session.HeadSize
	bodies, number, err := c.packets.SendIn(c.now, slices.Grow(c.out.datagram, session.HeadSize)[:head], c.out.payload, c.out.quiet)
	if err != nil {
		panic(err) // a payload of records is neither empty nor too large
	}
	c.logPacket(eventlog.PacketSent, int(number), len(c.out.payload))
	c.bodies.set(bodies...)
	if c.out.slice && c.marks.mark(c.now, number) {
		c.out.ect = true
		c.counts.ECTSent++
	}
	c.pay(bodies)
	if c.out.slice || c.out.messages > 0 {
		c.heavy()
	}
	clear(bodies) // the memory of the first is the caller's
}

// heavy notes that a packet has a slice or messages (CXM-18, CXL-18).
func (c *Conn) heavy() {
	if c.unackedAt == never {
		c.unackedAt = c.now
	}
	if c.holes.due() {
		c.packets.LeaveOut(c.now)
	}
}

// pay charges messages for what they cost (CXM-4), reports (CXM-25), and slices (CXM-5).
func (c *Conn) pay(bodies [][]byte) {
	size := 0
	for _, b := range bodies {
		size += len(b) + c.link.Overhead() + codec.HeaderBytes
	}
	headers := size - len(c.out.payload)
	switch {
	case c.out.slice:
		c.lanes.Spend(c.now, size-c.out.messages)
	case c.out.messages > 0:
		c.out.messages += headers
	case c.out.reports > 0:
		c.out.reports += headers
	}
	c.budget.spend(c.out.messages)
	c.reports.spend(c.out.reports)
	if bytes := c.out.messages + c.out.reports; bytes > 0 {
		c.turnAt = c.total.Spend(c.now, bytes)
	}
}
