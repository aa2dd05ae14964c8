package tcp

import (
	"slices"

	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/core"
)

// Figures of quic-go's internal/ackhandler and internal/utils.
const (
	packetThreshold = 3                // packets above one that show that it is lost
	probes          = 2                // packets that a probe timeout sends
	granularity     = core.Millisecond // of timers
	longestProbe    = 60 * core.Second
	ackRanges       = 64 // of an ack, at most
	quicAckSize     = 36 // bytes of an ack without ranges: header, tag, frame
	quicRangeSize   = 3
)

// packet is one that was sent, and which is not known to have arrived or to be lost unless
// it is gone.
type packet struct {
	piece int64
	sent  core.Micros
	gone  bool
}

// quicSender sends as quic-go does. Each transmission has a number of its own, so that acks
// are never ambiguous and a transmission that is lost a second time is noticed as the first.
type quicSender struct {
	config      Config
	window      quicWindow
	pace        pacer
	rtt         quicRoundTrip
	low, next   int64    // all numbers below low are gone; next is that of the next packet
	packets     []packet // low to next - 1
	flight      int64
	top         int64       // the highest number that was acked; -1: none
	lossAt      core.Micros // when the next packet below top is lost; Never: none
	lastSent    core.Micros
	timeouts    int     // probe timeouts in a row
	probes      int     // packets that go whatever the window says
	lost        []int64 // pieces to send again
	fresh       int64   // the next new piece
	newlyAcked  []int64
	latestAcked core.Micros // when the newest packet that was acked was sent
}

func newQuicSender(c Config) *quicSender {
	return &quicSender{config: c, window: newQuicWindow(c), top: -1, lossAt: core.Never, latestAcked: -1}
}

// at returns an outstanding packet, or nil.
func (s *quicSender) at(n int64) *packet {
	if n < s.low || n >= s.next || s.packets[n-s.low].gone {
		return nil
	}
	return &s.packets[n-s.low]
}

// remove takes a packet out of what flies.
func (s *quicSender) remove(n int64) {
	s.at(n).gone = true
	s.flight--
	for s.low < s.next && s.packets[0].gone {
		s.low, s.packets = s.low+1, s.packets[1:]
	}
}

// Handle implements flows.End: ReceivedAck of sentPacketHandler.
func (s *quicSender) Handle(now core.Micros, d flows.Datagram) bool {
	a := d.Message.(*quicAcks)
	before := s.flight
	s.findAcked(a)
	if len(s.newlyAcked) == 0 {
		return false
	}
	largest := a.ranges[0].to - 1
	if p := s.at(largest); p != nil {
		s.sample(now, p.sent, a.delay)
		s.window.maybeExit(&s.rtt)
	}
	s.top = max(s.top, largest)
	for _, n := range s.newlyAcked {
		s.remove(n)
	}
	s.findLost(now)
	for _, n := range s.newlyAcked {
		s.window.acked(n, before)
	}
	s.timeouts, s.probes = 0, 0
	return false
}

// findAcked lists the outstanding packets of an ack, the lowest first.
func (s *quicSender) findAcked(a *quicAcks) {
	s.newlyAcked = s.newlyAcked[:0]
	for _, r := range a.ranges {
		for n := max(r.from, s.low); n < r.to; n++ {
			if s.at(n) != nil {
				s.newlyAcked = append(s.newlyAcked, n)
			}
		}
	}
	slices.Sort(s.newlyAcked)
}

func (s *quicSender) sample(now, sent, delay core.Micros) {
	if sent >= s.latestAcked {
		s.latestAcked = sent
		s.rtt.update(now-sent, min(delay, ackDelay))
	}
}

// findLost is detectLostPackets: three packets or 9/8 of a round trip show a loss.
func (s *quicSender) findLost(now core.Micros) {
	wait := max(max(s.rtt.latest, s.rtt.smoothed)*9/8, granularity)
	s.lossAt = core.Never
	for n := s.low; n <= s.top; n++ {
		p := s.at(n)
		switch {
		case p == nil:
		case p.sent <= now-wait || s.top-n >= packetThreshold:
			s.lose(n)
			s.window.lost(n)
		default:
			s.lossAt = min(s.lossAt, p.sent+wait)
		}
	}
}

func (s *quicSender) lose(n int64) {
	s.lost = append(s.lost, s.at(n).piece)
	s.remove(n)
}

// probeAt returns when the probe timeout is.
func (s *quicSender) probeAt() core.Micros {
	if s.flight == 0 {
		return core.Never
	}
	return s.lastSent + min(s.rtt.probe()<<min(s.timeouts, 16), longestProbe)
}

// expire is OnLossDetectionTimeout.
func (s *quicSender) expire(now core.Micros) {
	if s.lossAt != core.Never {
		if now >= s.lossAt {
			s.findLost(now)
		}
		return
	}
	if now >= s.probeAt() {
		s.timeouts++
		s.probes += probes
	}
}

// Poll implements flows.End: SendMode of sentPacketHandler. A probe is the oldest packet
// again, which costs no window.
func (s *quicSender) Poll(now core.Micros) (flows.Datagram, bool) {
	s.expire(now)
	switch {
	case s.probes > 0:
		s.probes--
		if s.flight > 0 {
			s.lose(s.low)
		}
	case !s.maySend() || now < s.pace.next(s.window.rate(&s.rtt)):
		return flows.Datagram{}, false
	}
	piece, ok := s.chosen()
	if !ok {
		return flows.Datagram{}, false
	}
	return s.send(now, piece), true
}

// maySend reports whether the window has room. The first packet waits for its ack alone, as
// the handshake does.
func (s *quicSender) maySend() bool {
	if !s.rtt.known && s.next > 0 {
		return false
	}
	return s.flight*one < s.window.cwnd && (len(s.lost) > 0 || s.more())
}

// more reports whether there is new data.
func (s *quicSender) more() bool { return s.config.Total == 0 || s.fresh < s.config.Total }

// chosen returns which piece goes, and takes it.
func (s *quicSender) chosen() (piece int64, ok bool) {
	switch {
	case len(s.lost) > 0:
		piece, s.lost = s.lost[0], s.lost[1:]
	case s.more():
		piece = s.fresh
		s.fresh++
	default:
		return 0, false
	}
	return piece, true
}

func (s *quicSender) send(now core.Micros, piece int64) flows.Datagram {
	n := s.next
	s.next++
	s.flight++
	s.packets = append(s.packets, packet{piece: piece, sent: now})
	s.lastSent = now
	s.pace.sent(now, s.window.rate(&s.rtt))
	s.window.sent(n)
	return flows.Datagram{Size: s.config.Size, Data: true, Message: &segment{n, piece}}
}

// Deadline implements flows.End.
func (s *quicSender) Deadline() core.Micros {
	at := s.lossAt
	if at == core.Never {
		at = s.probeAt()
	}
	if s.maySend() {
		at = min(at, s.pace.next(s.window.rate(&s.rtt)))
	}
	return at
}

// quicRoundTrip is utils.RTTStats.
type quicRoundTrip struct {
	known                              bool
	least, latest, smoothed, variation core.Micros
}

// update is UpdateRTT.
func (r *quicRoundTrip) update(sample, delay core.Micros) {
	sample = max(sample, 1)
	if !r.known || sample < r.least {
		r.least = sample
	}
	if sample-r.least >= delay {
		sample -= delay
	}
	r.latest = sample
	if !r.known {
		r.known, r.smoothed, r.variation = true, sample, sample/2
		return
	}
	r.variation = (3*r.variation + max(r.smoothed-sample, sample-r.smoothed)) / 4
	r.smoothed = (7*r.smoothed + sample) / 8
}

// probe is PTO.
func (r *quicRoundTrip) probe() core.Micros {
	if !r.known {
		return 2 * paceUsual
	}
	return r.smoothed + max(4*r.variation, granularity) + ackDelay
}

// quicAcks is an ack of QUIC: ranges of numbers, the highest first.
type quicAcks struct {
	ranges []span
	delay  core.Micros // for which the receiver held it back
}

// quicReceiver acks each second packet or after 25 ms, and at once the first, what comes
// late and what shows a gap that no ack has shown.
type quicReceiver struct {
	ackTimer
	got     pieces
	numbers spans
	top     int64
	topAt   core.Micros
}

func newQuicReceiver() *quicReceiver {
	return &quicReceiver{ackTimer: ackTimer{at: core.Never}, top: -1}
}

// Handle implements flows.End.
func (r *quicReceiver) Handle(now core.Micros, d flows.Datagram) bool {
	m := d.Message.(*segment)
	if r.numbers.has(m.number) {
		return false
	}
	r.numbers.add(m.number)
	r.arrived(now, r.top < 0 || m.number != r.top+1)
	if m.number > r.top {
		r.top, r.topAt = m.number, now
	}
	return r.got.add(m.piece)
}

// Poll implements flows.End.
func (r *quicReceiver) Poll(now core.Micros) (flows.Datagram, bool) {
	if !r.due(now) {
		return flows.Datagram{}, false
	}
	slices.SortFunc(r.numbers, func(a, b span) int { return int(b.from - a.from) })
	r.numbers = r.numbers[:min(ackRanges, len(r.numbers))]
	a := &quicAcks{slices.Clone(r.numbers), now - r.topAt}
	return flows.Datagram{Size: quicAckSize + quicRangeSize*len(a.ranges), Message: a}, true
}
