package control

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
)

// Of all that is so the mode is the one that comes first, here the last.
func TestModes(t *testing.T) {
	w := newTalk(100)
	for _, c := range []struct {
		mode string
		set  func()
	}{
		{modeSteady, func() {}},
		{modeOpening, func() { w.limit.opening = true }},
		{modeContested, func() { w.limit.others = true }},
		{modeLook, func() { w.loss.phase = recovers }},
		{modeDrain, func() { w.base.drain(w.now, trip, trip) }},
		{modeBroken, func() { w.breaker.open = true }},
		{modeSilent, func() { w.silenced = true }},
		{modeBurst, func() { w.config.Burst = true }},
		{modeFixed, func() { w.config.Fixed = true }},
	} {
		c.set()
		check.Equal(t, "mode", w.mode(), c.mode)
	}
}

// The log gets the figures at most once a round trip, and with another mode.
func TestReport(t *testing.T) {
	w := newTalk(100)
	w.Flight(&w.share, 7)
	unknown, fixed, fast := New(Config{}), New(Config{Fixed: true, MaxRate: 8_528_000}), newTalk(100)
	fast.RTT.Smoothed = 300
	burst, used := New(Config{Burst: true}), newTalk(100)
	used.config.Burst, used.RTT.Smoothed = true, 1000
	figures := func(mode string, at core.Micros) *eventlog.Event {
		return &eventlog.Event{Kind: eventlog.Metrics, At: at, InFlight: 7, RTT: trip, MinRTT: trip, Mode: mode, Rate: 22_741_333, Limit: 100}
	}
	for _, c := range []struct {
		what string
		of   *Controller
		at   core.Micros
		set  func()
		want *eventlog.Event
	}{
		{"the first", w.Controller, w.now, nil, figures(modeSteady, w.now)},
		{"less than a round trip later", w.Controller, w.now + trip - 1, nil, nil},
		{"a round trip later", w.Controller, w.now + trip, nil, figures(modeSteady, w.now+trip)},
		{"another mode", w.Controller, w.now + trip + 1, func() { w.limit.others = true }, figures(modeContested, w.now+trip+1)},
		{"before a sample", unknown, 0, nil, &eventlog.Event{Kind: eventlog.Metrics, Mode: modeOpening, Limit: 16}},
		{"still before a sample", unknown, core.Second, nil, nil},
		{"a burst has no limit", burst, 0, nil, &eventlog.Event{Kind: eventlog.Metrics, Mode: modeBurst}},
		{"as fast as later slices", used.Controller, 0, nil, &eventlog.Event{Kind: eventlog.Metrics, RTT: 1000, MinRTT: trip, Mode: modeBurst, Rate: 909_653_333}},
		{"nor has a fixed rate", fixed, 0, nil, &eventlog.Event{Kind: eventlog.Metrics, Mode: modeFixed}},
		{"once", fast.Controller, 0, nil, &eventlog.Event{Kind: eventlog.Metrics, RTT: 300, MinRTT: trip, Mode: modeSteady, Rate: 1_218_285_714, Limit: 100}},
		{"less than a millisecond later", fast.Controller, ms - 1, nil, nil},
		{"a millisecond later", fast.Controller, ms, nil, &eventlog.Event{Kind: eventlog.Metrics, At: ms, RTT: 300, MinRTT: trip, Mode: modeSteady, Rate: 1_218_285_714, Limit: 100}},
	} {
		if c.set != nil {
			c.set()
		}
		var got *eventlog.Event
		c.of.Report(c.at, nil)
		c.of.Report(c.at, func(e eventlog.Event) { got = &e })
		check.Equal(t, c.what, got, c.want)
	}
}
