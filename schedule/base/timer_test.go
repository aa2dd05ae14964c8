package base

import (
	"testing"

	"github.com/chunkwire/chunkwire/internal/check"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/rtt"
	"github.com/chunkwire/chunkwire/sim/chunk/chunktest"
)

// measuredFlight has measured a round trip of rtt in a chunk before, and has
// n slices of another in flight.
func measuredFlight(t *testing.T, p Profile, rtt machine.Micros, n int) *flight {
	t.Helper()
	f := fly(t, p, 1)
	f.sends(0)
	f.at(rtt).acked(0)
	f.at(10 * machine.Second).begin(n)
	f.all()
	return f
}

// measured is an estimator after one sample.
func measured(r machine.Micros) (e rtt.Estimator) {
	e.Sample(r)
	return e
}

// From the slice on that was sent last (TMR-1, TMR-2).
func TestWithoutARoundTripTheTimerIs250Milliseconds(t *testing.T) {
	f := fly(t, atOnce, 1)
	f.sends(0)
	f.silentUntil(250 * ms)
	f.sends(0)
	f.silentUntil(500 * ms)
	f.sends(0)
}

func TestTheTimerStartsWithTheLastSlice(t *testing.T) {
	f := fly(t, Profile{Cap: maxCost, Spacing: 100 * ms}, 3)
	f.sends(0)
	f.at(100 * ms).sends(1)
	f.at(200 * ms).sends(2)
	f.silentUntil(450 * ms)
	f.sends(1)
	f.at(550 * ms).sends(2)
	check.Equal(t, "timeouts", f.Stats().Timeouts, 1)
}

// Of fast and of slow paths (TMR-2).
func TestTheTimerIsTheRoundTripAndItsMargin(t *testing.T) {
	for _, c := range []struct{ rtt, delay machine.Micros }{
		{ms, 6 * ms},
		{10 * ms, 15 * ms},
		{20 * ms, 30 * ms},
		{100 * ms, 150 * ms},
		{400 * ms, 600 * ms},
	} {
		f := measuredFlight(t, atOnce, c.rtt, 2)
		f.silentUntil(10*machine.Second + c.delay)
		f.sends(0, 1)
	}
}

// Where a slow path is no reason for more than one long wait (TMR-5).
func TestTheTimerBacksOff(t *testing.T) {
	for _, c := range []struct {
		name  string
		p     Profile
		rtt   machine.Micros
		waits []machine.Micros
	}{
		{"it doubles three times", atOnce, 20 * ms, []machine.Micros{30 * ms, 60 * ms, 120 * ms, 240 * ms, 240 * ms, 240 * ms}},
		{"it doubles up to 250 ms", atOnce, 40 * ms, []machine.Micros{60 * ms, 120 * ms, 240 * ms, 250 * ms, 250 * ms}},
		{"only the first wait is longer", atOnce, 400 * ms, []machine.Micros{600 * ms, 250 * ms, 250 * ms}},
		{"or eight times as long", atOnce, 1600 * ms, []machine.Micros{2400 * ms, 300 * ms, 300 * ms}},
		{"the article's", Article(0), 20 * ms, []machine.Micros{100 * ms, 200 * ms, 250 * ms, 250 * ms}},
	} {
		f := measuredFlight(t, c.p, c.rtt, 1)
		sent := 10 * machine.Second
		for i, wait := range c.waits {
			if got := f.Deadline() - sent; got != wait {
				t.Errorf("%s: wait %d is %d, want %d", c.name, i, got, wait)
			}
			f.silentUntil(f.Deadline())
			f.sends(0)
			sent = f.now
		}
	}
}

// The newest first (TMR-4).
func TestTwoFourThenEightProbes(t *testing.T) {
	f := fly(t, atOnce, 20)
	f.sends(chunktest.Range(0, 19)...)
	f.at(250*ms).sends(18, 19)
	f.at(500 * ms).sends(chunktest.Range(14, 17)...)
	f.at(750 * ms).sends(chunktest.Range(6, 13)...)
	f.at(1000*ms).sends(18, 19, 0, 1, 2, 3, 4, 5) // downward, in a circle; from the cursor on
	f.at(1250 * ms).sends(chunktest.Range(10, 17)...)
	check.Equal(t, "timeouts", f.Stats().Timeouts, 5)
}

func TestNoMoreProbesThanSlices(t *testing.T) {
	f := fly(t, atOnce, 3)
	f.sends(0, 1, 2)
	f.at(250*ms).sends(1, 2)
	f.at(500*ms).sends(0, 1, 2)
}

// There is nothing to learn from it (TMR-4, SCH-1).
func TestProbesSkipWhatIsAcked(t *testing.T) {
	f := fly(t, atOnce, 6)
	f.sends(chunktest.Range(0, 5)...)
	f.at(10*ms).acked(0, 1)
	f.at(100*ms).sends(4, 5)
}

func TestNewsMakesTheTimerPatientAgain(t *testing.T) {
	f := measuredFlight(t, atOnce, 20*ms, 12) // timer 30 ms, margin 10 ms
	f.silentUntil(10*machine.Second + 30*ms)
	f.sends(10, 11)
	f.silentUntil(10*machine.Second + 90*ms)
	f.sends(6, 7, 8, 9)
	f.at(10*machine.Second + 95*ms).acked(0) // nothing was overtaken
	f.rtt = measured(20 * ms)
	f.silentUntil(10*machine.Second + 120*ms)
	f.sends(10, 11) // two again, the newest
}

// Acks that come give hope of more (TMR-1, TMR-3).
func TestNewsPutsTheTimerOffByTheMargin(t *testing.T) {
	f := measuredFlight(t, atOnce, 100*ms, 4) // timer 150 ms, margin 50 ms
	f.at(10*machine.Second + 99*ms).acked(0)
	f.rtt = measured(100 * ms)
	f.silentUntil(10*machine.Second + 150*ms)
	f.now = 10*machine.Second + 101*ms
	f.acked(1)
	f.rtt = measured(100 * ms)
	f.silentUntil(10*machine.Second + 151*ms)
	f.sends(2, 3)
}

func TestTheTimerRunsOnlyWhileAllIsInFlight(t *testing.T) {
	f := fly(t, Profile{Cap: maxCost, Spacing: machine.Second}, 3)
	f.sends(0)
	f.silentUntil(machine.Second)
	f.sends(1)
	f.silentUntil(2 * machine.Second)
	f.sends(2)
	check.Equal(t, "timeouts", f.Stats().Timeouts, 0)
	f.silentUntil(2*machine.Second + 250*ms)
}

// A fixed delay has no margin: a newly acked slice at the very time does not put it off (TMR-3).
func TestAFixedDelayHasNoMargin(t *testing.T) {
	f := fly(t, Article(0), 2)
	f.sends(0, 1)
	f.at(100 * ms).acked(0)
	f.sends(1)
}

// The shortest fixed resend delay is one, and not none (TMR-2).
func TestAResendDelayOfAMicrosecond(t *testing.T) {
	f := fly(t, Profile{Cap: maxCost, ResendDelay: 1}, 1)
	f.sends(0)
	check.Equal(t, "deadline", f.Deadline(), 1)
}

// While nothing is known of the round trip there is no margin: an ack of new slices
// that comes after the delay leaves no time at all (TMR-3).
func TestNoMarginWithoutARoundTrip(t *testing.T) {
	f := fly(t, atOnce, 2)
	f.sends(0, 1)
	f.at(250*ms).sends(0, 1)
	f.at(600 * ms).acked(1)
	check.Equal(t, "deadline", f.Deadline(), 600*ms)
}

// A round trip at first, then a quarter of the time that the hold has lasted, and
// 250 ms at most; one probe each time, and neither margin nor back-off (TMR-6,
// TMR-4).
func TestProbesOfAHoldBecomeRarer(t *testing.T) {
	for _, c := range []struct {
		name  string
		f     *flight
		waits []machine.Micros // in milliseconds
	}{
		{"round trip of 40 ms", measuredFlight(t, atOnce, 40*ms, 3),
			[]machine.Micros{40, 40, 40, 40, 40, 50, 62, 78, 97, 122, 152, 190, 238, 250, 250}},
		{"no shorter than 2 ms", measuredFlight(t, atOnce, 100, 3),
			[]machine.Micros{2, 2, 2, 2, 2, 2, 3, 3, 4, 6, 7, 9, 11, 14, 18}},
		{"nothing is known", fly(t, atOnce, 3), []machine.Micros{250, 250, 250}},
		{"fixed delay", measuredFlight(t, Article(0), 40*ms, 3), []machine.Micros{100, 100, 100, 100}},
	} {
		c.f.all()
		start := c.f.now
		c.f.at(start + 5*ms).Held(c.f.now)
		var waits []machine.Micros
		for range c.waits {
			before := c.f.now
			c.f.silentUntil(c.f.Deadline())
			check.Equal(t, c.name+": probes", len(c.f.all()), 1)
			c.f.Held(c.f.now) // held_at stays that of the first one
			waits = append(waits, (c.f.now-before)/ms)
		}
		check.Equal(t, c.name+": waits", waits, c.waits)
	}
}

// An ack of new slices ends the hold, and with it its timer (TMR-6, SCH-8).
func TestAnAckEndsTheProbesOfAHold(t *testing.T) {
	f := measuredFlight(t, atOnce, 40*ms, 3)
	f.at(f.now + 50*ms).Held(f.now)
	f.at(f.now + 40*ms).sends(2)
	f.acked(2)
	f.rtt = measured(40 * ms)
	f.sends(0) // overtaken
	f.silentUntil(f.now + 60*ms)
}
