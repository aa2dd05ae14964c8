package control

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/rtt"
	"github.com/chunkwire/chunkwire/statemachine"
)

const ms = core.Millisecond

// Config is what a profile says of the pace (section 17).
type Config struct {
	// MaxRate limits what is sent, in bits a second with IP and UDP headers:
	// statemachine.MinRate to MaxRate, or 0 for no limit (PRO-1).
	MaxRate int64
	Burst   bool // there is always room, and fresh slices are 85 us apart (PRO-2)
	Fixed   bool // MaxRate is the rate, and nothing is learned of it (PRO-4)
}

// Check returns an error that wraps core.ErrConfig for a figure that is not
// allowed. It names Profile.MaxRate, where applications set it.
func (c *Config) Check() error {
	if c.Fixed && c.MaxRate == 0 {
		return core.ConfigError("Profile.MaxRate", c.MaxRate, "a rate for the profile fixed")
	}
	return statemachine.CheckRate("Profile.MaxRate", c.MaxRate)
}

// limit returns the least nanoseconds between two slices at MaxRate (PRO-1).
func (c *Config) limit() int64 {
	if c.MaxRate == 0 {
		return 0
	}
	return (codec.MaxDatagramSize + codec.HeaderBytes) * 8_000_000_000 / c.MaxRate
}

// gapSlices is how many slices of a sender must be in flight for one to be overtaken by two (GAP_SIZE); with fewer
// only its timer finds a loss (SUS-3).
const gapSlices = 3

// Controller is what the senders of a connection know of the path, and when that lets
// a slice go. All lanes share one.
type Controller struct {
	RTT     rtt.Estimator
	config  Config
	base    base
	limit   limit
	loss    answer
	breaker breaker
	losses  Losses
	pace    pacer
	yields  bool // other packets must not wait (ROOM-3)

	flight  int // slices in flight, of all senders
	active  int // senders with a chunk in flight
	wanting int // senders that had something to send at their latest poll (PAC-5)

	newsAt     core.Micros // the latest newly acked slice, of any sender
	timeouts   int         // in a row without news
	unanswered int         // slices sent since there was news
	suspects   int64       // slices that timers gave up since there was news (SUS-1)
	silenced   bool        // the limit was halved for this silence (PTO-7)
	probeAt    core.Micros // no probes before (PTO-3)

	reportedMode string      // to the log
	reportAt     core.Micros // the next report, unless the mode changes
}

// New returns a controller that knows nothing of the path (REC-8).
func New(config Config) *Controller {
	return &Controller{config: config, limit: newLimit(), losses: newLosses()}
}

// Begin starts a chunk of a sender (REC-2).
func (c *Controller) Begin(now core.Micros, s *Share) {
	if !s.active {
		if c.active == 0 {
			c.resume(now)
		}
		s.active = true
		c.active++
	}
	c.Flight(s, 0) // what is left of one that was given up
	c.RTT.UseBound()
}

// Share is a sender's part in a controller: the zero value has none.
type Share struct {
	flight int
	active bool // a chunk is in flight
	wants  bool // something was to be sent at the latest poll
}

// Flight notes that a sender has n slices in flight (REC-1).
func (c *Controller) Flight(s *Share, n int) {
	c.flight += n - s.flight
	s.flight = n
	c.limit.most = max(c.limit.most, int64(c.flight)*whole)
}

// Leave ends a sender's part.
func (c *Controller) Leave(s *Share) {
	c.Flight(s, 0)
	c.want(s, false)
	if s.active {
		s.active = false
		c.active--
	}
}

// Take makes a sender that has a part in another controller one of this: a chunk that is in flight stays so (CXL-10).
func (c *Controller) Take(s *Share, from *Controller) {
	active := s.active
	from.Leave(s)
	if s.active = active; active {
		c.active++
	}
}

func (c *Controller) want(s *Share, wants bool) {
	switch {
	case wants && !s.wants:
		c.wanting++
	case !wants && s.wants:
		c.wanting--
	}
	s.wants = wants
}

// Go reports whether what the scheduler wants to send goes out at now, and counts
// it as sent (REC-5, from step 3 on; PAC-5, PTO-6). A fresh slice has the spacing of PRO-2.
func (c *Controller) Go(now core.Micros, s *Share, wants, fresh bool) bool {
	if c.wanting == 0 {
		c.pace.wait(now)
	}
	c.want(s, wants)
	if !wants || now < c.pace.when() {
		return false
	}
	c.unanswered++
	c.pace.spend(now, c.interval(fresh))
	return true
}

// Next returns when the pace lets the next slice go, in whole microseconds.
func (c *Controller) Next() core.Micros { return c.pace.when() }

// Clean takes a sample of the round trip of a slice that was sent once (EST-2).
func (c *Controller) Clean(now, r core.Micros) {
	r = max(rtt.Clip(r), 1)
	c.RTT.Sample(r)
	c.limit.sampled, c.limit.latest = true, r
	was, target := c.base.value, c.target()
	ended, near := c.base.add(now, r, max(c.RTT.Smoothed, r), target, c.limit.others)
	if was-c.base.value >= target/part {
		c.loss.forget() // it was learned with a queue that nobody saw (LSS-8)
	}
	if !ended {
		return
	}
	if near && c.limit.others {
		c.endContest(now)
	}
	c.restart(now) // DCS-6
}

// Resent takes a sample of a slice that was sent again, of which it is not known which transmission arrived.
// It tells of the queue where there is no better one (EST-3, DCS-9).
func (c *Controller) Resent(r core.Micros) {
	r = max(rtt.Clip(r), 1)
	c.RTT.Smooth(r)
	c.limit.wait(max(c.queue(r), 0))
}

// Arrived takes n slices that were newly acked, and how many slices were found lost, or fewer than
// none if some came late (REC-11).
func (c *Controller) Arrived(now core.Micros, n, lost int) {
	counted := int64(lost)
	if n > 0 {
		if !c.silenced && c.limit.size < gapSlices*whole*int64(c.active) {
			counted += c.suspects // SUS-3
		} else {
			c.breaker.count(c.suspects) // SUS-4
		}
		c.suspects = 0
		c.newsAt, c.timeouts, c.unanswered, c.silenced, c.probeAt = now, 0, 0, false, 0 // PTO-6
	}
	if c.base.expire(now) {
		c.restart(now) // DCS-6
	}
	c.losses.count(n+lost, n)
	c.decide(now, int64(n), counted)
}

// Marked takes so many new marks of congestion (ECN-1); nothing is sent again for them (ECN-2).
func (c *Controller) Marked(n int) { c.limit.marked += n }

// MinRTT returns the smallest clean sample of late (EST-6); 0 if there is none.
func (c *Controller) MinRTT() core.Micros { return c.base.value }

// Losses returns the recent losses and arrivals.
func (c *Controller) Losses() *Losses { return &c.losses }

// Vars are the variables that a controller keeps.
type Vars struct {
	SmoothedRTT, MinRTT  core.Micros // 0 while nothing is known
	PaceAt               core.Micros
	PaceNano             int64 // 0 to 999, beyond PaceAt
	Limit                int64 // in 64ths of a slice
	Flight               int
	Others               bool
	CalmLost, CalmPassed int64
}

// Vars returns the variables.
func (c *Controller) Vars() Vars {
	return Vars{c.RTT.Smoothed, c.MinRTT(), c.pace.at, c.pace.nano, c.limit.size, c.flight, c.limit.others, c.loss.calmLost, c.loss.calmPassed}
}
