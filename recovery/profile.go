package recovery

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Profile sets the pace of a Scheduler (section 10).
type Profile struct {
	Name string
	// MaxRate limits what is sent, in bytes a second with IP and UDP headers;
	// 0 means no limit. New moves what lies outside of statemachine.MinRate to
	// MaxRate to the nearer of them (PRO-1).
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

// Fixed returns the profile that sends at rate bytes a second, headers
// included, whatever comes back. A rate of 0 means as fast as the pace allows.
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

// perSlice returns the least nanoseconds between two slices at MaxRate.
func (p *Profile) perSlice() int64 {
	if p.MaxRate == 0 {
		return 0
	}
	rate := min(max(p.MaxRate, statemachine.MinRate), statemachine.MaxRate)
	return (codec.MaxDatagramSize + statemachine.HeaderBytes) * 1_000_000_000 / rate
}
