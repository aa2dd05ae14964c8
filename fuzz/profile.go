package fuzz

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/recovery"
	"github.com/chunkwire/chunkwire/statemachine"
)

// pacing is a scheduler, and what can be seen of its pace from outside.
type pacing struct {
	statemachine.Scheduler
	envelope statemachine.Profile // it sends no faster than the base algorithm by these figures
	atOnce   int                  // slices that may go out at one time, at most
}

// readPacing reads a scheduler: a byte that says which, and its figures. Those of
// any base profile are bounded as the caller wants it.
func readPacing(s *script, bound func(*statemachine.Profile)) pacing {
	switch s.byte() % 9 {
	case 0:
		return basePacing(statemachine.Burst())
	case 1:
		return basePacing(statemachine.Fixed(readRate(s)))
	case 2:
		return basePacing(statemachine.Article(readRate(s)))
	case 3:
		return basePacing(statemachine.Fixed(0)) // unlimited
	case 4:
		p := readFigures(s)
		bound(&p)
		return basePacing(p)
	case 5:
		return recoveryPacing(recovery.Adaptive(), readLimit(s))
	case 6:
		return recoveryPacing(recovery.Burst(), readLimit(s))
	case 7:
		return recoveryPacing(recovery.Redundant(), readLimit(s))
	}
	return recoveryPacing(recovery.Fixed(0), readLimit(s))
}

func basePacing(p statemachine.Profile) pacing {
	return pacing{statemachine.NewBase(p), withinLimits(p), codec.MaxSlices + 16}
}

// recoveryPacing is that of RECOVERY.md. No two slices are closer than the limit
// and 7 us ask for, but that a late caller may make up for 20 ms (PAC-1, PAC-4,
// PRO-1): to the meter that is a spacing. Beside each slice once, half a window
// of copies may go out at a time (CPY-2).
func recoveryPacing(p recovery.Profile, limit int64) pacing {
	p.MaxRate = limit
	spacing := micros(7)
	if limit > 0 {
		spacing = max(spacing, 1_066_000_000/micros(min(max(limit, 1066), 1_000_000_000)))
	}
	return pacing{recovery.New(p), statemachine.Profile{Name: "recovery " + p.Name, Spacing: spacing}, codec.MaxSlices * 3 / 2}
}

// readFigures reads any profile of the base algorithm.
func readFigures(s *script) statemachine.Profile {
	return statemachine.Profile{
		Name: "any", Rate: int64(s.uint32()), Cap: int64(s.uint32()), Burst: int64(s.uint32()), AckPays: s.byte()&1 == 1,
		Spacing: micros(s.uint32() % 1_000_000_001), ResendDelay: micros(s.uint32() % 1_000_000_001),
	}
}

// readLimit reads a limit: for half of the bytes none, some rates beyond what a
// profile allows, or one of readRate.
func readLimit(s *script) int64 {
	switch b := s.byte(); {
	case b < 128:
		return 0
	case b < 140:
		return 1 << (b - 128) // below the least, and a little above
	case b < 150:
		return 1 << (b - 110) // above the most
	}
	return readRate(s)
}

// readRate reads a rate in steps of the smallest, of 1 Mbit/s or of 80 Mbit/s.
func readRate(s *script) int64 {
	step := pick(s, []int64{statemachine.MinRate, 125_000, 10_000_000})
	return step * (1 + int64(s.byte()%100))
}

// profileBytes is the inverse of readPacing, for any profile of the base algorithm.
func profileBytes(rate, limit, burst uint32, acksPay bool, spacing, delay uint32) []byte {
	out := []byte{4}
	for _, v := range []uint32{rate, limit, burst} {
		out = appendUint32(out, v)
	}
	out = append(out, byte(asBit(acksPay)))
	return appendUint32(appendUint32(out, spacing), delay)
}

func appendUint32(b []byte, v uint32) []byte {
	return append(b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
}

func appendUint16(b []byte, v uint16) []byte { return append(b, byte(v), byte(v>>8)) }

// withinLimits is BUD-1.
func withinLimits(p statemachine.Profile) statemachine.Profile {
	if p.Rate != 0 {
		p.Rate = min(max(p.Rate, 1066), 1_000_000_000)
	}
	p.Cap = min(max(p.Cap, 1066), 1_000_000_000)
	p.Burst = min(max(p.Burst, 0), p.Cap)
	return p
}

// meter holds a sender to its envelope from outside: in no window goes out more
// than rate, cap and acks allow (9.5), nor closer than the spacing (9.6).
type meter struct {
	profile     statemachine.Profile
	now         micros
	allowed     int64 // what may go out now at most, in millionths of a byte
	spacedUntil micros
}

func newMeter(p statemachine.Profile) *meter {
	return &meter{profile: p, allowed: 1e6 * p.Cap}
}

// pass lets time pay, up to the cap.
func (m *meter) pass(now micros) {
	if now <= m.now {
		return
	}
	e := m.profile.Rate * int64(min(now-m.now, 1_000_000_000))
	m.allowed = min(m.allowed+e, 1e6*m.profile.Cap)
	m.now = now
}

// begin is a chunk's burst (BUD-5).
func (m *meter) begin(now micros) {
	m.pass(now)
	m.allowed = max(m.allowed, 1e6*m.profile.Burst)
}

// acked pays for slices that arrived, if the profile says so. It forgives what
// time has paid meanwhile, which BUD-6 does not.
func (m *meter) acked(cost int64) {
	if m.profile.AckPays {
		m.allowed = min(m.allowed+1e6*cost, 1e6*m.profile.Cap)
	}
}

// take returns what is wrong with a slice that goes out now.
func (m *meter) take(now micros, cost int64) string {
	m.pass(now)
	early := now < m.spacedUntil
	m.spacedUntil = max(m.spacedUntil, now-20_000) + m.profile.Spacing
	if m.profile.Rate != 0 {
		m.allowed -= 1e6 * cost
	}
	switch {
	case early:
		return "goes out before its spacing"
	case m.allowed < 0:
		return "goes out beyond the budget"
	}
	return ""
}
