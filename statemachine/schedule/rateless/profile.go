package rateless

import "github.com/chunkwire/chunkwire/statemachine/schedule/control"

// Profile sets the pace of a Scheduler, and how certain it makes itself (RPL-14).
type Profile struct {
	Name string
	// MaxRate limits what is sent, in bits a second with IP and UDP headers:
	// statemachine.MinRate to MaxRate, or 0 for no limit (PRO-1).
	MaxRate int64

	burst  bool // there is always room (PRO-2)
	spread bool // three standard deviations, not two
	fixed  bool // MaxRate is the rate, and nothing is learned of it (PRO-4)

	without rule // for ablation
}

// Default returns the default profile: it limits what is in flight by delay and loss.
func Default() Profile { return Profile{Name: "default"} }

// Redundant returns the profile that sends more repair slices at once, so that fewer
// chunks end late.
func Redundant() Profile { return Profile{Name: "redundant", spread: true} }

// Burst returns the profile that sends a whole chunk at once, 85 us a slice, which is
// 100 Mbit/s, whatever the path is known to carry.
func Burst() Profile { return Profile{Name: "burst", burst: true} }

// Fixed returns the profile that sends at rate bits a second, headers included,
// whatever comes back. It needs a rate: New refuses 0.
func Fixed(rate int64) Profile { return Profile{Name: "fixed", MaxRate: rate, fixed: true} }

// deviations returns the square of how many standard deviations are added (RPL-4).
func (p *Profile) deviations() int64 {
	if p.spread {
		return 9
	}
	return 4
}

// rule is a part of the algorithm that can be left out, to see what it is worth.
type rule uint8

const (
	ruleDoubt  rule = 1 << iota // RPL-4: the last term of v
	ruleOutage                  // RPL-5, step 2
	ruleAsk                     // RPL-2: after a hold
)

func (p *Profile) has(r rule) bool { return p.without&r == 0 }

// pace returns what the profile says of the pace.
func (p *Profile) pace() control.Config {
	return control.Config{MaxRate: p.MaxRate, Burst: p.burst, Fixed: p.fixed}
}
