package control

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
)

// The modes of eventlog.Metrics: the first of these that is so, in the terms of RECOVERY.md.
const (
	modeFixed     = "fixed"     // the profile has the rate (PRO-4)
	modeBurst     = "burst"     // and this one does not wait for it (PRO-2)
	modeSilent    = "silent"    // the limit was halved, since nothing is heard (PTO-7)
	modeBroken    = "broken"    // most is lost whatever is sent: growth has stopped (BRK-6)
	modeDrain     = "drain"     // the queue empties (ROOM-1)
	modeLook      = "look"      // is less lost at a lower rate? (LSS-3)
	modeContested = "contested" // others fill the queue (OTH-2)
	modeOpening   = "opening"   // no queue was seen yet (ROOM-4)
	modeSteady    = "steady"    // none of these
)

func (c *Controller) mode() string {
	switch {
	case c.config.Fixed:
		return modeFixed
	case c.config.Burst:
		return modeBurst
	case c.silenced:
		return modeSilent
	case c.breaker.open:
		return modeBroken
	case c.Drains():
		return modeDrain
	case c.loss.phase != steady:
		return modeLook
	case c.limit.others:
		return modeContested
	case c.limit.opening:
		return modeOpening
	}
	return modeSteady
}

// Report gives the figures to a log: at most once a round trip, once before it is known, and
// when the mode is another.
// The limit is left out where it holds nothing back.
func (c *Controller) Report(now core.Micros, log eventlog.Log) {
	if log == nil {
		return
	}
	mode := c.mode()
	if mode == c.reportedMode && (now < c.reportAt || c.RTT.Smoothed == 0) {
		return
	}
	c.reportedMode, c.reportAt = mode, now+max(c.RTT.Smoothed, core.Millisecond)
	e := eventlog.Event{
		Kind: eventlog.Metrics, At: now, InFlight: c.flight,
		RTT: c.RTT.Smoothed, MinRTT: c.MinRTT(), Mode: mode,
	}
	if c.base.value > 0 {
		e.Rate = (codec.MaxDatagramSize + codec.HeaderBytes) * 8_000_000_000 / c.interval(false)
	}
	if !c.config.Fixed && !c.config.Burst { // as HasRoom has it
		e.Limit = c.PathSlices()
	}
	log(e)
}
