package chunk

import (
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine/schedule/adaptive"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
	"github.com/chunkwire/chunkwire/statemachine/schedule/rateless"
)

// Pace is what a sender is held to from outside, whatever its scheduler does: a
// token bucket that time fills, and a spacing. The zero value allows everything.
type Pace struct {
	Rate       int64 // bytes a second with IP and UDP headers; 0 is unlimited
	Cap, Burst int64 // bytes
	AcksPay    bool
	Spacing    core.Micros
	Longest    core.Micros // until the next slice (SCH-2)
	AtOnce     int         // slices that may go out at one time

	bucketRule, spacingRule string // what is broken by a slice that is too early
}

// Figures of the specification.
const (
	longestWait = 3 * core.Second       // SCH-2
	lateness    = 20 * core.Millisecond // SPC-2, PAC-4: what a late caller may make up for
	sliceBytes  = 1066                  // PRO-1
)

// BasePace returns what appendices G.4 and G.5 allow with a profile.
func BasePace(p base.Profile) Pace {
	pace := Pace{
		Rate: p.Rate / 8, Cap: p.Cap, Burst: p.Burst, AcksPay: p.AckPays, Spacing: p.Spacing,
		Longest: max(longestWait, p.ResendDelay, p.Spacing), AtOnce: 256 + 16,
		bucketRule: "BUD-2", spacingRule: "SPC-2",
	}
	if pace.Rate > 0 {
		pace.Longest = max(pace.Longest, core.Micros(sliceBytes*1_000_000/pace.Rate)+1)
	}
	return pace
}

// AdaptivePace returns what RECOVERY.md allows with a profile. Beside each slice once,
// half the allowance of copies may go out at one time (CPY-2).
func AdaptivePace(p adaptive.Profile) Pace { return LimitedPace(p.MaxRate, 256*3/2) }

// mostIDs is how many ids a driver that is late may send at one time: MAX_FLIGHT.
const mostIDs = 1024

// RatelessPace does the same for repair slices (PAC-8, PRO-1).
func RatelessPace(p rateless.Profile) Pace { return LimitedPace(p.MaxRate, mostIDs) }

// LimitedPace returns a pace in which no two slices are closer than 7 us (PAC-8) and than
// a limit asks for (PRO-1), in bits a second; 0 is none.
func LimitedPace(maxRate int64, atOnce int) Pace {
	spacing := core.Micros(7)
	if maxRate > 0 {
		spacing = max(spacing, core.Micros(sliceBytes*8_000_000/maxRate))
	}
	return Pace{Spacing: spacing, Longest: max(longestWait, spacing+1), AtOnce: atOnce, spacingRule: "PAC-4"}
}

// Meter measures what a sender sends against its Pace.
type Meter struct {
	pace        Pace
	now         core.Micros
	allowed     int64 // what may go out now at most, in millionths of a byte
	spacedUntil core.Micros
}

// NewMeter returns a meter whose bucket is full.
func NewMeter(p Pace) *Meter { return &Meter{pace: p, allowed: p.Cap * 1e6} }

// pass lets time pay, up to the cap.
func (m *Meter) pass(now core.Micros) {
	if now <= m.now {
		return
	}
	paid := m.pace.Rate * int64(min(now-m.now, 1_000_000_000))
	m.allowed = min(m.allowed+paid, m.pace.Cap*1e6)
	m.now = now
}

// Begin is the start of a chunk, which finds at least the burst (BUD-5).
func (m *Meter) Begin(now core.Micros) {
	m.pass(now)
	m.allowed = max(m.allowed, m.pace.Burst*1e6)
}

// Acked lets so many bytes that have arrived pay, if the profile says so. What time
// has paid meanwhile is not taken off, as BUD-6 does: the meter is an upper bound.
func (m *Meter) Acked(now core.Micros, bytes int) {
	if m.pass(now); m.pace.AcksPay {
		m.allowed = min(m.allowed+int64(bytes)*1e6, m.pace.Cap*1e6)
	}
}

// Sent takes a slice that goes out, with so many bytes of headers and datagram.
func (m *Meter) Sent(now core.Micros, bytes int) *Violation {
	m.pass(now)
	early := m.spacedUntil - now
	m.spacedUntil = max(m.spacedUntil, now-lateness) + m.pace.Spacing
	if early > 0 {
		return Violates(m.pace.spacingRule, "sent a slice %d us before its spacing allows", early)
	}
	if m.pace.Rate == 0 {
		return nil
	}
	if m.allowed -= int64(bytes) * 1e6; m.allowed < 0 {
		return Violates(m.pace.bucketRule, "sent %d millionths of a byte more than its budget", -m.allowed)
	}
	return nil
}
