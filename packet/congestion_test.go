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

// A late ack with its sample ends the silence before it is evaluated (PKC-2, PKL-7).
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
