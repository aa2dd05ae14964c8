package packetoracle

// The constants of section 9, in microseconds.
const (
	BadRTT        = 250_000
	FirstRecovery = 4_000_000
	LeastRecovery = 1_000_000
	MostRecovery  = 60_000_000
	BadInterval   = 100_000
	GoodInterval  = 33_333
	Short         = 10_000_000
	Reward        = 10_000_000
)

// Congestion is the two states of section 9.
type Congestion struct {
	adapts    bool // the profile default
	now       int64
	good      bool
	recovery  int64
	goodSince int64
	entered   int64
	halved    int64
	sends     []int64 // when packets of the cadence went out
	nextAt    int64
}

// NewCongestion returns the machine with the profile "article" or "default".
func NewCongestion(profile string) *Congestion {
	return &Congestion{adapts: profile == "default", recovery: FirstRecovery, goodSince: never}
}

// Good reports whether the state is GOOD.
func (c *Congestion) Good() bool { return c.good }

// Recovery is how long conditions must be good before GOOD comes back.
func (c *Congestion) Recovery() int64 { return c.recovery }

// Deadline is PKC-8.
func (c *Congestion) Deadline() int64 {
	switch {
	case c.good && c.recovery > LeastRecovery:
		return c.halved + Reward
	case !c.good && c.goodSince != never:
		return c.goodSince + c.recovery
	}
	return never
}

// Evaluate takes the rows that conditions lead to, and returns them (PKC-2). srtt is
// nil if nothing is measured.
func (c *Congestion) Evaluate(now int64, srtt *int64, minRTT int64, silent bool) (rows []string) {
	c.now = max(c.now, now)
	now = c.now
	limit := int64(BadRTT)
	if c.adapts {
		limit = max(limit, minRTT*3/2)
	}
	bad := srtt != nil && *srtt > limit || silent
	good := !bad && srtt != nil
	if c.good {
		for c.recovery > LeastRecovery && now-c.halved >= Reward {
			c.recovery = max(c.recovery/2, LeastRecovery)
			c.halved += Reward
			rows = append(rows, "C3")
		}
		switch {
		case bad && now-c.entered < Short:
			c.recovery = min(2*c.recovery, MostRecovery)
			c.becomeBad()
			return append(rows, "C1")
		case bad:
			c.becomeBad()
			return append(rows, "C2")
		}
		return append(rows, "C4")
	}
	if !good {
		c.goodSince = never
		return append(rows, "C5")
	}
	if c.goodSince == never {
		c.goodSince = now
		return append(rows, "C6")
	}
	if now-c.goodSince >= c.recovery {
		c.good, c.entered, c.halved = true, now, now
		return append(rows, "C7")
	}
	return append(rows, "C8")
}

// becomeBad is FORGET and SLOW (PKC-3).
func (c *Congestion) becomeBad() {
	c.good, c.goodSince = false, never
	if n := len(c.sends); n > 0 {
		c.nextAt = max(c.nextAt, c.sends[n-1]+BadInterval)
	}
}

// Sent says that a packet of the cadence went out (PKC-3).
func (c *Congestion) Sent(now int64) {
	c.now = max(c.now, now)
	interval := int64(BadInterval)
	if c.good {
		interval = GoodInterval
	}
	c.nextAt = max(c.nextAt+interval, c.now)
	c.sends = append(c.sends, c.now)
}

// NextAt is when the next packet of the cadence may go.
func (c *Congestion) NextAt() int64 { return c.nextAt }
