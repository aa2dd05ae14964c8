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
	modeDrain     = "drain"     // the queue empties (WIN-4)
	modeLook      = "look"      // is less lost at a lower rate? (CAP-3)
	modeCapped    = "capped"    // the rate is held below what is lost (CAP-5)
	modeContested = "contested" // others fill the queue (CTD-1)
	modeOpening   = "opening"   // no queue was seen yet (LMT-1)
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
	case c.Drains():
		return modeDrain
	case c.cap.look > 0:
		return modeLook
	case c.cap.interval > 0:
		return modeCapped
	case c.limit.contested:
		return modeContested
	case c.limit.opening:
		return modeOpening
	}
	return modeSteady
}

// Report gives the figures to a log: at most once a round trip, once before it is known, and
// when the mode is another.
// Window and limit are left out where they hold nothing back.
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
	p := c.PerSlice()
	if p > 0 {
		e.Rate = (codec.MaxDatagramSize + codec.HeaderBytes) * 8_000_000_000 / p
	}
	if bounded := !c.config.Fixed && !c.config.Burst; bounded { // as HasRoom has it
		if p > 0 && (!c.limit.contested || c.Drains()) {
			e.Window = c.Window()
		}
		if c.config.has(Limit) {
			e.Limit = c.limitSlices()
		}
	}
	log(e)
}
