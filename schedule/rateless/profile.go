package rateless

import "github.com/chunkwire/chunkwire/schedule/control"

// Profile sets the pace of a Scheduler, and what it spends on certainty.
type Profile struct {
	Name string
	// MaxRate limits what is sent, in bits a second with IP and UDP headers:
	// statemachine.MinRate to MaxRate, or 0 for no limit.
	MaxRate int64

	burst, fixed bool // PRO-2, PRO-4
	spread       bool // more standard deviations
	without      rule // for ablation
	paceWithout  control.Rule
}

// Default returns the default profile: it learns the rate of the path.
func Default() Profile { return Profile{Name: "default"} }

// Redundant returns the profile that sends more repair slices at once, so that an end
// that is late is rarer.
func Redundant() Profile { return Profile{Name: "redundant", spread: true} }

// Burst returns the profile that sends a whole chunk at once, 85 us a slice, which is
// 100 Mbit/s, whatever the path is known to carry.
func Burst() Profile { return Profile{Name: "burst", burst: true} }

// Fixed returns the profile that sends at rate bits a second, headers included,
// whatever comes back. It needs a rate: New refuses 0.
func Fixed(rate int64) Profile { return Profile{Name: "fixed", MaxRate: rate, fixed: true} }

// rule is a part of the algorithm that can be left out, to see what it is worth.
type rule uint16

const (
	ruleDoubt   rule = 1 << iota // the last term of need: what is not known of the loss
	ruleSettle                   // the prior has served
	ruleGone                     // losses of an outage are not the path's
	ruleRetract                  // what comes late takes its loss back
	ruleSoon                     // a probe follows after an eighth, not after a whole delay
)

func (p *Profile) has(r rule) bool { return p.without&r == 0 }

// pace returns what the profile says of the pace.
func (p *Profile) pace() control.Config {
	return control.Config{MaxRate: p.MaxRate, Burst: p.burst, Fixed: p.fixed, Without: p.paceWithout}
}
