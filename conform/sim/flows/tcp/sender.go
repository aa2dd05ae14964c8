package tcp

import (
	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/core"
)

// phase is what a sender recovers from.
type phase uint8

const (
	open    phase = iota // nothing
	fast                 // loss that blocks showed: fast recovery
	timeout              // loss that the timer found
)

// sender sends as much as its window lets it.
type sender struct {
	config  Config
	window  window
	bbr     *bbr // the window, if it is one
	board   scoreboard
	rtt     estimate
	pace    pacer
	phase   phase
	point   int64       // RecoveryPoint: the phase ends when all below it is acked
	timerAt core.Micros // the retransmission timer
	inRow   int         // how often it ran out in a row
	full    bool        // the window, and nothing else, holds a datagram back
}

func newSender(c Config) *sender {
	s := &sender{config: c, window: c.window(), timerAt: core.Never}
	s.bbr, _ = s.window.(*bbr)
	return s
}

// Handle implements flows.End: it takes an ack.
func (s *sender) Handle(now core.Micros, d flows.Datagram) bool {
	flight := s.board.pipe
	s.board.ack(d.Message.(*acks))
	got := s.board.arrived
	if got.unambiguous {
		s.rtt.sample(now - got.first)
	}
	if got.cumulatively {
		s.inRow = 0
		s.arm(now)
	}
	if s.bbr != nil {
		s.bbr.took(s.news(now), s.board.top, s.board.pipe)
	}
	recovers := s.phase == fast
	s.turn(now)
	if got.cumulatively && !recovers && s.phase != fast && s.limited(flight) {
		s.window.acked(s.news(now))
	}
	return false
}

// limited reports whether the window, and not the pacer, held the sender back; in slow
// start half a window is enough, as in Linux.
func (s *sender) limited(flight int64) bool {
	return s.full || s.window.inSlowStart() && 2*flight*one > s.window.size()
}

func (s *sender) news(now core.Micros) news {
	n := news{now: now, n: s.board.arrived.n, smoothed: s.rtt.smoothed, least: s.rtt.least, top: s.board.una, next: s.board.next}
	if s.board.arrived.unambiguous {
		n.rtt = now - s.board.arrived.last
	}
	return n
}

// turn ends a recovery and begins one (RFC 6675, 5; RFC 6582).
func (s *sender) turn(now core.Micros) {
	b := &s.board
	if s.phase != open && b.una >= s.point {
		s.phase = open
	}
	if _, lost := b.again(); lost && s.phase == open {
		s.phase, s.point = fast, b.next
		s.window.lost((b.next - b.una) * one)
		s.arm(now)
	}
}

// arm starts the retransmission timer, or stops it when nothing is missing (RFC 6298, 5).
func (s *sender) arm(now core.Micros) {
	s.timerAt = core.Never
	if s.board.una < s.board.next {
		s.timerAt = now + s.rtt.timeout(s.inRow)
	}
}

// expire is what happens when the retransmission timer runs out.
func (s *sender) expire(now core.Micros) {
	b := &s.board
	s.window.expired((b.next-b.una)*one, s.inRow > 0)
	b.loseAll()
	s.phase, s.point = timeout, b.next
	s.inRow++
	s.arm(now)
}

// Poll implements flows.End: it sends what window and pacer allow.
func (s *sender) Poll(now core.Micros) (flows.Datagram, bool) {
	if now >= s.timerAt {
		s.expire(now)
	}
	n, ok := s.chosen()
	s.full = ok && !s.room()
	if !ok || s.full || now < s.paceAt() {
		return flows.Datagram{}, false
	}
	s.board.send(now, n)
	s.pace.sent(now, s.rate())
	if s.timerAt == core.Never {
		s.arm(now)
	}
	return flows.Datagram{Size: s.config.Size, Data: true, Message: &segment{n, n}}, true
}

// chosen returns what goes next, what is lost before what is new: the first two rules of
// NextSeg of RFC 6675.
func (s *sender) chosen() (n int64, ok bool) {
	if n, ok = s.board.again(); ok {
		return n, true
	}
	return s.board.next, s.config.Total == 0 || s.board.next < s.config.Total
}

// room reports whether the window has room for a datagram.
func (s *sender) room() bool { return (s.board.pipe+1)*one <= s.window.size() }

// rate is the window a round trip: twice while it doubles, and 6/5 later, as in Linux.
func (s *sender) rate() rate {
	in := s.rtt.smoothed
	if !s.rtt.known() {
		in = paceUsual
	}
	if s.bbr != nil {
		return s.bbr.rate(in)
	}
	if s.window.inSlowStart() {
		return rate{2 * s.window.size(), in}
	}
	return rate{6 * s.window.size(), 5 * in}
}

// paceAt returns when the pacer lets the next datagram go; 0 without one.
func (s *sender) paceAt() core.Micros {
	if !s.config.Paced || !s.rtt.known() {
		return 0
	}
	return s.pace.next(s.rate())
}

// Deadline implements flows.End.
func (s *sender) Deadline() core.Micros {
	if _, ok := s.chosen(); ok && s.room() {
		return min(s.timerAt, s.paceAt())
	}
	return s.timerAt
}
