package lanes

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/adaptive"
	"github.com/chunkwire/chunkwire/statemachine/schedule/rateless"
)

// Profile is how a sender paces its slices, and how many it sends beyond those that are
// missing: for both variants the one of its name in spec/RECOVERY.md.
type Profile uint8

// The profiles.
const (
	Adaptive  Profile = iota // limits what is in flight by delay and loss
	Redundant                // sends more, so that fewer chunks wait for a round trip more
	Burst                    // sends a whole chunk at 100 Mbit/s, whatever the path carries
	Fixed                    // sends at Config.MaxRate, which it needs, whatever comes back

	profiles = iota
)

func (p Profile) String() string {
	if p >= profiles {
		return "unknown"
	}
	return [...]string{"adaptive", "redundant", "burst", "fixed"}[p]
}

// check returns why the profile is bad.
func (p Profile) check() error {
	if p >= profiles {
		return core.ConfigError("lanes: Profile", uint8(p), "0 to 3")
	}
	return nil
}

// NewScheduler makes a scheduler of the profile for a kind of slices, limited to a rate in bits a
// second; 0 is no limit. It fails with core.ErrConfig.
func (p Profile) NewScheduler(kind codec.Kind, maxRate int64) (statemachine.Scheduler, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if kind == codec.Repair {
		profile := [...]rateless.Profile{rateless.Default(), rateless.Redundant(), rateless.Burst(), rateless.Fixed(maxRate)}[p]
		profile.MaxRate = maxRate
		return rateless.New(profile)
	}
	profile := [...]adaptive.Profile{adaptive.Adaptive(), adaptive.Redundant(), adaptive.Burst(), adaptive.Fixed(maxRate)}[p]
	profile.MaxRate = maxRate
	return adaptive.New(profile)
}
