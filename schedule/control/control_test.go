package control

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/internal/check"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/machine/machinetest"
	"github.com/chunkwire/chunkwire/statemachine"
)

const second = machine.Second

// The constants are the specification's (REC-10).
func TestConstants(t *testing.T) {
	err := machinetest.CheckConstants("../../spec/recovery.json", map[string]int64{
		"ACK_DELAY": int64(ackDelay), "MIN_RTT_LIFE": int64(rttLife), "LONG_TRAIN": longTrain, "SHORT_TRAIN": shortTrain, "TRAIN_TIME": int64(trainTime),
		"RATE_EPOCH": int64(rateEpoch), "FASTEST": fastest, "SLOWEST": slowest, "FIRST_WINDOW": firstWindow, "YIELD_WINDOW": yieldWindow, "DRAIN_WINDOW": drainSlots,
		"PROBE_DELAY": int64(slowestProbe), "BURST_INTERVAL": burstSpacing,
	})
	if err != nil {
		t.Error(err)
	}
}

// known returns a controller at 10 s that knows a round trip and what the path takes for
// a slice, and begins a chunk.
func known(config Config, roundTrip machine.Micros, perSlice int64) *Controller {
	c := New(config)
	c.Begin()
	c.RTT.Clean(10*second, roundTrip)
	c.takes(10*second, perSlice)
	c.Begin()
	return c
}

// takes gives the controller a train of 1,000 slices in perSlice microseconds that ends at
// now (RAT-2).
func (c *Controller) takes(now machine.Micros, perSlice int64) {
	c.EndTrain()
	c.Arrived(now-machine.Micros(perSlice), 1, 0)
	c.Arrived(now, 1000, 1000)
	c.EndTrain()
}

// goes returns when so many slices go out from then on, each as soon as the pace lets it.
func (c *Controller) goes(from machine.Micros, n int) (at []machine.Micros) {
	for now := from; len(at) < n; now = max(now, c.Next()) {
		if c.Go(now, true, true) {
			at = append(at, now-from)
		}
	}
	return at
}

// EST-6, EST-7
func TestTheSmallestRoundTripIsForgotten(t *testing.T) {
	var m minRTT
	for _, step := range []struct {
		at, sample, want machine.Micros
		drains           bool
	}{
		{0, 60 * ms, 60 * ms, false},
		{ms, 50 * ms, 50 * ms, false},
		{5 * second, 80 * ms, 50 * ms, false},
		{8 * second, 56 * ms, 50 * ms, false}, // near: within an eighth
		{18*second - 1, 57 * ms, 50 * ms, false},
		{18 * second, 80 * ms, 50 * ms, true}, // nothing was near for 10 s
		{18*second + 100*ms, 70 * ms, 50 * ms, true},
		{18*second + 200*ms, 75 * ms, 70 * ms, false},
		{28*second + 199*ms, 90 * ms, 70 * ms, false},
		{28*second + 200*ms, 90 * ms, 70 * ms, true},
		{28*second + 250*ms, 72 * ms, 70 * ms, false}, // near: that was all
		{38*second + 249*ms, 99 * ms, 70 * ms, false},
		{48*second + 249*ms, 99 * ms, 99 * ms, false}, // silence
	} {
		m.add(step.at, step.sample, 100*ms)
		check.Equal(t, fmt.Sprintf("smallest at %d", step.at), m.value, step.want)
		check.Equal(t, fmt.Sprintf("drain at %d", step.at), m.drains(), step.drains)
	}
}

// EST-6: 2 ms more is near, too, since an ack may wait that long.
func TestAnAckThatWaitedIsNear(t *testing.T) {
	var m minRTT
	m.add(0, 200, 0)
	m.add(9*second, 2200, 0)
	m.add(18*second, 2201, 0)
	check.Equal(t, "drain", m.drains(), false)
	m.add(19*second, 2201, 0)
	check.Equal(t, "drain", m.drains(), true)
}

// EST-6: a sample counts as 1 us at least.
func TestAPathWithoutARoundTrip(t *testing.T) {
	c := New(Config{})
	c.RTT.Clean(0, 0)
	check.Equal(t, "smallest", c.RTT.Min(), 1)
	check.Equal(t, "smoothed", c.Vars().SmoothedRTT, 0)
}

// WIN-1, WIN-2, WIN-5
func TestWindows(t *testing.T) {
	c := New(Config{})
	check.Equal(t, "nothing known", []int{c.Window(0), c.Window(10), c.PathSlices()}, []int{64, 74, 64})
	c.Yield(true)
	check.Equal(t, "it yields", []int{c.Window(0), c.Window(10), c.PathSlices()}, []int{16, 26, 16})
	c = known(Config{}, 50*ms, 900_000) // 57 slices, with the 2 ms of an ack
	check.Equal(t, "half as much again", []int{c.Window(0), c.Window(10), c.PathSlices()}, []int{57*3/2 + 8, 57*3/2 + 8, 57*3/2 + 8})
	c.Yield(true)
	check.Equal(t, "it yields", c.Window(0), 57+8)
	c.Yield(false)
	check.Equal(t, "it does not", c.Window(0), 57*3/2+8)
	check.Equal(t, "a short path", known(Config{}, 0, 85_000).Window(0), 23*3/2+8)
	check.Equal(t, "a long one", known(Config{}, 1<<40, 7000).Window(0), math.MaxInt32)
	check.Equal(t, "without WIN-1", New(Config{Without: First}).Window(0), math.MaxInt32)
	c = known(Config{Fixed: true, MaxRate: 8_528_000}, 50*ms, 5_000_000) // a slice a millisecond
	check.Equal(t, "a fixed rate", c.Window(0), 52*3/2+8)
}

// WIN-3, PRO-2, PRO-4
func TestRoomInTheWindow(t *testing.T) {
	c := New(Config{})
	check.Equal(t, "room", []bool{c.HasRoom(63, 0), c.HasRoom(64, 0), c.HasRoom(64, 1)}, []bool{true, false, true})
	check.Equal(t, "burst", New(Config{Burst: true}).HasRoom(1000, 0), true)
	check.Equal(t, "fixed", New(Config{Fixed: true, MaxRate: 1e6}).HasRoom(1000, 0), true)
}

// WIN-4, RAT-4
func TestADrainHasFourSlicesInFlight(t *testing.T) {
	for without, want := range map[Rule]int{0: 4, Drain: 788} {
		c := known(Config{Without: without}, 50*ms, 100_000)
		c.RTT.Clean(15*second, 80*ms)
		c.RTT.Clean(20*second, 80*ms)
		check.Equal(t, "window", c.Window(0), want)
		c.Go(20*second+1, false, false)
		check.Equal(t, "ran dry", c.Vars().RanDryAt == 20*second+1, without == 0)
	}
}

// PAC-1, PAC-2, PAC-3, section 6: the rest below a microsecond is kept.
func TestIntervals(t *testing.T) {
	for _, c := range []struct {
		config   Config
		perSlice int64 // 0: unknown
		want     []machine.Micros
	}{
		{Config{}, 0, []machine.Micros{0, 7, 14}},
		{Config{}, 7_000, []machine.Micros{0, 7, 14}},
		{Config{}, 80_100, []machine.Micros{0, 71, 141, 211, 281}}, // 70,087 ns
		{Config{}, 80_002, []machine.Micros{0, 71, 141}},           // 70,001 ns
		{Config{Without: Headroom}, 80_000, []machine.Micros{0, 80, 160}},
		{Config{}, 60_000_000_000, []machine.Micros{0, second}},
		{Config{MaxRate: 852_800}, 0, []machine.Micros{0, 10 * ms, 20 * ms}},
		{Config{MaxRate: 852_800}, 20_000_000, []machine.Micros{0, 17_500}},
		{Config{Burst: true}, 5_000_000, []machine.Micros{0, 85, 170}},
		{Config{Burst: true, MaxRate: 852_800}, 0, []machine.Micros{0, 10 * ms}},
		{Config{Fixed: true, MaxRate: 852_800}, 5_000_000, []machine.Micros{0, 10 * ms}},
		{Config{Fixed: true, MaxRate: statemachine.MaxRate}, 0, []machine.Micros{0, 7}},
	} {
		path := New(c.config)
		path.Begin()
		if c.perSlice > 0 {
			path = known(c.config, 50*ms, c.perSlice)
		}
		check.Equal(t, fmt.Sprintf("%+v", c), path.goes(100*second, len(c.want)), c.want)
	}
}

// PRO-2: what is not fresh goes at the path's pace.
func TestOnlyFreshSlicesBurst(t *testing.T) {
	c := known(Config{Burst: true}, 50*ms, 1_142_858)
	c.Go(0, true, false)
	check.Equal(t, "next", c.Next(), 1*ms)
}

// PAC-4, RAT-4: a driver that comes more than 20 ms late has measured itself, and
// makes up for 20 ms.
func TestALateDriver(t *testing.T) {
	for _, late := range []machine.Micros{0, 1} {
		c := known(Config{}, 50*ms, 1_142_858) // 1 ms apart
		c.Go(10*second, true, true)
		now, sent := 10*second+21*ms+late, 0
		for c.Go(now, true, true) {
			sent++
		}
		check.Equal(t, "at once", sent, 21)
		check.Equal(t, "ran dry", c.Vars().RanDryAt == now, late > 0)
	}
}

// PAC-5, REC-5: time with nothing to send is not made up for, and what is ahead of now
// stays, be it by a nanosecond.
func TestNothingToSendEarnsNothing(t *testing.T) {
	c := known(Config{}, 50*ms, 80_572) // 70,500 ns apart
	c.Go(10*second, true, true)
	check.Equal(t, "nothing to send", c.Go(10*second+70, false, false), false)
	check.Equal(t, "too soon", c.Go(10*second+70, true, true), false)
	check.Equal(t, "then", c.Go(10*second+71, true, true), true)
	c.Go(11*second, false, false)
	check.Equal(t, "much later", c.Go(12*second, true, true), true)
	check.Equal(t, "next", c.Next(), 12*second+71)
	c.Begin()
	c.Go(13*second, true, true)
	check.Equal(t, "after another chunk's begin", c.Next(), 13*second+71)
}

// RAT-1: sixteen slices make a train, or four that took long.
func TestWhenATrainIsWhole(t *testing.T) {
	for _, c := range []struct {
		roundTrip machine.Micros
		n         int
		took      machine.Micros
		want      int64
	}{
		{0, 15, 2 * ms, 0}, {0, 16, 2 * ms, 125_000},
		{0, 3, second, 0}, {0, 4, 20*ms - 1, 0}, {0, 4, 20 * ms, 5_000_000},
		{50 * ms, 4, 25*ms - 1, 0}, {50 * ms, 4, 25 * ms, 6_250_000},
		{0, 16, 1, 7_000}, {0, 4, 1 << 50, (1 << 40) * 250},
	} {
		path := New(Config{})
		path.Begin()
		if c.roundTrip > 0 {
			path.RTT.Clean(0, c.roundTrip)
		}
		path.Arrived(50*ms, 1, 0)
		path.Arrived(50*ms+c.took, c.n, uint32(c.n))
		check.Equal(t, fmt.Sprintf("%+v", c), path.PerSlice(), c.want)
	}
}

// RAT-1, RAT-2: the next train begins where one ends, and an ended one is forgotten.
func TestTrains(t *testing.T) {
	c := New(Config{})
	c.Arrived(0, 5, 5)
	c.Arrived(2*ms, 10, 15)
	c.Arrived(4*ms, 6, 21)
	check.Equal(t, "rate", c.PerSlice(), 250_000)
	c.Arrived(5*ms, 16, 37)
	check.Equal(t, "rate", c.PerSlice(), 62_500)
	c.EndTrain()
	c.Arrived(5*ms+1, 16, 53)
	c.Begin()
	c.Arrived(5*ms+2, 16, 69)
	check.Equal(t, "rate", c.PerSlice(), 62_500)
}

// RAT-3
func TestWhatWasLostBehindTheBottleneckCounts(t *testing.T) {
	for _, c := range []struct {
		newest  uint32
		without Rule
		want    int64
	}{{10, 0, 160_000}, {16, 0, 160_000}, {20, 0, 128_000}, {32, 0, 80_000}, {40, 0, 80_000}, {32, Overtaking, 160_000}} {
		path := New(Config{Without: c.without})
		path.Arrived(0, 1, 0)
		path.Arrived(2560, 16, c.newest)
		check.Equal(t, "rate", path.PerSlice(), c.want)
	}
}

// RAT-4
func TestASenderThatRanDryMeasuresItself(t *testing.T) {
	for _, c := range []struct {
		dry     machine.Micros
		without Rule
		want    int64
	}{{9_949_999, 0, 500_000}, {9_950_000, 0, 100_000}, {9_950_000, Busy, 500_000}} {
		path := known(Config{Without: c.without}, 50*ms, 100_000)
		path.Dry(c.dry)
		for i := range machine.Micros(3) { // each in an epoch of its own
			path.EndTrain()
			path.Arrived(10*second+i*second, 1, 0)
			path.Arrived(10*second+i*second+8*ms, 16, 16)
			path.Dry(c.dry + (i+1)*second)
		}
		check.Equal(t, "rate", path.PerSlice(), c.want)
	}
}

// RAT-4, RAT-5: of a sender that ran dry a sample that equals what is known does not
// count, so what was known before is not kept for another epoch.
func TestASampleThatOnlyEqualsWhatIsKnown(t *testing.T) {
	c := known(Config{}, 50*ms, 10_000_000)
	c.takes(11*second, 20_000_000)
	c.Dry(11 * second)
	c.Arrived(10*second+880*ms, 1, 0)
	c.Arrived(11*second+40*ms, 16, 16) // 10 ms each
	check.Equal(t, "rate", c.PerSlice(), 10_000_000)
	c.EndTrain()
	c.Arrived(11*second+800*ms, 1, 0)
	c.Arrived(12*second, 16, 16) // 12.5 ms each
	check.Equal(t, "rate", c.PerSlice(), 12_500_000)
}

// RAT-5: a rate counts for one to two epochs of a round trip, or 10 ms.
func TestARateIsForgottenAfterTwoEpochs(t *testing.T) {
	for _, roundTrip := range []machine.Micros{5 * ms, 50 * ms} {
		for _, early := range []machine.Micros{0, 1} {
			epoch := max(roundTrip, 10*ms)
			c := known(Config{}, roundTrip, 7_000)
			for i := range machine.Micros(2) {
				now := 10*second + (i+1)*epoch
				c.EndTrain()
				c.Arrived(now-2*ms-early, 1, 0)
				c.Arrived(now-early, 16, 16)
			}
			check.Equal(t, "rate", c.PerSlice() == 125_000, early == 0)
		}
	}
}

// LAN-9: what one has learned the next one knows; they share the round trip from then on.
func TestAdopt(t *testing.T) {
	a, b := known(Config{}, 50*ms, 900_000), New(Config{})
	a.Go(10*second, true, true)
	b.Adopt(a)
	check.Equal(t, "what is known", b.Vars(), a.Vars())
	a.RTT.Clean(11*second, 58*ms)
	check.Equal(t, "smoothed", b.RTT.Smoothed, 51*ms)
	a.Dry(11 * second)
	check.Equal(t, "each has its own rate", b.Vars().RanDryAt == 11*second, false)
}

// PTO-3, PTO-5
func TestDelaysOfProbes(t *testing.T) {
	c := New(Config{})
	check.Equal(t, "nothing known", []machine.Micros{c.ProbeDelay(0, 8), c.HoldDelay(0)}, []machine.Micros{250 * ms / 8, 250 * ms})
	c = known(Config{}, 40*ms, 7000) // a delay of 60 ms
	check.Equal(t, "probes", []machine.Micros{c.ProbeDelay(0, 8), c.ProbeDelay(80*ms, 8), c.ProbeDelay(80*ms, 4), c.ProbeDelay(3*second, 8)},
		[]machine.Micros{7_500, 10 * ms, 20 * ms, 250 * ms})
	check.Equal(t, "probes of a hold", []machine.Micros{c.HoldDelay(0), c.HoldDelay(200 * ms), c.HoldDelay(2 * second)}, []machine.Micros{40 * ms, 50 * ms, 250 * ms})
	check.Equal(t, "on a short path", known(Config{}, 0, 7000).HoldDelay(0), 2*ms)
}

// PRO-1, PRO-4
func TestARateOutsideIsRefused(t *testing.T) {
	for _, c := range []Config{{Fixed: true}, {MaxRate: statemachine.MinRate - 1}, {MaxRate: statemachine.MaxRate + 1}} {
		if err := c.Check(); !errors.Is(err, machine.ErrConfig) || !strings.Contains(err.Error(), "Profile.MaxRate") {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, c := range []Config{{}, {MaxRate: statemachine.MinRate}, {Fixed: true, MaxRate: statemachine.MaxRate}} {
		if err := c.Check(); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
