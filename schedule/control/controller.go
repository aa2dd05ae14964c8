package control

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/rtt"
	"github.com/chunkwire/chunkwire/statemachine"
)

const ms = machine.Millisecond

// Config is what a profile says of the pace (section 10).
type Config struct {
	// MaxRate limits what is sent, in bits a second with IP and UDP headers:
	// statemachine.MinRate to MaxRate, or 0 for no limit (PRO-1).
	MaxRate int64
	Burst   bool // fresh slices ignore the window and are 85 us apart (PRO-2)
	Fixed   bool // MaxRate is the rate, and nothing is learned of it (PRO-4)
	Without Rule // for ablation: the rules that are left out
}

// Check returns an error that wraps machine.ErrConfig for a figure that is not
// allowed. It names Profile.MaxRate, where applications set it.
func (c *Config) Check() error {
	if c.Fixed && c.MaxRate == 0 {
		return machine.ConfigError("Profile.MaxRate", c.MaxRate, "a rate for the profile fixed")
	}
	return statemachine.CheckRate("Profile.MaxRate", c.MaxRate)
}

// limit returns the least nanoseconds between two slices at MaxRate.
func (c *Config) limit() int64 {
	if c.MaxRate == 0 {
		return 0
	}
	return (codec.MaxDatagramSize + codec.HeaderBytes) * 8_000_000_000 / c.MaxRate
}

// Rule is a part of the algorithm that can be left out, to see what it is worth.
type Rule uint8

// The rules, by what RECOVERY.md calls them.
const (
	Overtaking Rule = 1 << iota // RAT-3
	Busy                        // RAT-4
	Headroom                    // PAC-2
	First                       // WIN-1
	Drain                       // WIN-4
)

func (c *Config) has(r Rule) bool { return c.Without&r == 0 }

// Controller is what a sender knows of the path, and when that lets a slice go.
type Controller struct {
	RTT    *RoundTrip // one for all lanes, from the first Adopt on (LAN-9)
	config Config
	rate   rate
	pace   pacer
	yields bool // other packets must not wait (WIN-5)
	idle   bool // there was nothing to send (REC-5)
}

// New returns a controller that knows nothing of the path (REC-8).
func New(config Config) *Controller {
	return &Controller{RTT: new(RoundTrip), config: config, rate: newRate()}
}

// Begin starts a chunk (REC-2).
func (c *Controller) Begin() {
	c.RTT.UseBound()
	c.EndTrain()
	c.idle = true
}

// Adopt takes over what another one knows of the path, before a chunk begins. Of
// the round trip the other may have heard nothing yet, so from then on both learn
// into one estimate (LAN-9).
func (c *Controller) Adopt(known *Controller) {
	c.RTT, c.rate, c.pace = known.RTT, known.rate, known.pace
}

// Go reports whether what the scheduler wants to send goes out at now, and counts
// it as sent (REC-5, from step 3 on). A fresh slice has the spacing of PRO-2.
func (c *Controller) Go(now machine.Micros, wants, fresh bool) bool {
	if c.Drains() {
		c.Dry(now)
	}
	if !wants {
		c.idle = true
		return false
	}
	if c.idle {
		c.pace.wait(now)
		c.idle = false
	}
	if now < c.pace.when() {
		return false
	}
	if c.pace.isLate(now) {
		c.Dry(now)
	}
	c.pace.spend(now, c.interval(fresh))
	return true
}

// Next returns when the pace lets the next slice go, in whole microseconds.
func (c *Controller) Next() machine.Micros { return c.pace.when() }

// Vars are the variables of REC-8 that a controller keeps.
type Vars struct {
	SmoothedRTT, MinRTT machine.Micros // 0 while nothing is known
	PerSlice            int64          // nanoseconds that the path takes for a slice; 0 while nothing is known
	RanDryAt            machine.Micros
	PaceAt              machine.Micros
	PaceNano            int64 // 0 to 999, beyond PaceAt
}

// Vars returns the variables.
func (c *Controller) Vars() Vars {
	return Vars{c.RTT.Smoothed, c.RTT.Min(), c.PerSlice(), c.rate.ranDryAt, c.pace.at, c.pace.nano}
}

// RoundTrip is the estimate of PROTOCOL.md, 9.3, with the smallest round trip that
// section 3 of RECOVERY.md adds.
type RoundTrip struct {
	rtt.Estimator
	lowest minRTT // of unambiguous samples
}

// Clean takes a sample of which it is known what was acked (EST-2).
func (e *RoundTrip) Clean(now, r machine.Micros) {
	e.lowest.add(now, max(rtt.Clip(r), 1), e.Smoothed)
	e.Sample(r)
}

// Min returns the smallest clean sample of late (EST-6); 0 if there is none.
func (e *RoundTrip) Min() machine.Micros { return e.lowest.value }
