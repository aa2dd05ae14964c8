package channel

import (
	"fmt"

	"github.com/chunkwire/chunkwire/core"
)

// numFragments returns how many records a message of size bytes has (CHS-10).
func (s *Sender) numFragments(size int) int { return (size + s.format.Data - 1) / s.format.Data }

// appendMessage keeps a copy of a message, as one entry or as one for each fragment (CHS-10). So
// what is resent has the same bytes (CHS-6).
func (s *Sender) appendMessage(in senderInput) {
	if s.base == s.next {
		s.heardAt, s.saidAt = s.now, s.now
	}
	count := s.numFragments(len(in.message))
	s.entries.reach(s.base, s.next+core.Number(count))
	for i := range count {
		e := s.entries.at(s.next)
		part := in.message[i*s.format.Data : min((i+1)*s.format.Data, len(in.message))]
		*e = entry{data: store(e.data, part, s.format.Data), death: noDeath, index: uint8(i), count: uint8(count)}
		s.next++
	}
	if in.lifetime > 0 && in.lifetime < core.Never-s.now {
		s.addDeath(s.now+in.lifetime, s.next-1)
	}
	s.stats.Messages++
}

// expire makes the message whose lifetime ends first gone, whole: what is kept of it
// (CHX-1, CHX-2). Nothing is sent by that (CHX-4).
func (s *Sender) expire() {
	last := s.deaths[0].last
	s.dropDeath(0)
	first := last + 1 - core.Number(s.entries.at(last).count)
	for n := max(first, s.base); n <= last; n++ {
		e := s.entries.at(n)
		e.gone, e.data = true, e.data[:0]
	}
	s.stats.Expired++
}

// lowestDue returns the lowest sequence that is due and below limit; ok is false if there is
// none. Between base and low nothing is due, and from sent on everything is, so that no call
// looks at what is not.
func (s *Sender) lowestDue() (n core.Number, ok bool) {
	n = s.sent
	if s.marked > 0 {
		for !s.entries.at(s.low).due {
			s.low++
		}
		n = s.low
	}
	return n, n < min(s.limit, s.next)
}

// fits reports whether the record of a sequence goes into the rest of the packet (CHS-1,
// CHS-13).
func (s *Sender) fits(n core.Number, space int) bool {
	return s.entries.at(n).size() <= space && (n < s.sent || s.freshInIt < s.fresh)
}

// size returns how many bytes the record of an entry has.
func (e *entry) size() int {
	switch {
	case e.gone:
		return skipSize
	case e.count > 1:
		return fragmentTop + len(e.data)
	}
	return messageTop + len(e.data)
}

// send sends the lowest sequence that is due, and with one that is gone all that follow it
// (CHS-1). What is lost goes before what is new.
func (s *Sender) send(in senderInput) {
	n, _ := s.lowestDue()
	e := s.entries.at(n)
	s.out = Record{Type: TypeMessage, Channel: s.id, Sequence: s.space.Wire(n), Data: e.data}
	switch {
	case e.gone:
		s.out = Record{Type: TypeSkip, Channel: s.id, Sequence: s.space.Wire(n)}
		for s.skippable(n) && s.out.Count < mostSkipped {
			s.transmit(n, in.number)
			s.out.Count++
			n++
		}
		s.stats.Skips++
		return
	case e.count > 1:
		s.out.Type, s.out.Index, s.out.Count = TypeFragment, int(e.index), int(e.count)
	}
	s.transmit(n, in.number)
}

// skippable reports whether a sequence can be the next of a SKIP (CHS-1, CHS-13).
func (s *Sender) skippable(n core.Number) bool {
	if n >= min(s.limit, s.next) || n >= s.sent && s.freshInIt == s.fresh {
		return false
	}
	e := s.entries.at(n)
	return e.gone && (e.due || n >= s.sent)
}

// transmit notes that a sequence is sent with a packet (CHS-1).
func (s *Sender) transmit(n, number core.Number) {
	e := s.entries.at(n)
	e.packet, e.at, s.saidAt = number, s.now, s.now
	s.stats.Sent++
	if n < s.sent {
		e.due, e.again = false, true
		s.marked--
		s.resent = max(s.resent, n+1)
		s.stats.Resent++
		return
	}
	s.sent = n + 1
	s.freshInIt++
}

// release forgets what the receiver has (CHS-2).
func (s *Sender) release(in senderInput) {
	s.heardAt, s.heard = s.now, in.number
	if in.base > s.base || len(in.report.Groups) > 0 {
		s.backoff = 0 // not for every report: the reports of a slow reader would draw early probes
	}
	for ; s.base < in.base; s.base++ {
		e := s.entries.at(s.base)
		if e.death != noDeath {
			s.dropDeath(int(e.death))
		}
		if e.due {
			s.marked--
		}
		s.stats.Released++
	}
	s.low = max(s.low, s.base)
}

// makeRoom lets limit grow (CHS-2). It never falls.
func (s *Sender) makeRoom(in senderInput) {
	if limit := in.base + core.Number(in.report.Room); limit > s.limit {
		s.limit, s.backoff = limit, 0
	}
}

// mark makes due what a report names, if the receiver could already have seen its latest
// transmission (CHS-3).
func (s *Sender) mark(in senderInput) {
	for _, g := range in.report.Groups {
		n := s.unwrap(in.base, g.Start)
		s.markNamed(n, in.ack)
		for bits := g.Bits; bits != 0; bits >>= 1 {
			n--
			if bits&1 != 0 {
				s.markNamed(n, in.ack)
			}
		}
	}
}

func (s *Sender) markNamed(n, ack core.Number) {
	if n < s.base || n >= s.sent {
		return // only in a report that was not decoded
	}
	e := s.entries.at(n)
	by, age := core.Number(Overtaken), s.now-e.at
	if e.again {
		by = 1 // less can go behind it
	}
	if age >= max(s.path.Patience, s.path.SRTT/2) && (ack-e.packet >= by || age >= s.path.hold()) {
		s.setDue(n)
	}
}

// setDue marks an entry that was sent.
func (s *Sender) setDue(n core.Number) {
	e := s.entries.at(n)
	if e.due {
		return
	}
	if e.due = true; s.marked == 0 {
		s.low = n
	}
	s.marked++
	s.low = min(s.low, n)
}

// probesEarly reports whether the next probe is early: it follows a resent entry, which
// can have nothing else behind it that shows its loss (CHS-4).
func (s *Sender) probesEarly() bool { return s.backoff == 0 && s.resent > s.base }

// probeAt returns when the sender asks for a report if nothing is due (CHS-4).
func (s *Sender) probeAt() core.Micros {
	if s.probesEarly() {
		return s.saidAt + probeSoon
	}
	wait := (s.path.hold() + probeMargin) << (max(s.backoff, 1) - 1)
	return s.saidAt + min(wait, s.path.longest())
}

// probe asks for a report (CHS-4).
func (s *Sender) probe(in senderInput) {
	s.out = Record{Type: TypeStatus, Channel: s.id, Sequence: s.space.Wire(s.sent)}
	if !s.probesEarly() {
		s.markLowest(in.space - statusSize)
	}
	s.saidAt = s.now
	s.backoff = min(s.backoff+1, backoffMost)
	s.stats.Probes++
}

// markLowest makes due the lowest entries that were sent, as many as fit the rest of the packet
// (CHS-4).
func (s *Sender) markLowest(left int) {
	run := 0
	for n := s.base; n < s.sent; n++ {
		e := s.entries.at(n)
		if e.gone && run%mostSkipped != 0 {
			run++ // in the SKIP of the one before
		} else if left -= e.size(); left < 0 {
			break
		} else if run = 0; e.gone {
			run = 1
		}
		s.setDue(n)
	}
}

// fail gives the channel up, and what it keeps (CHS-11).
func (s *Sender) fail(senderInput) {
	s.err = fmt.Errorf("channel %d: sender: %d records were not released, from %d on: %w", s.id, s.next-s.base, s.base, channelFailed.NotAt())
	s.entries, s.deaths, s.marked = ring[entry]{}, nil, 0
}
