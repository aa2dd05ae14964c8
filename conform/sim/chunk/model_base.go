package chunk

import (
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
)

// BaseModel is the base algorithm, section 9 of the specification, sentence by
// sentence: a list of slices that is walked for every question. It is a
// statemachine.Scheduler, as base.Scheduler is, with which it shares nothing but the
// figures of a profile (SCH-11).
type BaseModel struct {
	statemachine.NoPath

	p            base.Profile
	rate         int64 // bytes a second
	leftCap      int64 // in millionths of a byte, as all that follows
	left, byTime int64
	paidAt       core.Micros
	spacedUntil  core.Micros
	rttModel

	list            []modelSlice
	cursor, probe   int
	count           int
	arrived, atBest int
	sentAt, newsAt  core.Micros
	heldAt          core.Micros
	backoff         int
	held            bool
	lost, timeouts  int64
	spurious        int64
}

// modelSlice is what is recorded of a slice; 0 stands for no transmission.
type modelSlice struct {
	cost            int64 // in bytes
	acked, due      bool
	first, last     int
	firstAt, lastAt core.Micros
}

func (s *modelSlice) resent() bool   { return s.first != s.last }
func (s *modelSlice) inFlight() bool { return !s.acked && !s.due }

// NewBaseModel returns the model of a scheduler with a valid profile.
func NewBaseModel(p base.Profile) *BaseModel {
	return &BaseModel{
		p: p, rate: p.Rate / 8, leftCap: p.Cap * 1e6, left: p.Cap * 1e6,
		rttModel: newRTTModel(),
	}
}

// Begin is SCH-5.
func (m *BaseModel) Begin(f statemachine.Flight) {
	m.useBound()
	m.list = make([]modelSlice, f.NumSlices)
	for k := range m.list {
		m.list[k] = modelSlice{cost: int64(f.Bytes + 28), due: true} // BUD-2
	}
	m.list[f.NumSlices-1].cost = int64(f.LastBytes + 28)
	m.cursor, m.probe = 0, f.NumSlices
	m.count, m.arrived, m.atBest, m.backoff, m.held = 0, 0, 0, 0, false
	m.sentAt, m.newsAt = f.Now, f.Now
	m.spacedUntil = max(m.spacedUntil, f.Now)
	m.pay(f.Now)
	m.left = max(m.left, m.p.Burst*1e6) // BUD-5
	m.byTime = 0
}

// pay is BUD-3.
func (m *BaseModel) pay(now core.Micros) {
	e := m.rate * int64(min(now-m.paidAt, 1_000_000_000))
	m.paidAt = now
	m.byTime = min(m.byTime+e, m.leftCap)
	m.left = min(m.left+e, m.leftCap)
}

// next returns slice k of SCH-6, or -1 if none is due.
func (m *BaseModel) next() int {
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
func (m *BaseModel) enter(now core.Micros, k int) {
	if m.next() < 0 {
		m.spacedUntil = max(m.spacedUntil, now)
	}
	m.list[k].due = true
}

func (m *BaseModel) unacked() (n int) {
	for _, s := range m.list {
		if !s.acked {
			n++
		}
	}
	return n
}

// timer returns when the resend timer runs out: TMR-1, TMR-5.
func (m *BaseModel) timer() core.Micros {
	delay, margin := m.baseDelay()
	if m.p.ResendDelay != 0 {
		delay, margin = m.p.ResendDelay, 0
	}
	switch {
	case m.unacked() == 0:
		return core.Never
	case m.held:
		return max(m.sentAt, m.heldAt) + m.holdDelay()
	case m.backoff > 0:
		delay = min(delay<<m.backoff, max(delay/8, 250_000))
	}
	return max(m.sentAt+delay, m.newsAt+margin)
}

// holdDelay is H of TMR-6.
func (m *BaseModel) holdDelay() core.Micros {
	if m.p.ResendDelay != 0 {
		return m.p.ResendDelay
	}
	e := max(m.srtt, 2000)
	if m.known == "nothing" {
		e = 250_000
	}
	lasted := max(m.sentAt-m.heldAt, 0)
	return min(max(e, lasted/4), 250_000)
}

// Next is SCH-6.
func (m *BaseModel) Next(now core.Micros) (int, bool) {
	if m.next() < 0 && now >= m.timer() {
		m.expire(now)
	}
	k := m.next()
	if k < 0 || now < m.spacedUntil { // SPC-1
		return 0, false
	}
	m.pay(now)
	if cost := m.list[k].cost * 1e6; m.rate != 0 { // BUD-2
		if m.left < cost {
			return 0, false
		}
		m.left -= cost
	}
	m.send(now, k)
	return k, true
}

// send is SCH-7, with SPC-2.
func (m *BaseModel) send(now core.Micros, k int) {
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
func (m *BaseModel) expire(now core.Micros) {
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
func (m *BaseModel) unackedBelow(k int) int {
	for k--; k >= 0 && m.list[k].acked; k-- {
	}
	return k
}

// lose is GAP-2.
func (m *BaseModel) lose(now core.Micros) {
	for k := range m.list {
		if s := &m.list[k]; s.inFlight() && s.last+2 <= m.arrived {
			m.lost++
			m.enter(now, k)
		}
	}
}

// Deadline is SCH-9 with BUD-4.
func (m *BaseModel) Deadline() core.Micros {
	k := m.next()
	if k < 0 {
		return m.timer()
	}
	covered := m.paidAt
	if short := m.list[k].cost*1e6 - m.left; m.rate != 0 && short > 0 {
		covered += core.Micros((short + m.rate - 1) / m.rate)
	}
	return max(m.spacedUntil, covered)
}

// Acked is SCH-8.
func (m *BaseModel) Acked(now core.Micros, p statemachine.Progress) {
	news := p.News
	m.newsAt, m.backoff, m.probe = now, 0, len(m.list)
	m.sample(now, news)
	var cost int64
	for k := range news.All() {
		m.arrive(now, &m.list[k])
		cost += m.list[k].cost * 1e6
	}
	for k := range news.All() {
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
	if m.p.AckPays { // BUD-6
		if cost > m.byTime {
			m.left = min(m.left+cost-m.byTime, m.leftCap)
		}
		m.byTime = 0
	}
}

// arrive is GAP-1.
func (m *BaseModel) arrive(now core.Micros, s *modelSlice) {
	number := s.first
	switch {
	case !s.resent() || m.canBeLatest(now, s):
		number = s.last
	case m.known == "measured":
		m.spurious++
	}
	m.arrived, m.atBest = max(m.arrived, number), max(m.atBest, s.last)
}

func (m *BaseModel) canBeLatest(now core.Micros, s *modelSlice) bool {
	return m.known == "measured" && now-s.lastAt >= m.minRTT
}

// Held is SCH-10, with held_at of TMR-6.
func (m *BaseModel) Held(now core.Micros) {
	if !m.held {
		m.held, m.heldAt = true, now
	}
	for k := range m.list {
		m.list[k].due = false
	}
}

// sample is RTT-1 to RTT-4.
func (m *BaseModel) sample(now core.Micros, news core.Set) {
	if s := m.latest(news, func(s *modelSlice) bool { return !s.resent() }); s != nil {
		m.measure(clip(now - s.lastAt))
		return
	}
	if s := m.latest(news, func(s *modelSlice) bool { return m.canBeLatest(now, s) }); s != nil {
		m.smooth(clip(now - s.lastAt))
		return
	}
	if m.known != "measured" {
		s := m.latest(news, func(*modelSlice) bool { return true })
		m.bound = min(m.bound, clip(now-s.firstAt))
	}
}

// latest returns the slice of some with the largest last, or nil.
func (m *BaseModel) latest(news core.Set, which func(*modelSlice) bool) (found *modelSlice) {
	for k := range news.All() {
		if s := &m.list[k]; which(s) && (found == nil || s.last > found.last) {
			found = s
		}
	}
	return found
}

// Stats returns what it knows of the path.
func (m *BaseModel) Stats() statemachine.ScheduleStats {
	return statemachine.ScheduleStats{SmoothedRTT: m.srtt, MinRTT: m.minRTT, Lost: m.lost, Timeouts: m.timeouts, Spurious: m.spurious}
}
