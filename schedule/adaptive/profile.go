package adaptive

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Profile sets the pace of a Scheduler (section 10).
type Profile struct {
	Name string
	// MaxRate limits what is sent, in bits a second with IP and UDP headers:
	// statemachine.MinRate to MaxRate, or 0 for no limit (PRO-1).
	MaxRate int64

	burst  bool // fresh slices ignore the window (PRO-2)
	spread bool // slices that were sent once are copied, too (PRO-3)
	fixed  bool // MaxRate is the rate, and nothing is learned of it (PRO-4)

	without rule // for ablation
}

// Adaptive returns the default profile: it learns the rate of the path.
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
	ruleCopies     rule = 1 << iota // CPY-1
	rulePatience                    // LOS-3
	ruleOvertaking                  // RAT-3
	ruleBusy                        // RAT-4
	ruleResentRTT                   // EST-3
	ruleSlack                       // EST-5
	ruleNewest                      // PTO-4
	ruleEachTimer                   // PTO-1
	ruleSettle                      // PTO-2
	ruleHeadroom                    // PAC-2
	ruleFirst                       // WIN-1
	ruleQuiet                       // CPY-3
	ruleDrain                       // WIN-4
)

func (p *Profile) has(r rule) bool { return p.without&r == 0 }

// check returns an error for a figure that is not allowed.
func (p *Profile) check() error {
	if p.fixed && p.MaxRate == 0 {
		return machine.ConfigError("Profile.MaxRate", p.MaxRate, "a rate for the profile fixed")
	}
	return statemachine.CheckRate("Profile.MaxRate", p.MaxRate)
}

// perSlice returns the least nanoseconds between two slices at MaxRate.
func (p *Profile) perSlice() int64 {
	if p.MaxRate == 0 {
		return 0
	}
	return (codec.MaxDatagramSize + codec.HeaderBytes) * 8_000_000_000 / p.MaxRate
}
