package statemachine

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/codec"
)

// model is section 9 of the specification once more, slow and word by word: a
// list of slices that is walked for every question, sums that start from the
// beginning. Base must do exactly what it does.
type model struct {
	p Profile

	srtt, rttvar, minRTT Micros
	bound                Micros
	known                string // "nothing", "bound", "measured"
	left, byTime         int64
	paidAt               Micros
	spacedUntil          Micros

	list            []modelSlice
	cursor          int
	probe           int
	count, arrived  int
	atBest          int
	sentAt, newsAt  Micros
	backoff         int
	held            bool
	lost, spur, out int64
}

type modelSlice struct {
	cost            int64
	acked, due      bool
	first, last     int
	firstAt, lastAt Micros
}

func newModel(p Profile) *model {
	return &model{p: p, known: "nothing", bound: Never, left: p.Cap * 1e6}
}

// begin: SCH-5.
func (m *model) begin(now Micros, n, lastBytes int) {
	m.list = make([]modelSlice, n)
	for k := range m.list {
		m.list[k] = modelSlice{cost: 13 + 1024 + 28, due: true}
	}
	m.list[n-1].cost = int64(14 + lastBytes + 28)
	if m.known != "measured" && m.bound != Never {
		m.srtt, m.rttvar, m.known = m.bound, m.bound/16, "bound"
	}
	m.held, m.sentAt = false, now
	m.cursor, m.count, m.arrived, m.atBest, m.backoff, m.newsAt = 0, 0, 0, 0, 0, now
	m.probe = n
	m.spacedUntil = max(m.spacedUntil, now)
	m.pay(now)
	m.left = max(m.left, m.p.Burst*1e6)
	m.byTime = 0
}

// pay: BUD-3.
func (m *model) pay(now Micros) {
	e := m.p.Rate * int64(min(now-m.paidAt, 1e9))
	m.paidAt = now
	m.byTime = min(m.byTime+e, m.p.Cap*1e6)
	m.left = min(m.left+e, m.p.Cap*1e6)
}

func (m *model) nextDue() int {
	for i := range m.list {
		if k := (m.cursor + i) % len(m.list); m.list[k].due && m.cursor+i < len(m.list) {
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

// enter: SPC-3.
func (m *model) enter(now Micros, k int) {
	if m.nextDue() < 0 {
		m.spacedUntil = max(m.spacedUntil, now)
	}
	m.list[k].due = true
}

func (m *model) missing() (n int) {
	for _, s := range m.list {
		if !s.acked {
			n++
		}
	}
	return n
}

// timer: TMR-1, TMR-2, TMR-3, TMR-5.
func (m *model) timer() Micros {
	if m.missing() == 0 {
		return Never
	}
	margin := max(5*ms, m.srtt/8, 4*m.rttvar)
	delay := min(m.srtt+margin, 3*Second)
	margin = min(margin, delay)
	if m.known == "nothing" {
		delay, margin = 250*ms, 0
	}
	if m.p.ResendDelay != 0 {
		delay, margin = m.p.ResendDelay, 0
	}
	wait := delay
	for range m.backoff {
		wait *= 2
	}
	if m.backoff > 0 {
		wait = min(wait, max(delay/8, 250*ms))
	}
	return max(m.sentAt+wait, m.newsAt+margin)
}

// next: SCH-6, SCH-7, TMR-4, SPC-1, SPC-2.
func (m *model) next(now Micros) (int, bool) {
	if m.nextDue() < 0 && now >= m.timer() {
		m.out++
		m.arrived = m.atBest
		m.lose(now)
		m.backoff = min(m.backoff+1, 3)
		probes := min([]int{0, 2, 4, 8}[m.backoff], m.missing())
		if m.held {
			probes = 1
		}
		for range probes {
			for m.probe = m.below(m.probe); m.list[m.probe].acked; m.probe = m.below(m.probe) {
			}
			m.enter(now, m.probe)
		}
	}
	k := m.nextDue()
	if k < 0 || now < m.spacedUntil {
		return 0, false
	}
	m.pay(now)
	s := &m.list[k]
	if m.p.Rate != 0 {
		if m.left < s.cost*1e6 {
			return 0, false
		}
		m.left -= s.cost * 1e6
	}
	m.count++
	if s.first == 0 {
		s.first, s.firstAt = m.count, now
	}
	s.last, s.lastAt, m.sentAt = m.count, now, now
	s.due = false
	m.cursor = k + 1
	m.spacedUntil = max(m.spacedUntil, now-20*ms) + m.p.Spacing
	return k, true
}

// deadline: SCH-9, BUD-4.
func (m *model) deadline() Micros {
	k := m.nextDue()
	if k < 0 {
		return m.timer()
	}
	covered := m.paidAt
	if short := m.list[k].cost*1e6 - m.left; m.p.Rate != 0 && short > 0 {
		covered += Micros((short + m.p.Rate - 1) / m.p.Rate)
	}
	return max(m.spacedUntil, covered)
}

// acked: SCH-8, RTT-1 to RTT-5, GAP-1, GAP-2, BUD-6.
func (m *model) acked(now Micros, news []int) {
	m.newsAt, m.backoff, m.probe = now, 0, len(m.list)
	m.sample(now, news)
	var cost int64
	for _, k := range news {
		s := &m.list[k]
		number := s.last
		if s.first != s.last && !m.canBeLatest(now, s) {
			number = s.first
			if m.known == "measured" {
				m.spur++
			}
		}
		m.arrived, m.atBest = max(m.arrived, number), max(m.atBest, s.last)
		cost += s.cost
	}
	for _, k := range news {
		m.list[k].acked, m.list[k].due = true, false
	}
	for k := range m.list {
		if s := &m.list[k]; m.held && !s.acked && s.last == 0 {
			m.enter(now, k)
		}
	}
	m.held = false
	m.lose(now)
	m.pay(now)
	if m.p.AckPays {
		m.left = min(m.left+max(0, cost*1e6-m.byTime), m.p.Cap*1e6)
		m.byTime = 0
	}
}

// hold: SCH-10.
func (m *model) hold() {
	m.held = true
	for k := range m.list {
		m.list[k].due = false
	}
}

// lose: GAP-2.
func (m *model) lose(now Micros) {
	for k := range m.list {
		if s := &m.list[k]; !s.acked && !s.due && s.last+2 <= m.arrived {
			m.lost++
			m.enter(now, k)
		}
	}
}

// below goes down one slice, in a circle.
func (m *model) below(k int) int { return (k - 1 + len(m.list)) % len(m.list) }

func (m *model) canBeLatest(now Micros, s *modelSlice) bool {
	return m.known == "measured" && now-s.lastAt >= m.minRTT
}

func (m *model) sample(now Micros, news []int) {
	latest := func(which func(*modelSlice) bool) (found *modelSlice) {
		for _, k := range news {
			if s := &m.list[k]; which(s) && (found == nil || s.last > found.last) {
				found = s
			}
		}
		return found
	}
	if s := latest(func(s *modelSlice) bool { return s.first == s.last }); s != nil {
		r := now - s.lastAt
		if m.known != "measured" {
			m.srtt, m.rttvar, m.minRTT, m.known = r, r/8, r, "measured"
			return
		}
		m.minRTT = min(m.minRTT, r)
		m.smooth(r)
		return
	}
	if s := latest(func(s *modelSlice) bool { return m.canBeLatest(now, s) }); s != nil {
		m.smooth(now - s.lastAt)
		return
	}
	s := latest(func(*modelSlice) bool { return true })
	if m.known != "measured" {
		m.bound = min(m.bound, now-s.firstAt)
	}
}

func (m *model) smooth(r Micros) {
	d := min(r, m.srtt*3/2+Millisecond) - m.srtt
	if d >= 0 {
		m.rttvar += (d - m.rttvar) / 4
		m.srtt += d / 8
	} else {
		m.rttvar += (min(-d, m.rttvar) - m.rttvar) / 4
		m.srtt += d / 4
	}
}

func (m *model) stats() ScheduleStats {
	return ScheduleStats{SmoothedRTT: m.srtt, MinRTT: m.minRTT, Lost: m.lost, Timeouts: m.out, Spurious: m.spur}
}

func TestBaseDoesWhatItsModelDoes(t *testing.T) {
	profiles := []Profile{Burst(), Fixed(0), Fixed(60_000), Fixed(2_000_000), Article(300_000),
		{Rate: 50_000, Cap: 9000, Burst: 5000, AckPays: true, Spacing: 700}}
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom(profiles).Draw(t, "profile").withinLimits()
		base, m := NewBase(p), newModel(p)
		now := Micros(rapid.Int64Range(0, 1000).Draw(t, "start"))
		rtt := Micros(rapid.SampledFrom([]int64{30, 2000, 50_000, 600_000}).Draw(t, "round trip"))
		for chunk := range 3 {
			n := rapid.IntRange(1, 40).Draw(t, "slices")
			lastBytes := rapid.SampledFrom([]int{1, 500, codec.SliceSize}).Draw(t, "last")
			base.Begin(Flight{Now: now, ChunkID: uint16(chunk), NumSlices: n, LastBytes: lastBytes})
			m.begin(now, n, lastBytes)
			for range rapid.IntRange(1, 60).Draw(t, "steps") {
				now = compareStep(t, base, m, now, rtt)
			}
		}
	})
}

// compareStep lets time go by, gives both an ack or asks both for slices, and
// compares what they say.
func compareStep(t *rapid.T, base *Base, m *model, now, rtt Micros) Micros {
	switch rapid.IntRange(0, 5).Draw(t, "time") {
	case 0:
	case 1:
		now++
	case 2:
		now += rtt / 2
	case 3:
		now += rtt + 3*ms
	default:
		if d := base.Deadline(); d != Never {
			now = max(now, d-Micros(rapid.IntRange(0, 1).Draw(t, "early")))
		}
	}
	if rapid.IntRange(0, 2).Draw(t, "ack") == 0 {
		var news []int
		for k, s := range m.list {
			if s.last > 0 && !s.acked && rapid.IntRange(0, 3).Draw(t, fmt.Sprint("acked ", k)) == 0 {
				news = append(news, k)
			}
		}
		if news != nil {
			base.Acked(now, ids(news...))
			m.acked(now, news)
		}
	}
	if slices.IndexFunc(m.list, func(s modelSlice) bool { return s.acked }) < 0 && rapid.IntRange(0, 5).Draw(t, "hold") == 0 {
		base.Held(now)
		m.hold()
	}
	for range rapid.SampledFrom([]int{0, 1, 2, 1000}).Draw(t, "asked") {
		got, ok := base.Next(now)
		want, wantOK := m.next(now)
		if got != want || ok != wantOK {
			t.Fatalf("at %d: slice %d %v, want %d %v", now, got, ok, want, wantOK)
		}
		if !ok {
			break
		}
	}
	if got, want := base.Deadline(), m.deadline(); got != want {
		t.Fatalf("at %d: deadline %d, want %d", now, got, want)
	}
	if got, want := base.Stats(), m.stats(); got != want {
		t.Fatalf("at %d: %+v, want %+v", now, got, want)
	}
	return now
}
