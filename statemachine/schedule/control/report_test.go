package control

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
)

// The figures are reported at most once a round trip, and when the mode changes.
func TestReport(t *testing.T) {
	c := known(Config{}, 50*ms, 900_000).Controller
	c.limit.opening = false
	var seen []eventlog.Event
	log := func(e eventlog.Event) { seen = append(seen, e) }
	trip := c.RTT.Smoothed
	now := core.Second
	for range 10 {
		c.Report(now, log)
	}
	check.Equal(t, "at one time", len(seen), 1)
	e := seen[0]
	check.Equal(t, "rate", e.Rate, 1066*8_000_000_000/c.PerSlice())
	check.Equal(t, "window and limit", []int{e.Window, e.Limit}, []int{c.Window(), c.limitSlices()})
	check.Equal(t, "round trip", []core.Micros{e.RTT, e.MinRTT}, []core.Micros{trip, c.MinRTT()})
	check.Equal(t, "mode", e.Mode, modeSteady)

	c.Report(now+trip-1, log)
	check.Equal(t, "within a round trip", len(seen), 1)
	c.silenced = true
	c.Report(now+trip-1, log)
	check.Equal(t, "another mode", len(seen), 2)
	check.Equal(t, "which", seen[1].Mode, modeSilent)
	c.Report(now+2*trip-1, log)
	check.Equal(t, "a round trip later", len(seen), 3)
	c.Report(now+9*trip, nil)
}

// Before the round trip is known there is one report.
func TestReportBeforeTheRoundTripIsKnown(t *testing.T) {
	c := New(Config{})
	n := 0
	log := func(eventlog.Event) { n++ }
	for at := range core.Micros(100) {
		c.Report(at*ms, log)
	}
	check.Equal(t, "reports", n, 1)
	c.RTT.Sample(50 * ms)
	c.Report(100*ms, log)
	check.Equal(t, "once it is known", n, 2)
}

// What does not hold slices back is not reported.
func TestReportOfWhatHoldsNothingBack(t *testing.T) {
	report := func(config Config, contested bool) (e eventlog.Event) {
		c := known(config, 50*ms, 900_000).Controller
		c.limit.contested = contested
		c.Report(core.Second, func(x eventlog.Event) { e = x })
		return e
	}
	e := report(Config{}, true)
	check.Equal(t, "contested: window, limit", []bool{e.Window > 0, e.Limit > 0}, []bool{false, true})
	for _, config := range []Config{{Burst: true}, {Fixed: true}} {
		e := report(config, false)
		check.Equal(t, "a profile: window, limit", []int{e.Window, e.Limit}, []int{0, 0})
	}
}

// Each mode has its condition, and those that come first hide the others.
func TestModes(t *testing.T) {
	c := New(Config{})
	check.Equal(t, "at first", c.mode(), modeOpening)
	for _, x := range []struct {
		set  func()
		mode string
	}{
		{func() { c.limit.opening = false }, modeSteady},
		{func() { c.limit.contested = true }, modeContested},
		{func() { c.cap.interval = 1 }, modeCapped},
		{func() { c.cap.look = 1 }, modeLook},
		{func() { c.silenced = true }, modeSilent},
	} {
		x.set()
		check.Equal(t, "mode", c.mode(), x.mode)
	}
	check.Equal(t, "a profile", New(Config{Fixed: true}).mode(), modeFixed)
	check.Equal(t, "another", New(Config{Burst: true}).mode(), modeBurst)
}
