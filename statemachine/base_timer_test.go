package statemachine

import "testing"

// measuredFlight has measured a round trip of rtt in a chunk before, and has
// n slices of another in flight.
func measuredFlight(t *testing.T, p Profile, rtt Micros, n int) *flight {
	t.Helper()
	f := fly(t, p, 1)
	f.sends(0)
	f.at(rtt).acked(0)
	f.at(10 * Second).begin(n)
	f.all()
	return f
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
	f := fly(t, Profile{Spacing: 100 * ms}, 3)
	f.sends(0)
	f.at(100 * ms).sends(1)
	f.at(200 * ms).sends(2)
	f.silentUntil(450 * ms)
	f.sends(1)
	f.at(550 * ms).sends(2)
	wantEqual(t, "timeouts", f.Stats().Timeouts, 1)
}

// Of fast and of slow paths (TMR-2).
func TestTheTimerIsTheRoundTripAndItsMargin(t *testing.T) {
	for _, c := range []struct{ rtt, delay Micros }{
		{ms, 6 * ms},
		{10 * ms, 15 * ms},
		{20 * ms, 30 * ms},
		{100 * ms, 150 * ms},
		{400 * ms, 600 * ms},
	} {
		f := measuredFlight(t, atOnce, c.rtt, 2)
		f.silentUntil(10*Second + c.delay)
		f.sends(0, 1)
	}
}

// Where a slow path is no reason for more than one long wait (TMR-5).
func TestTheTimerBacksOff(t *testing.T) {
	for _, c := range []struct {
		name  string
		p     Profile
		rtt   Micros
		waits []Micros
	}{
		{"it doubles three times", atOnce, 20 * ms, []Micros{30 * ms, 60 * ms, 120 * ms, 240 * ms, 240 * ms, 240 * ms}},
		{"it doubles up to 250 ms", atOnce, 40 * ms, []Micros{60 * ms, 120 * ms, 240 * ms, 250 * ms, 250 * ms}},
		{"only the first wait is longer", atOnce, 400 * ms, []Micros{600 * ms, 250 * ms, 250 * ms}},
		{"or eight times as long", atOnce, 1600 * ms, []Micros{2400 * ms, 300 * ms, 300 * ms}},
		{"the article's", Article(0), 20 * ms, []Micros{100 * ms, 200 * ms, 250 * ms, 250 * ms}},
	} {
		f := measuredFlight(t, c.p, c.rtt, 1)
		sent := 10 * Second
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
	f.sends(upTo(0, 19)...)
	f.at(250*ms).sends(18, 19)
	f.at(500 * ms).sends(upTo(14, 17)...)
	f.at(750 * ms).sends(upTo(6, 13)...)
	f.at(1000*ms).sends(18, 19, 0, 1, 2, 3, 4, 5) // downward, in a circle; from the cursor on
	f.at(1250 * ms).sends(upTo(10, 17)...)
	wantEqual(t, "timeouts", f.Stats().Timeouts, 5)
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
	f.sends(upTo(0, 5)...)
	f.at(10*ms).acked(0, 1)
	f.at(100*ms).sends(4, 5)
}

func TestNewsMakesTheTimerPatientAgain(t *testing.T) {
	f := measuredFlight(t, atOnce, 20*ms, 12) // timer 30 ms, margin 10 ms
	f.silentUntil(10*Second + 30*ms)
	f.sends(10, 11)
	f.silentUntil(10*Second + 90*ms)
	f.sends(6, 7, 8, 9)
	f.at(10*Second + 95*ms).acked(0) // nothing was overtaken
	f.rtt = measured(20 * ms)
	f.silentUntil(10*Second + 120*ms)
	f.sends(10, 11) // two again, the newest
}

// Acks that come give hope of more (TMR-1, TMR-3).
func TestNewsPutsTheTimerOffByTheMargin(t *testing.T) {
	f := measuredFlight(t, atOnce, 100*ms, 4) // timer 150 ms, margin 50 ms
	f.at(10*Second + 99*ms).acked(0)
	f.rtt = measured(100 * ms)
	f.silentUntil(10*Second + 150*ms)
	f.now = 10*Second + 101*ms
	f.acked(1)
	f.rtt = measured(100 * ms)
	f.silentUntil(10*Second + 151*ms)
	f.sends(2, 3)
}

func TestTheTimerRunsOnlyWhileAllIsInFlight(t *testing.T) {
	f := fly(t, Profile{Spacing: Second}, 3)
	f.sends(0)
	f.silentUntil(Second)
	f.sends(1)
	f.silentUntil(2 * Second)
	f.sends(2)
	wantEqual(t, "timeouts", f.Stats().Timeouts, 0)
	f.silentUntil(2*Second + 250*ms)
}

// A fixed delay has no margin: news at the very time does not put it off (TMR-3).
func TestAFixedDelayHasNoMargin(t *testing.T) {
	f := fly(t, Article(0), 2)
	f.sends(0, 1)
	f.at(100 * ms).acked(0)
	f.sends(1)
}
