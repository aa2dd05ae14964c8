package chunkoracle

import "github.com/chunkwire/chunkwire/conform/oracle/recoveryoracle"

// Profile sets the base algorithm up (appendix G.5): in bytes, bytes a second and microseconds.
type Profile struct {
	Rate, Cap, Burst     int64
	AcksPay              bool
	Spacing, ResendDelay int64
}

// Base is the base algorithm, appendix G of the specification, sentence by sentence: a list of
// slices that is walked for every question.
type Base struct {
	p            Profile
	leftCap      int64 // in millionths of a byte, as all that follows
	left, byTime int64
	paidAt       int64
	spacedUntil  int64
	recoveryoracle.RoundTrip
	minRTT int64 // of clean samples

	list            []flying
	cursor, probe   int
	count, moved    int
	arrived, atBest int
	sentAt, newsAt  int64
	heldAt          int64
	backoff         int
	held            bool
	lost, timeouts  int64
	spurious        int64
}

// flying is what is recorded of a slice; 0 stands for no transmission.
type flying struct {
	cost            int64 // in bytes
	acked, due      bool
	first, last     int
	firstAt, lastAt int64
}

func (s *flying) resent() bool   { return s.first != s.last }
func (s *flying) inFlight() bool { return !s.acked && !s.due }

// NewBase returns a scheduler with a valid profile.
func NewBase(p Profile) *Base {
	return &Base{p: p, leftCap: p.Cap * 1e6, left: p.Cap * 1e6, RoundTrip: recoveryoracle.NewRoundTrip()}
}

// Found is what it knows of the path.
func (m *Base) Found() Found {
	return Found{m.SRTT(), m.minRTT, m.lost, m.timeouts, m.spurious}
}

// Found is what a scheduler knows of the path.
type Found struct{ SRTT, MinRTT, Lost, Timeouts, Spurious int64 }

// Begin is SCH-5. A slice costs the bytes of its datagram, with headers (BUD-2).
func (m *Base) Begin(now int64, chunk []byte) {
	m.UseBound()
	m.list = nil
	for left := int64(len(chunk)); left > SliceSize; left -= SliceSize {
		m.list = append(m.list, flying{cost: 13 + SliceSize + 28, due: true})
	}
	last := len(m.list)
	m.list = append(m.list, flying{cost: 14 + int64(len(chunk)-last*SliceSize) + 28, due: true})
	m.cursor, m.probe = 0, len(m.list)
	m.count, m.moved, m.arrived, m.atBest, m.backoff, m.held = 0, 0, 0, 0, 0, false
	m.sentAt, m.newsAt = now, now
	m.spacedUntil = max(m.spacedUntil, now)
	m.pay(now)
	m.left = max(m.left, m.p.Burst*1e6) // BUD-5
	m.byTime = 0
}

// pay is BUD-3.
func (m *Base) pay(now int64) {
	e := m.p.Rate * min(now-m.paidAt, 1_000_000_000)
	m.paidAt = now
	m.byTime = min(m.byTime+e, m.leftCap)
	m.left = min(m.left+e, m.leftCap)
}

// next returns slice k of SCH-6, or -1 if none is due.
func (m *Base) next() int {
	for k := m.cursor; k < len(m.list); k++ {
		if m.list[k].due {
			return k
		}
	}
	for k := range m.list {
		if m.list[k].due {
			return k
		}
	}
	return -1
}

// enter puts a slice into due (SPC-3).
func (m *Base) enter(now int64, k int) {
	if m.next() < 0 {
		m.spacedUntil = max(m.spacedUntil, now)
	}
	m.list[k].due = true
}

func (m *Base) unacked() (n int) {
	for _, s := range m.list {
		if !s.acked {
			n++
		}
	}
	return n
}

// timer returns when the resend timer runs out: TMR-1, TMR-5.
func (m *Base) timer() int64 {
	delay, margin := m.Delays()
	if m.p.ResendDelay != 0 {
		delay, margin = m.p.ResendDelay, 0
	}
	switch {
	case m.unacked() == 0:
		return never
	case m.held:
		return max(m.sentAt, m.heldAt) + m.holdDelay()
	case m.backoff > 0:
		delay = min(delay<<m.backoff, max(delay/8, 250_000))
	}
	return max(m.sentAt+delay, m.newsAt+margin)
}

// holdDelay is H of TMR-6.
func (m *Base) holdDelay() int64 {
	if m.p.ResendDelay != 0 {
		return m.p.ResendDelay
	}
	e := max(m.SRTT(), 2000)
	if m.IsUnknown() {
		e = 250_000
	}
	lasted := max(m.sentAt-m.heldAt, 0)
	return min(max(e, lasted/4), 250_000)
}

// Next is SCH-6.
func (m *Base) Next(now int64) (int64, bool) {
	if m.next() < 0 && now >= m.timer() {
		m.expire(now)
	}
	k := m.next()
	if k < 0 || now < m.spacedUntil { // SPC-1
		return 0, false
	}
	m.pay(now)
	if cost := m.list[k].cost * 1e6; m.p.Rate != 0 { // BUD-2
		if m.left < cost {
			return 0, false
		}
		m.left -= cost
	}
	m.send(now, k)
	return int64(k), true
}

// send is SCH-7, with SPC-2.
func (m *Base) send(now int64, k int) {
	m.count++
	s := &m.list[k]
	if s.last == 0 {
		s.first, s.firstAt = m.count, now
	}
	s.last, s.lastAt, m.sentAt = m.count, now, now
	s.due = false
	m.cursor = k + 1
	m.spacedUntil = max(m.spacedUntil, now-20_000) + m.p.Spacing
}

// expire is TMR-4.
func (m *Base) expire(now int64) {
	m.timeouts++
	m.arrived = m.atBest
	m.lose(now)
	m.backoff = min(m.backoff+1, 3)
	times := min(2<<(m.backoff-1), m.unacked())
	if m.held {
		times = 1
	}
	for range times {
		if m.probe = m.unackedBelow(m.probe); m.probe < 0 {
			m.probe = m.unackedBelow(len(m.list))
		}
		m.enter(now, m.probe)
	}
}

// unackedBelow returns the largest slice of unacked below k, or -1.
func (m *Base) unackedBelow(k int) int {
	for k--; k >= 0 && m.list[k].acked; k-- {
	}
	return k
}

// lose is GAP-2.
func (m *Base) lose(now int64) {
	for k := range m.list {
		if s := &m.list[k]; s.inFlight() && s.last+2 <= m.arrived {
			m.lost++
			m.enter(now, k)
		}
	}
}

// Deadline is SCH-9 with BUD-4.
func (m *Base) Deadline() int64 {
	k := m.next()
	if k < 0 {
		return m.timer()
	}
	covered := m.paidAt
	if short := m.list[k].cost*1e6 - m.left; m.p.Rate != 0 && short > 0 {
		covered += (short + m.p.Rate - 1) / m.p.Rate
	}
	return max(m.spacedUntil, covered)
}

// Acked is SCH-8.
func (m *Base) Acked(now int64, p Progress) {
	news := p.News
	m.newsAt, m.backoff, m.probe = now, 0, len(m.list)
	m.sample(now, news)
	var cost int64
	for _, k := range news {
		m.arrive(now, &m.list[k])
		cost += m.list[k].cost * 1e6
	}
	for _, k := range news {
		m.list[k].acked, m.list[k].due = true, false
	}
	if m.held {
		m.held = false
		for k := range m.list {
			if s := &m.list[k]; !s.acked && s.last == 0 {
				m.enter(now, k)
			}
		}
	}
	m.lose(now)
	m.pay(now)
	if m.p.AcksPay { // BUD-6
		if cost > m.byTime {
			m.left = min(m.left+cost-m.byTime, m.leftCap)
		}
		m.byTime = 0
	}
}

// arrive is GAP-1.
func (m *Base) arrive(now int64, s *flying) {
	number := s.first
	switch {
	case !s.resent() || m.canBeLatest(now, s):
		number = s.last
	case m.IsMeasured():
		m.spurious++
	}
	m.arrived, m.atBest = max(m.arrived, number), max(m.atBest, s.last)
}

func (m *Base) canBeLatest(now int64, s *flying) bool {
	return m.IsMeasured() && now-s.lastAt >= m.minRTT
}

// Held is SCH-10, with held_at of TMR-6.
func (m *Base) Held(now int64) {
	if !m.held {
		m.held, m.heldAt = true, now
	}
	for k := range m.list {
		m.list[k].due = false
	}
}

// Moved is CXL-10: the round trip is not known, and slices in flight give no sample.
func (m *Base) Moved() { m.RoundTrip, m.minRTT, m.moved = recoveryoracle.NewRoundTrip(), 0, m.count }

// sample is RTT-1 to RTT-4.
func (m *Base) sample(now int64, news []int64) {
	if s := m.latest(news, func(s *flying) bool { return !s.resent() }); s != nil {
		r := min(now-s.lastAt, recoveryoracle.LongestSample)
		if !m.IsMeasured() || r < m.minRTT {
			m.minRTT = r
		}
		m.Measure(r)
		return
	}
	if s := m.latest(news, func(s *flying) bool { return m.canBeLatest(now, s) }); s != nil {
		m.Follow(now - s.lastAt)
		return
	}
	if !m.IsMeasured() {
		if s := m.latest(news, func(*flying) bool { return true }); s != nil {
			m.FindBound(now - s.firstAt)
		}
	}
}

// latest returns the slice of some with the largest last, or nil; none that was first sent on another path.
func (m *Base) latest(news []int64, which func(*flying) bool) (found *flying) {
	for _, k := range news {
		if s := &m.list[k]; s.first > m.moved && which(s) && (found == nil || s.last > found.last) {
			found = s
		}
	}
	return found
}
