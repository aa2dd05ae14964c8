package statemachine

import "github.com/chunkwire/chunkwire/codec"

// HeaderBytes is what IPv4 and UDP add to a datagram; budgets count it (BUD-2).
const HeaderBytes = 28

// maxCost is the largest cost of one slice, in bytes.
const maxCost = codec.MaxDatagramSize + HeaderBytes

// Profile sets the pace of a Base scheduler (section 9.6), and so lets the
// application limit it (SCH-4). All byte figures count IP and UDP headers.
type Profile struct {
	Name string
	// Rate is the regular rate in bytes a second, MinRate to MaxRate; 0 means
	// unlimited. NewBase moves what lies outside to the nearer limit.
	Rate int64
	// Cap is the most bytes that the budget ever holds, at least one slice's.
	Cap int64
	// Burst is what the budget holds at least when a chunk starts, in bytes; at
	// most Cap.
	Burst int64
	// AckPays makes what is newly acked pay for as many bytes again.
	AckPays bool
	// Spacing is the least time between two slices, on average; 0 means none.
	Spacing Micros
	// ResendDelay is how long after the last slice the resend timer runs out; 0
	// means to derive it from the measured round-trip time.
	ResendDelay Micros
}

// Limits and defaults of profiles.
const (
	MinRate            = maxCost       // bytes a second: one slice
	MaxRate            = 1_000_000_000 // bytes a second
	DefaultRegularRate = 125_000       // bytes a second: 1 Mbit/s
	BurstSpacing       = 85 * Micros(1)
	ArticleResendDelay = 100 * Millisecond
)

// withinLimits returns p with Rate, Cap and Burst as BUD-1 wants them.
func (p Profile) withinLimits() Profile {
	if p.Rate != 0 {
		p.Rate = min(max(p.Rate, MinRate), MaxRate)
	}
	p.Cap = min(max(p.Cap, maxCost), MaxRate)
	p.Burst = min(max(p.Burst, 0), p.Cap)
	return p
}

// Burst returns the profile that sends all slices at once, 85 us apart (100
// Mbit/s), and then as much as arrives, but at least 1 Mbit/s.
func Burst() Profile {
	return Profile{
		Name: "burst", Rate: DefaultRegularRate, Cap: codec.MaxSlices * maxCost,
		Burst: codec.MaxSlices * maxCost, AckPays: true, Spacing: BurstSpacing,
	}
}

// Fixed returns the article's token bucket: rate bytes a second, with what 20 ms
// make, or 16 slices if that is more, left over at the most. A rate of 0 means
// unlimited.
func Fixed(rate int64) Profile {
	p := Profile{Name: "fixed", Rate: rate}.withinLimits()
	p.Cap = max(16*maxCost, p.Rate/50)
	return p
}

// Article returns Fixed(rate) with the article's resend delay of 100 ms, for
// comparison: too short for slow paths, too long for fast ones.
func Article(rate int64) Profile {
	p := Fixed(rate)
	p.Name, p.ResendDelay = "article", ArticleResendDelay
	return p
}
