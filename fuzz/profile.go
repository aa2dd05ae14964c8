package fuzz

import "github.com/chunkwire/chunkwire/statemachine"

// readProfile reads a profile: a byte that says which, and its figures.
func readProfile(s *script) statemachine.Profile {
	switch s.byte() % 5 {
	case 0:
		return statemachine.Burst()
	case 1:
		return statemachine.Fixed(readRate(s))
	case 2:
		return statemachine.Article(readRate(s))
	case 3:
		return statemachine.Fixed(0) // unlimited
	}
	return statemachine.Profile{
		Name: "any", Rate: int64(s.uint32()), Cap: int64(s.uint32()), Burst: int64(s.uint32()), AckPays: s.byte()&1 == 1,
		Spacing: micros(s.uint32() % 1_000_000_001), ResendDelay: micros(s.uint32() % 1_000_000_001),
	}
}

// readRate reads a rate in steps of the smallest, of 1 Mbit/s or of 80 Mbit/s.
func readRate(s *script) int64 {
	step := pick(s, []int64{statemachine.MinRate, 125_000, 10_000_000})
	return step * (1 + int64(s.byte()%100))
}

// profileBytes is the inverse of readProfile, for any profile.
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

// meter holds a sender to its profile from outside: in no window goes out more
// than rate, cap and acks allow (9.5), nor closer than the spacing (9.6).
type meter struct {
	profile     statemachine.Profile
	now         micros
	allowed     int64 // what may go out now at most, in millionths of a byte
	spacedUntil micros
}

func newMeter(p statemachine.Profile) *meter {
	p = withinLimits(p)
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
