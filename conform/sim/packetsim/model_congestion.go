package packetsim

import (
	"github.com/chunkwire/chunkwire/core"
	protocol "github.com/chunkwire/chunkwire/packet"
)

// CongestionModel is the machine of section 9, as its tables say.
type CongestionModel struct {
	profile  protocol.Profile
	state    string
	now      core.Micros
	recovery core.Micros

	goodSince, entered, halved core.Micros
	nextAt                     core.Micros
	sends                      []core.Micros // when packets of the cadence went out
}

// NewCongestionModel returns a new machine (PKC-2).
func NewCongestionModel(p protocol.Profile) *CongestionModel {
	return &CongestionModel{profile: p, state: "BAD", recovery: 4_000_000, goodSince: core.Never}
}

// Evaluate is PKC-2. It returns the last row taken.
func (c *CongestionModel) Evaluate(now core.Micros, is protocol.Conditions) (row string) {
	c.now = max(c.now, now)
	for c.state == "GOOD" && c.recovery > 1_000_000 && c.now-c.halved >= 10_000_000 { // C3
		c.recovery = max(c.recovery/2, 1_000_000)
		c.halved += 10_000_000
	}
	conditions := c.conditions(is)
	switch {
	case c.state == "GOOD" && conditions == "bad" && c.now-c.entered < 10_000_000:
		row = "C1"
		c.recovery = min(2*c.recovery, 60_000_000)
		c.becomeBad()
	case c.state == "GOOD" && conditions == "bad":
		row = "C2"
		c.becomeBad()
	case c.state == "GOOD":
		row = "C4"
	case conditions != "good":
		row = "C5"
		c.goodSince = core.Never
	case c.goodSince == core.Never:
		row = "C6"
		c.goodSince = c.now
	case c.now-c.goodSince >= c.recovery:
		row = "C7"
		c.state, c.entered, c.halved = "GOOD", c.now, c.now
	default:
		row = "C8"
	}
	return row
}

// becomeBad is FORGET and SLOW.
func (c *CongestionModel) becomeBad() {
	c.state, c.goodSince = "BAD", core.Never
	if n := len(c.sends); n > 0 {
		c.nextAt = max(c.nextAt, c.sends[n-1]+100_000)
	}
}

// conditions is PKC-1 and PKC-4.
func (c *CongestionModel) conditions(is protocol.Conditions) string {
	limit := core.Micros(250_000)
	if c.profile == protocol.ProfileDefault {
		limit = max(limit, is.MinRTT*3/2)
	}
	switch {
	case is.Silent, is.Measured && is.SRTT > limit:
		return "bad"
	case !is.Measured:
		return "unknown"
	}
	return "good"
}

// Sent is PKC-3.
func (c *CongestionModel) Sent(now core.Micros) {
	c.now = max(c.now, now)
	interval := core.Micros(100_000)
	if c.state == "GOOD" {
		interval = 33_333
	}
	c.nextAt = max(c.nextAt+interval, c.now)
	c.sends = append(c.sends, c.now)
}

// Deadline is PKC-8.
func (c *CongestionModel) Deadline() core.Micros {
	switch {
	case c.state == "GOOD" && c.recovery > 1_000_000:
		return c.halved + 10_000_000
	case c.state == "BAD" && c.goodSince != core.Never:
		return c.goodSince + c.recovery
	}
	return core.Never
}

// State returns the mode, the recovery and when the next packet of the cadence may go.
func (c *CongestionModel) State() (mode string, recovery, nextAt core.Micros) {
	return c.state, c.recovery, c.nextAt
}
