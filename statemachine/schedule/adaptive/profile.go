package adaptive

import "github.com/chunkwire/chunkwire/statemachine/schedule/control"

// Profile sets the pace of a Scheduler (section 17).
type Profile struct {
	Name string
	// MaxRate limits what is sent, in bits a second with IP and UDP headers:
	// statemachine.MinRate to MaxRate, or 0 for no limit (PRO-1).
	MaxRate int64

	burst  bool // there is always room (PRO-2)
	spread bool // slices that were sent once are copied, too (PRO-3)
	fixed  bool // MaxRate is the rate, and nothing is learned of it (PRO-4)

	without rule // for ablation
}

// Adaptive returns the default profile: it limits what is in flight by delay and loss.
func Adaptive() Profile { return Profile{Name: "adaptive"} }

// Burst returns the profile that sends a whole chunk at once, 85 us a slice,
// which is 100 Mbit/s, whatever the path is known to carry.
func Burst() Profile { return Profile{Name: "burst", burst: true} }

// Redundant returns the profile that spends more bytes on the last slices.
func Redundant() Profile { return Profile{Name: "redundant", spread: true} }

// Fixed returns the profile that sends at rate bits a second, headers included,
// whatever comes back. It needs a rate: New refuses 0.
func Fixed(rate int64) Profile { return Profile{Name: "fixed", MaxRate: rate, fixed: true} }

// rule is a part of the algorithm that can be left out, to see what it is worth.
type rule uint16

const (
	ruleCopies    rule = 1 << iota // CPY-1
	rulePatience                   // LOS-3
	ruleResentRTT                  // EST-3
	ruleSlack                      // EST-5
	ruleNewest                     // PTO-4
	ruleEachTimer                  // PTO-1
	ruleSettle                     // PTO-2
	ruleQuiet                      // CPY-3
)

func (p *Profile) has(r rule) bool { return p.without&r == 0 }

// pace returns what the profile says of the pace.
func (p *Profile) pace() control.Config {
	return control.Config{MaxRate: p.MaxRate, Burst: p.burst, Fixed: p.fixed}
}
