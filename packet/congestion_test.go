package packet

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

const second = core.Second

var (
	goodPath = Conditions{Measured: true, SRTT: BadRTT}
	badPath  = Conditions{Measured: true, SRTT: BadRTT + 1}
	silent   = Conditions{Measured: true, SRTT: BadRTT, Silent: true}
	unknown  = Conditions{}
)

// good returns a machine that became GOOD at 4 s.
func goodMachine() Congestion {
	c := NewCongestion(ProfileArticle)
	c.Evaluate(0, goodPath)
	c.Evaluate(FirstRecovery, goodPath)
	return c
}

func badMachine() Congestion { return NewCongestion(ProfileArticle) }

// Every row, to the microsecond (C1 to C8).
func TestRowsOfCongestion(t *testing.T) {
	type step struct {
		at core.Micros
		is Conditions
	}
	for _, c := range []struct {
		row      string
		start    func() Congestion
		steps    []step
		mode     Mode
		recovery core.Micros
		deadline core.Micros
	}{
		{"C1", goodMachine, []step{{4*second + ShortGood - 1, badPath}}, Bad, 8 * second, core.Never},
		{"C1", goodMachine, []step{{5 * second, silent}}, Bad, 8 * second, core.Never},
		{"C2", goodMachine, []step{{4*second + ShortGood, badPath}}, Bad, 2 * second, core.Never},
		{"C4", goodMachine, []step{{4*second + Reward - 1, goodPath}}, Good, 4 * second, 14 * second},
		{"C4", goodMachine, []step{{4*second + Reward, goodPath}}, Good, 2 * second, 24 * second},
		{"C4", goodMachine, []step{{4*second + 2*Reward, unknown}}, Good, second, core.Never},
		{"C4", goodMachine, []step{{4000 * second, goodPath}}, Good, second, core.Never},
		{"C5", badMachine, []step{{0, unknown}}, Bad, 4 * second, core.Never},
		{"C5", badMachine, []step{{0, goodPath}, {1, badPath}}, Bad, 4 * second, core.Never},
		{"C6", badMachine, []step{{7, goodPath}}, Bad, 4 * second, 4*second + 7},
		{"C6", badMachine, []step{{0, goodPath}, {1, silent}, {2, goodPath}}, Bad, 4 * second, 4*second + 2},
		{"C7", badMachine, []step{{7, goodPath}, {4*second + 7, goodPath}}, Good, 4 * second, 14*second + 7},
		{"C8", badMachine, []step{{7, goodPath}, {4*second + 6, goodPath}}, Bad, 4 * second, 4*second + 7},
	} {
		m := c.start()
		for _, s := range c.steps {
			m.Evaluate(s.at, s.is)
		}
		check.Equal(t, "row", string(m.row), c.row)
		check.Equal(t, c.row+": mode", m.Mode(), c.mode)
		check.Equal(t, c.row+": recovery", m.Recovery(), c.recovery)
		check.Equal(t, c.row+": deadline", m.Deadline(), c.deadline)
	}
}

// C3 comes first, once for each 10 s that have passed: a GOOD of exactly 10 s is rewarded
// before it ends.
func TestRewards(t *testing.T) {
	m := goodMachine()
	m.recovery = MostRecovery
	for i, want := range []core.Micros{30_000_000, 15_000_000, 7_500_000, 3_750_000, 1_875_000, 1_000_000, 1_000_000} {
		m.Evaluate(4*second+Reward*core.Micros(i+1), goodPath)
		check.Equal(t, "recovery", m.Recovery(), want)
	}
	m = goodMachine()
	m.recovery = MostRecovery
	m.Evaluate(4*second+25*second, badPath)
	check.Equal(t, "two at once, then BAD", m.Recovery(), 15*second)
	check.Equal(t, "mode", m.Mode(), Bad)
}

// Each GOOD that is short doubles the time of BAD: 4, 8, 16, 32, 60, 60 s (PKT-BND-3).
func TestBadLastsLonger(t *testing.T) {
	m := badMachine()
	now := core.Micros(0)
	for _, want := range []core.Micros{4, 8, 16, 32, 60, 60} {
		m.Evaluate(now, goodPath)
		check.Equal(t, "deadline", m.Deadline(), now+want*second)
		m.Evaluate(m.Deadline()-1, goodPath)
		check.Equal(t, "mode", m.Mode(), Bad)
		m.Evaluate(m.Deadline(), goodPath)
		check.Equal(t, "mode", m.Mode(), Good)
		now = m.now + second
		m.Evaluate(now, badPath)
	}
}

// A path of a long round trip is bad in the article; in the default profile it is not as
// long as it is near its smallest (PKC-4).
func TestProfiles(t *testing.T) {
	for _, c := range []struct {
		profile     Profile
		srtt, least core.Micros
		bad         bool
	}{
		{ProfileArticle, 250 * ms, 0, false},
		{ProfileArticle, 250*ms + 1, 250 * ms, true},
		{ProfileArticle, 600 * ms, 600 * ms, true},
		{ProfileDefault, 250 * ms, 0, false},
		{ProfileDefault, 250*ms + 1, 100 * ms, true},
		{ProfileDefault, 900 * ms, 600 * ms, false},
		{ProfileDefault, 900*ms + 1, 600 * ms, true},
	} {
		m := NewCongestion(c.profile)
		m.Evaluate(0, Conditions{Measured: true, SRTT: c.srtt, MinRTT: c.least})
		check.Equal(t, "bad", m.Deadline() == core.Never, c.bad)
	}
}

// A round trip that was not measured does not count, whatever it says.
func TestWhatIsNotMeasured(t *testing.T) {
	m := badMachine()
	m.Evaluate(0, Conditions{SRTT: 1})
	check.Equal(t, "row", string(m.row), "C5")
	m = goodMachine()
	m.Evaluate(5*second, Conditions{SRTT: second})
	check.Equal(t, "row", string(m.row), "C4")
	m.Evaluate(6*second, Conditions{Silent: true})
	check.Equal(t, "silence counts", string(m.row), "C1")
}

// The regular cadence: 10 a second in BAD, 30 in GOOD; what is late does not burst, and
// BAD slows the next packet (PKC-3).
func TestTheCadence(t *testing.T) {
	m := badMachine()
	check.Equal(t, "at first", m.NextAt(), 0)
	m.Sent(0)
	check.Equal(t, "BAD", m.NextAt(), 100*ms)
	m.Sent(101 * ms)
	check.Equal(t, "a little late", m.NextAt(), 200*ms)
	m.Sent(900 * ms)
	check.Equal(t, "very late", m.NextAt(), 900*ms)
	m = goodMachine()
	m.Sent(5 * second)
	m.Sent(5 * second)
	check.Equal(t, "GOOD", m.NextAt(), 5*second+33_333)
	m.Evaluate(5*second+1, badPath)
	check.Equal(t, "BAD", m.NextAt(), 5*second+100*ms)
	m = goodMachine()
	m.Evaluate(5*second, badPath)
	check.Equal(t, "nothing was sent", m.NextAt(), 0)
	m = goodMachine()
	m.nextAt = 9 * second
	m.Sent(4 * second)
	m.Evaluate(5*second, badPath)
	check.Equal(t, "it is later anyhow", m.NextAt(), 9*second+33_333)
	check.Equal(t, "a second", []core.Micros{Good.Interval() * 30, Bad.Interval() * 10}, []core.Micros{999_990, second})
}

// Times that go back count as the latest (PKN-3).
func TestCongestionsTimeGoesBack(t *testing.T) {
	m := badMachine()
	m.Evaluate(10*second, goodPath)
	m.Evaluate(0, goodPath)
	check.Equal(t, "deadline", m.Deadline(), 14*second)
	m.Sent(3 * second)
	check.Equal(t, "last sent", m.lastSent, 10*second)
}

// In any run recovery stays within its bounds, GOOD follows only good conditions without a
// break for recovery, and 60 s of them end in GOOD (PKT-SAFE-5, PKT-LIVE-4).
func TestModesInAnyRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := badMachine()
		now, since := core.Micros(0), core.Never
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			now += rapid.SampledFrom([]core.Micros{0, 1, 500 * ms, second, 4 * second, 10*second - 1, 61 * second}).Draw(t, "later")
			is := rapid.SampledFrom([]Conditions{goodPath, goodPath, goodPath, badPath, silent, unknown}).Draw(t, "conditions")
			before, recovery := m.Mode(), m.Recovery()
			if is != goodPath {
				since = core.Never
			} else {
				since = min(since, now)
			}
			m.Evaluate(now, is)
			check.That(t, m.Recovery() >= LeastRecovery && m.Recovery() <= MostRecovery, "recovery is within its bounds")
			if before == Bad && m.Mode() == Good {
				check.That(t, now-since >= recovery, "conditions were good for recovery")
			}
			if before == Bad && is == goodPath && now-since >= MostRecovery {
				check.Equal(t, "after 60 s", m.Mode(), Good)
			}
		}
	})
}

// An endpoint: silence is what was sent after the newest ack and lost, however long ago;
// an ack ends it (PKC-1, PKL-7).
func TestSilence(t *testing.T) {
	e := newEnd(t, Config{})
	isSilent := func() bool { return e.newestLost > e.newestAcked }
	roundTrips(e, 100*ms)
	later(second, e)
	e.sends("x") // 1
	e.sends("x") // 2
	e.gets(acking(t, 1, 2, 1))
	later(LostAfter, e)
	e.polls()
	check.Equal(t, "lost", e.said(), []string{"acked 0", "acked 2", "lost 1"})
	check.That(t, !isSilent(), "a newer one was acked")
	e.sends("x") // 3
	later(LostAfter, e)
	e.polls()
	check.That(t, isSilent() && e.congestion.goodSince == core.Never, "the newest is lost")
	later(100*second, e)
	e.polls()
	check.That(t, isSilent() && e.Mode() == Bad, "it stays silent")
	e.sends("\x00") // 4
	later(100*ms, e)
	e.gets(acking(t, 2, 4, 1))
	check.That(t, !isSilent(), "a quiet one is news, too")
	e.polls()
	check.That(t, e.congestion.goodSince == e.now, "conditions are good")
}

// A late ack with its sample ends the silence before it is evaluated (PKC-2).
func TestALateAckEndsSilence(t *testing.T) {
	e := newEnd(t, Config{Profile: ProfileDefault})
	e.sends("x")
	later(LostAfter, e)
	e.polls()
	e.gets(acking(t, 0, 0, 1))
	check.Equal(t, "row", string(e.congestion.row), "C6")
}

// Endpoints become GOOD and rest there, by their deadlines alone.
func TestAnEndpointBecomesGood(t *testing.T) {
	e := newEnd(t, Config{})
	roundTrips(e, 100*ms)
	for e.Deadline() != core.Never {
		e.now = e.Deadline()
		e.polls()
	}
	check.Equal(t, "mode", e.Mode(), Good)
	check.Equal(t, "recovery", e.Recovery(), LeastRecovery)
	check.Equal(t, "at", e.now, 100*ms+FirstRecovery+2*Reward)
	check.Equal(t, "next packet", e.NextAt(), BadInterval)
}
