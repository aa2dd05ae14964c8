package chunks

import (
	"encoding/json"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/oracle/chunkoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/recoveryoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/adaptive"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
	"github.com/chunkwire/chunkwire/statemachine/schedule/rateless"
)

// Profile is the profile of a scheduler of named slices.
type Profile struct {
	Base     Base
	Recovery conform.Opt[Recovery] // instead
}

// Base is the profile of the base algorithm, in bytes, bytes a second and microseconds (section
// 9.6).
type Base struct {
	Rate          int64 `json:"rate" range:"0 1000000000" doc:"0 for none, else at least 1066"`
	Cap           int64 `json:"cap" range:"1066 1000000000"`
	Burst         int64 `json:"burst" range:"0 1000000000" doc:"at most cap"`
	AcksPay       bool  `json:"acks_pay"`
	SpacingUS     int64 `json:"spacing_us" range:"0 1000000000" unit:"us"`
	ResendDelayUS int64 `json:"resend_delay_us" range:"0 1000000000" unit:"us"`
}

// Recovery is the profile of the recommended scheduler (RVO-1).
type Recovery struct {
	Recovery string `json:"recovery" in:"adaptive redundant burst fixed"`
	Rate     int64  `json:"rate" range:"0 8000000000" doc:"the limit in bits a second, 0 for none"`
}

// Rule is the profile of the rule of a sender of repair slices (RPO-5).
type Rule struct {
	Rate      int64 `json:"rate" range:"0 8000000000" doc:"the limit in bits a second, 0 for none"`
	Burst     bool  `json:"burst"`
	Fixed     bool  `json:"fixed"`
	Redundant bool  `json:"redundant"`
}

// OneOf is what it is in JSON.
func (p Profile) OneOf() []any { return []any{Base{}, Recovery{}} }

// MarshalJSON writes the one that there is.
func (p Profile) MarshalJSON() ([]byte, error) {
	if p.Recovery.Is {
		return json.Marshal(p.Recovery.V)
	}
	return json.Marshal(p.Base)
}

// UnmarshalJSON reads it.
func (p *Profile) UnmarshalJSON(text []byte) error {
	var fields conform.Object
	_ = json.Unmarshal(text, &fields) // what is no object has no field
	if _, p.Recovery.Is = fields["recovery"]; p.Recovery.Is {
		return conform.Decode(text, &p.Recovery.V)
	}
	return conform.Decode(text, &p.Base)
}

// The least limits (BUD-1, PRO-1).
const (
	leastBytes = 1066
	leastBits  = 8 * leastBytes
)

func fitted(rate, least int64) int64 {
	if rate != 0 {
		rate = max(rate, least)
	}
	return rate
}

// Fit changes what no scheduler takes.
func (c SenderConfig) Fit() any {
	p := &c.Profile.V
	if p.Base.Rate = fitted(p.Base.Rate, leastBytes); p.Base.Burst > p.Base.Cap {
		p.Base.Burst %= p.Base.Cap + 1
	}
	if r := &p.Recovery; r.Is {
		r.V.Rate, p.Base = fitted(r.V.Rate, leastBits), Base{}
		if r.V.Recovery == "fixed" {
			r.V.Rate = max(r.V.Rate, leastBits)
		}
	}
	return c
}

// Fit changes what no scheduler takes.
func (c RepairSenderConfig) Fit() any {
	p := &c.Profile.V
	p.Fixed = p.Fixed && !p.Burst
	p.Redundant = p.Redundant && !p.Burst && !p.Fixed
	if p.Rate = fitted(p.Rate, leastBits); p.Fixed {
		p.Rate = max(p.Rate, leastBits)
	}
	return c
}

// fits reports whether the figures go together.
func (p Base) fits() bool { return p.Rate == fitted(p.Rate, leastBytes) && p.Burst <= p.Cap }

func (p Recovery) fits() bool {
	return p.Rate == fitted(p.Rate, leastBits) && (p.Recovery != "fixed" || p.Rate > 0)
}

func (p Rule) fits() bool {
	one := !(p.Burst && p.Fixed || p.Burst && p.Redundant || p.Fixed && p.Redundant)
	return one && p.Rate == fitted(p.Rate, leastBits) && (!p.Fixed || p.Rate > 0)
}

// NewScheduler returns the base algorithm. It fails with conform.ErrBadRequest, as what follows.
func (p Base) NewScheduler() (statemachine.Scheduler, error) {
	s, err := base.New(base.Profile{
		Rate: 8 * p.Rate, Cap: p.Cap, Burst: p.Burst, AckPays: p.AcksPay, Spacing: core.Micros(p.SpacingUS), ResendDelay: core.Micros(p.ResendDelayUS),
	})
	return orBad(s, err)
}

func orBad[S statemachine.Scheduler](s S, err error) (statemachine.Scheduler, error) {
	if err != nil {
		return nil, conform.ErrBadRequest
	}
	return s, nil
}

// NewScheduler returns the recommended scheduler.
func (p Recovery) NewScheduler() (statemachine.Scheduler, error) {
	profile, ok := map[string]adaptive.Profile{
		"adaptive": adaptive.Adaptive(), "redundant": adaptive.Redundant(), "burst": adaptive.Burst(), "fixed": adaptive.Fixed(p.Rate),
	}[p.Recovery]
	if !ok {
		return nil, conform.ErrBadRequest
	}
	profile.MaxRate = p.Rate
	return orBad(adaptive.New(profile))
}

// NewScheduler returns the rule.
func (p Rule) NewScheduler() (statemachine.Scheduler, error) {
	profile := rateless.Default()
	switch {
	case p.Burst && p.Fixed || p.Burst && p.Redundant || p.Fixed && p.Redundant:
		return nil, conform.ErrBadRequest
	case p.Burst:
		profile = rateless.Burst()
	case p.Fixed:
		profile = rateless.Fixed(p.Rate)
	case p.Redundant:
		profile = rateless.Redundant()
	}
	profile.MaxRate = p.Rate
	return orBad(rateless.New(profile))
}

// NewScheduler returns the scheduler that the profile is of.
func (p Profile) NewScheduler() (statemachine.Scheduler, error) {
	if p.Recovery.Is {
		return p.Recovery.V.NewScheduler()
	}
	return p.Base.NewScheduler()
}

// Oracle returns the oracle's base algorithm.
func (p Base) Oracle() *chunkoracle.Base {
	return chunkoracle.NewBase(chunkoracle.Profile{Rate: p.Rate, Cap: p.Cap, Burst: p.Burst, AcksPay: p.AcksPay, Spacing: p.SpacingUS, ResendDelay: p.ResendDelayUS})
}

// Oracle returns the oracle's recommended scheduler.
func (p Recovery) Oracle() chunkoracle.Recovery {
	return chunkoracle.Recovery{Scheduler: recoveryoracle.NewScheduler(recoveryoracle.Profile{
		Rate: p.Rate, Burst: p.Recovery == "burst", Fixed: p.Recovery == "fixed", Redundant: p.Recovery == "redundant",
	})}
}

// Oracle returns the oracle's rule.
func (p Rule) Oracle() chunkoracle.Rule {
	return chunkoracle.Rule{Rule: repairoracle.NewRule(repairoracle.Profile{Rate: p.Rate, Burst: p.Burst, Fixed: p.Fixed, Redundant: p.Redundant})}
}

func (p Profile) oracle() (chunkoracle.Scheduler, bool) {
	if p.Recovery.Is {
		return p.Recovery.V.Oracle(), p.Recovery.V.fits()
	}
	return p.Base.Oracle(), p.Base.fits()
}

// hasHost reports whether a scheduler has events of its host.
func hasHost(config any) bool { return config.(SenderConfig).Profile.V.Recovery.Is }

// BaseOf returns the profile of the contract.
func BaseOf(p base.Profile) Base {
	return Base{p.Rate / 8, p.Cap, p.Burst, p.AckPays, int64(p.Spacing), int64(p.ResendDelay)}
}

// RuleOf returns the profile of the contract.
func RuleOf(p rateless.Profile) Rule {
	return Rule{Rate: p.MaxRate, Burst: p.Name == "burst", Fixed: p.Name == "fixed", Redundant: p.Name == "redundant"}
}
