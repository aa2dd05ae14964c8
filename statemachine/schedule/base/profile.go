package base

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// maxCost is the largest cost of one slice, in bytes (BUD-2).
const maxCost = codec.MaxDatagramSize + codec.HeaderBytes

// maxBytes is the largest cap and burst, in bytes (BUD-1).
const maxBytes = 1_000_000_000

// Profile sets the pace of a Scheduler (appendix G.5), and so lets the application limit
// it (SCH-4). Those of SPC-4 are Burst, Fixed and Article. Rates and bytes count IP and UDP headers.
type Profile struct {
	Name string
	// Rate is the regular rate in bits a second, a multiple of 8 from
	// statemachine.MinRate to MaxRate; 0 means unlimited.
	Rate int64
	// Cap is the most bytes that the budget ever holds: 1,066 to 10^9.
	Cap int64
	// Burst is what the budget holds at least when a chunk starts: 0 to Cap bytes.
	Burst int64
	// AckPays makes newly acked bytes pay for as many again.
	AckPays bool
	// Spacing is the least time between two slices, on average; 0 means none.
	Spacing core.Micros
	// ResendDelay is how long after the last slice the resend timer runs out; 0
	// means to derive it from the measured round-trip time.
	ResendDelay core.Micros
}

// check returns an error for figures outside BUD-1.
func (p *Profile) check() error {
	if err := statemachine.CheckRate("Profile.Rate", p.Rate); err != nil {
		return err
	}
	switch {
	case p.Rate%8 != 0:
		return core.ConfigError("Profile.Rate", p.Rate, "a multiple of 8 bit/s")
	case p.Cap < maxCost || p.Cap > maxBytes:
		return core.ConfigError("Profile.Cap", p.Cap, "1066 to 1000000000 bytes")
	case p.Burst < 0 || p.Burst > p.Cap:
		return core.ConfigError("Profile.Burst", p.Burst, "0 bytes to Cap")
	case p.Spacing < 0 || p.ResendDelay < 0:
		return core.ConfigError("Profile.Spacing, Profile.ResendDelay", min(p.Spacing, p.ResendDelay), "0 or more")
	}
	return nil
}

// Burst returns the profile (SPC-4) that sends all slices at once, 85 us apart (100
// Mbit/s), and then as much as arrives, but at least 1 Mbit/s.
func Burst() Profile {
	return Profile{
		Name: "burst", Rate: 1_000_000, Cap: codec.MaxSlices * maxCost,
		Burst: codec.MaxSlices * maxCost, AckPays: true, Spacing: 85,
	}
}

// Fixed returns the article's token bucket: rate bits a second, with what 20 ms
// make, or 16 slices if that is more, saved at the most. A rate of 0
// is unlimited; adaptive.New refuses it.
func Fixed(rate int64) Profile {
	return Profile{Name: "fixed", Rate: rate, Cap: max(16*maxCost, rate/8/50)}
}

// Article returns Fixed(rate) with the article's resend delay of 100 ms, for
// comparison: too short for slow paths, too long for fast ones.
func Article(rate int64) Profile {
	p := Fixed(rate)
	p.Name, p.ResendDelay = "article", 100*core.Millisecond
	return p
}
