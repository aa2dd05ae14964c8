package packet

import (
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/table"
)

// The constants of section 9 (PKP-5).
const (
	BadRTT        = 250 * core.Millisecond // a longer round trip is bad
	FirstRecovery = 4 * core.Second        // how long conditions must first be good
	LeastRecovery = core.Second            // of a recovery
	MostRecovery  = 60 * core.Second       // of a recovery
	ShortGood     = 10 * core.Second       // a GOOD that was shorter doubles the recovery
	Reward        = 10 * core.Second       // of GOOD halve the recovery
	GoodInterval  = core.Micros(33_333)
	BadInterval   = 100 * core.Millisecond
)

// Profile says what counts as bad conditions (PKC-4).
type Profile uint8

const (
	// ProfileDefault takes a path of a long round trip as good as long as it is not
	// half as long again as its smallest one.
	ProfileDefault Profile = iota
	// ProfileArticle takes every round trip above BadRTT for bad, as the article does.
	ProfileArticle
)

// Conditions are the estimates of the path (PKC-1).
type Conditions struct {
	Measured bool        // there is a round trip
	SRTT     core.Micros // the smoothed one
	MinRTT   core.Micros // the smallest recent one
	Silent   bool        // packets sent since the newest ack are being lost
}

// Congestion decides between two modes of sending (section 9). It is a machine of its
// own; an Endpoint has one. Its variables are in PKC-5.
type Congestion struct {
	state    Mode
	row      core.Row
	now      core.Micros
	profile  Profile
	recovery core.Micros // how long conditions must be good before GOOD comes back

	goodSince core.Micros // in BAD: since when they are good, or Never
	entered   core.Micros // in GOOD: when it began
	halved    core.Micros // in GOOD: when the recovery was halved last

	nextAt   core.Micros // when a packet of the regular cadence can go (PKC-3)
	lastSent core.Micros
	anySent  bool
}

// NewCongestion returns a machine that is BAD (PKC-2).
func NewCongestion(p Profile) Congestion {
	return Congestion{profile: p, recovery: FirstRecovery, goodSince: core.Never}
}

// Mode is how much can be sent.
type Mode uint8

const (
	// Bad allows 10 packets a second. It leaves when conditions were good for the time
	// of recovery.
	Bad Mode = iota
	// Good allows 30 packets a second. It leaves when conditions are bad.
	Good
)

func (m Mode) String() string { return [...]string{"BAD", "GOOD"}[m] }

// Interval returns the time between two packets of the regular cadence.
func (m Mode) Interval() core.Micros { return [...]core.Micros{BadInterval, GoodInterval}[m] }

// The guards of section 9 (PKC-6).
var (
	congestionGuards table.Guards

	rewardDue  = congestionGuards.Add("time", "reward")
	badSoon    = congestionGuards.Add("conditions", "bad, within SHORT")
	badLater   = congestionGuards.Add("conditions", "bad, after SHORT")
	notBad     = congestionGuards.Add("conditions", "not bad")
	notGood    = congestionGuards.Add("conditions", "not good")
	goodFirst  = congestionGuards.Add("conditions", "good, since now")
	goodEnough = congestionGuards.Add("conditions", "good, for recovery")
	goodNotYet = congestionGuards.Add("conditions", "good, not for long")
)

// The actions of section 9 (PKC-7).
type congestionAction = table.Action[Congestion, struct{}]

var (
	lengthen = congestionAction{Name: "LENGTHEN", Do: func(c *Congestion, _ struct{}) { c.recovery = min(2*c.recovery, MostRecovery) }}
	forget   = congestionAction{Name: "FORGET", Do: func(c *Congestion, _ struct{}) { c.goodSince = core.Never }}
	begin    = congestionAction{Name: "BEGIN", Do: func(c *Congestion, _ struct{}) { c.goodSince = c.now }}
	reward   = congestionAction{Name: "REWARD", Do: (*Congestion).reward}
	enter    = congestionAction{Name: "ENTER", Do: func(c *Congestion, _ struct{}) { c.entered, c.halved = c.now, c.now }}
	slow     = congestionAction{Name: "SLOW", Do: (*Congestion).slow}
)

type congestionTransition = table.Transition[Mode, uint8, Congestion, struct{}]

func congestionRow(row core.Row, from Mode, guard uint8, to Mode, does ...congestionAction) congestionTransition {
	return congestionTransition{Row: row, From: from, If: guard, To: to, Do: does}
}

// congestionTable is the machine: every transition that there is (section 9).
var congestionTable = table.New(2, congestionGuards, []congestionTransition{
	congestionRow("C1", Good, badSoon, Bad, lengthen, forget, slow),
	congestionRow("C2", Good, badLater, Bad, forget, slow),
	congestionRow("C3", Good, rewardDue, Good, reward),
	congestionRow("C4", Good, notBad, Good),
	congestionRow("C5", Bad, notGood, Bad, forget),
	congestionRow("C6", Bad, goodFirst, Bad, begin),
	congestionRow("C7", Bad, goodEnough, Good, enter),
	congestionRow("C8", Bad, goodNotYet, Bad),
})

// CongestionTable returns the rows of the table.
func CongestionTable() []core.Line { return congestionTable.Lines() }

func (c *Congestion) step(guard uint8) {
	congestionTable.Step(c, &c.state, &c.row, guard, struct{}{})
}

// Evaluate takes the conditions as they are at now (PKC-2). A time before the latest one
// counts as that one (PKN-3).
func (c *Congestion) Evaluate(now core.Micros, is Conditions) {
	c.now = max(c.now, now)
	for c.rewardAt() <= c.now {
		c.step(rewardDue)
	}
	c.step(c.guard(is))
}

// guard returns the guard of the conditions (PKC-1).
func (c *Congestion) guard(is Conditions) uint8 {
	bad := is.Silent || is.Measured && is.SRTT > c.limit(is.MinRTT)
	good := is.Measured && !bad
	switch {
	case c.state == Good && !bad:
		return notBad
	case c.state == Good && c.now-c.entered < ShortGood:
		return badSoon
	case c.state == Good:
		return badLater
	case !good:
		return notGood
	case c.goodSince == core.Never:
		return goodFirst
	case c.now-c.goodSince >= c.recovery:
		return goodEnough
	}
	return goodNotYet
}

// limit returns the round trip above which conditions are bad (PKC-4).
func (c *Congestion) limit(least core.Micros) core.Micros {
	if c.profile == ProfileArticle {
		return BadRTT
	}
	return max(BadRTT, least*3/2)
}

// rewardAt returns when the recovery is halved next, or Never.
func (c *Congestion) rewardAt() core.Micros {
	if c.state != Good || c.recovery <= LeastRecovery {
		return core.Never
	}
	return c.halved + Reward
}

func (c *Congestion) reward(struct{}) {
	c.recovery = max(c.recovery/2, LeastRecovery)
	c.halved += Reward
}

// slow makes the next packet wait as BAD asks (PKC-3).
func (c *Congestion) slow(struct{}) {
	if c.anySent {
		c.nextAt = max(c.nextAt, c.lastSent+BadInterval)
	}
}

// Sent says that a packet of the regular cadence was sent at now (PKC-3).
func (c *Congestion) Sent(now core.Micros) {
	c.now = max(c.now, now)
	c.nextAt = max(c.nextAt+c.state.Interval(), c.now)
	c.lastSent, c.anySent = c.now, true
}

// NextAt returns when the next packet of the regular cadence can go (PKC-3).
func (c *Congestion) NextAt() core.Micros { return c.nextAt }

// Mode returns the mode as of the latest evaluation.
func (c *Congestion) Mode() Mode { return c.state }

// Recovery returns how long conditions must be good before GOOD comes back.
func (c *Congestion) Recovery() core.Micros { return c.recovery }

// Deadline returns when time alone changes something, if conditions stay as they are
// (PKC-8).
func (c *Congestion) Deadline() core.Micros {
	if c.state == Bad && c.goodSince != core.Never {
		return c.goodSince + c.recovery
	}
	return c.rewardAt()
}
