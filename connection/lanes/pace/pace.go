// Package pace makes the schedulers of a sender from the name of a profile and a rate: the
// profiles of lanes, and the profiles of the base algorithm.
package pace

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
)

// Names returns the names of the profiles, the default first. base is the burst of the base
// algorithm, article the article's own.
func Names() []string {
	return []string{"adaptive", "burst", "redundant", "fixed", "base", "article"}
}

// Pace is what a profile and a rate say: how a sender decides what it sends, and when.
type Pace struct {
	Name    string
	Rate    int64 // bits a second; 0 is unlimited
	Profile lanes.Profile
	Base    func() (statemachine.Scheduler, error) // of base and article, which are no such profiles
}

// NeedsRate reports whether a profile sends at a rate that must be given.
func NeedsRate(profile string) bool { return profile == "fixed" || profile == "article" }

// IsBase reports whether a profile is one of the base algorithm: it has names for slices, and
// does not pace several lanes as one (LAN-9, LAN-10).
func IsBase(profile string) bool { return profile == "base" || profile == "article" }

// Limit returns the rate that limits the sender in bits a second, if it is one, and else 0.
func (p Pace) Limit() int64 {
	if p.Base != nil {
		return 0
	}
	return p.Rate
}

// Scheduler makes one for a kind of slices.
func (p Pace) Scheduler(kind codec.Kind) (statemachine.Scheduler, error) {
	if p.Base != nil && kind == codec.Named {
		return p.Base()
	}
	return p.Profile.NewScheduler(kind, p.Rate)
}

// OverLink returns the pace of a profile over a link of a rate. A profile that needs a rate has
// the link's where bits, as in Of, is negative.
func OverLink(name string, bits, link int64) (Pace, error) {
	if bits < 0 && NeedsRate(name) {
		return Of(name, link)
	}
	return Of(name, bits)
}

// Of returns the pace of a profile. The rate is in bits a second: the rate itself of fixed and
// article, the least of base, and a limit of the others; 0 for unlimited, negative for the
// profile's own.
func Of(name string, bits int64) (Pace, error) {
	p := Pace{Name: name, Rate: max(bits, 0) / 8 * 8}
	if bits < 0 && (NeedsRate(name) || name == "base") {
		p.Rate = base.Burst().Rate
	}
	if p.Rate < statemachine.MinRate && bits > 0 {
		return Pace{}, fmt.Errorf("a rate below %d bits a second would stall: one slice a second at least", statemachine.MinRate)
	}
	switch name {
	case "adaptive":
		p.Profile = lanes.Adaptive
	case "burst":
		p.Profile = lanes.Burst
	case "redundant":
		p.Profile = lanes.Redundant
	case "fixed":
		p.Profile = lanes.Fixed
		p.Rate = cmp.Or(p.Rate, statemachine.MaxRate)
	case "base":
		profile := base.Burst()
		profile.Rate = p.Rate
		p.Base = baseAt(profile)
	case "article":
		p.Base = baseAt(base.Article(p.Rate))
	default:
		return Pace{}, fmt.Errorf("no profile %q; there are: %s", name, strings.Join(Names(), ", "))
	}
	return p, nil
}

func baseAt(p base.Profile) func() (statemachine.Scheduler, error) {
	return func() (statemachine.Scheduler, error) { return base.New(p) }
}
