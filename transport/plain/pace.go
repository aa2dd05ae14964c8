package plain

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
)

// moreOfIPv6 is how many bytes longer its header is than that of IPv4, which
// codec.HeaderBytes counts.
const moreOfIPv6 = 20

// firstTrialWait is how long the second slice waits that goes to a peer that is not
// validated, with Config.LimitUnvalidated (SEC-4, SEC-7).
const firstTrialWait = 250 * core.Millisecond

// onTrialLocked reports whether the peer must ack a slice before it gets more than one
// at a time.
func (c *Conn) onTrialLocked() bool {
	return c.begun && !c.validated && c.endpoint.cfg.LimitUnvalidated
}

// spendLocked notes that a slice goes out, in a datagram of so many bytes.
func (c *Conn) spendLocked(now core.Micros, bytes int) {
	header := codec.HeaderBytes
	if c.peer.IPv6() {
		header += moreOfIPv6
	}
	c.lanes.Spend(now, bytes+header)
	if c.onTrialLocked() {
		longest := max(core.FromDuration(c.endpoint.cfg.GiveUp/2), firstTrialWait)
		c.trialWait = min(max(2*c.trialWait, firstTrialWait), longest)
		c.lanes.Hold(now + c.trialWait)
	}
}
