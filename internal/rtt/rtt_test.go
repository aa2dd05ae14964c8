package rtt

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/tabletest"
	"github.com/chunkwire/chunkwire/core"
)

const ms = core.Millisecond

var opaque = cmp.AllowUnexported(Estimator{})

func measured(samples ...core.Micros) (e Estimator) {
	for _, r := range samples {
		e.Sample(r)
	}
	return e
}

func TestTheFirstSampleSetsTheEstimate(t *testing.T) {
	check.Equal(t, "estimate", measured(80*ms), Estimator{Smoothed: 80 * ms, Variation: 10 * ms, Known: Measured}, opaque)
}

// Up slowly, down faster, and no jumps (RTT-5).
func TestFurtherSamplesAreSmoothed(t *testing.T) {
	for _, c := range []struct {
		name                string
		sample              core.Micros
		smoothed, variation core.Micros
	}{
		{"the same", 80_000, 80_000, 7_500},
		{"slower", 96_000, 82_000, 11_500},
		{"half as slow again and 1 ms", 121_000, 85_125, 17_750},
		{"slower than that counts as that", 900_000, 85_125, 17_750},
		{"a little faster", 76_000, 79_000, 8_500},
		{"much faster: no reason to wait longer", 40_000, 70_000, 10_000},
	} {
		want := Estimator{Smoothed: c.smoothed, Variation: c.variation, Known: Measured}
		check.Equal(t, c.name, measured(80_000, c.sample), want, opaque)
		e := measured(80_000)
		e.Smooth(c.sample)
		check.Equal(t, c.name+", of a resent packet", e, want, opaque)
	}
}

// Until there is a measurement (RTT-4, RTT-6).
func TestTheSmallestBoundIsUsedFromTheNextChunkOn(t *testing.T) {
	var e Estimator
	e.UseBound()
	check.Equal(t, "without a bound", e, Estimator{}, opaque)
	for _, bound := range []core.Micros{900_000, 320_000, 700_000} {
		e.Bound(bound)
	}
	check.Equal(t, "in this chunk", e, Estimator{bound: 320_001}, opaque)
	e.UseBound()
	bounded := Estimator{Smoothed: 320_000, Variation: 20_000, bound: 320_001, Known: Bounded}
	check.Equal(t, "in the next", e, bounded, opaque)
	e.Bound(900_000)
	e.UseBound()
	check.Equal(t, "after a larger one", e, bounded, opaque)
	e.Sample(80_000)
	check.Equal(t, "after a measurement", e, measured(80_000), opaque)
	e.Bound(900_000)
	e.UseBound()
	check.Equal(t, "smoothed after a bound that comes later", e.Smoothed, 80_000)
}

// The smallest bound is one as well (RTT-4, RTT-6).
func TestABoundOfAMicrosecond(t *testing.T) {
	var e Estimator
	e.Bound(2)
	e.Bound(1)
	e.UseBound()
	check.Equal(t, "estimate", e, Estimator{Smoothed: 1, bound: 2, Known: Bounded}, opaque)
}

// A path whose first sample is tiny, or nothing, may become slower.
func TestTheEstimateRisesFromTheSmallestSample(t *testing.T) {
	for _, first := range []core.Micros{0, 1, 10, 15} {
		e := measured(first)
		for range 200 {
			e.Sample(50 * ms)
		}
		if e.Smoothed < 49*ms {
			t.Errorf("from %d: %d us after 200 samples of 50 ms", first, e.Smoothed)
		}
	}
}

// Each of three things is the largest once, and the longest wait is 3 s (TMR-2,
// TMR-3).
func TestTheDelayAndItsMargin(t *testing.T) {
	for _, c := range []struct {
		name          string
		e             Estimator
		delay, margin core.Micros
	}{
		{"nothing is known", Estimator{}, 250_000, 0},
		{"never below 5 ms", Estimator{8_000, 1_000, Measured, 0}, 13_000, 5_000},
		{"an eighth of the round trip", Estimator{80_000, 2_000, Measured, 0}, 90_000, 10_000},
		{"four variations", Estimator{80_000, 5_000, Measured, 0}, 100_000, 20_000},
		{"of a bound", Estimator{320_000, 20_000, Bounded, 320_000}, 400_000, 80_000},
		{"at most 3 s", Estimator{2_900_000, 0, Measured, 0}, 3_000_000, 362_500},
		{"not more margin than delay", Estimator{2_000_000, 1_000_000, Measured, 0}, 3_000_000, 3_000_000},
	} {
		delay, margin := c.e.Delay()
		check.Equal(t, c.name, [2]core.Micros{delay, margin}, [2]core.Micros{c.delay, c.margin})
	}
}

// What is longer than 2^40 us counts as that, so that no sum overflows (RTT-7).
func TestLongSamplesAreClipped(t *testing.T) {
	const longest = 1 << 40
	for _, r := range []core.Micros{longest - 1, longest, longest + 1, core.Never} {
		want := min(r, longest)
		check.Equal(t, "clipped", Clip(r), want)
		check.Equal(t, "a first sample", measured(r), measured(want), opaque)
		e, bounded := measured(longest), Estimator{}
		e.Smooth(r)
		check.That(t, e.Smoothed <= longest && e.Variation >= 0, "the estimate stays within 2^40 us")
		bounded.Bound(r)
		bounded.UseBound()
		check.Equal(t, "a bound", bounded.Smoothed, want)
		for range 1000 {
			e.Sample(r)
			e.Sample(0)
		}
		delay, margin := e.Delay()
		check.That(t, 0 <= margin && margin <= delay && delay <= LongestDelay, "the delay stays within 3 s")
	}
}

// The constants are the specification's (SPC-5).
func TestConstants(t *testing.T) {
	check.Same(t, "difference", tabletest.CheckConstants("../../spec/protocol.json", map[string]int64{
		"INITIAL_DELAY": int64(InitialDelay), "LONGEST_DELAY": int64(LongestDelay), "LONGEST_SAMPLE": longestSample,
	}), nil)
}

// So is a bound of no time at all: an ack in the microsecond of the first transmission.
func TestABoundOfNoTime(t *testing.T) {
	var e Estimator
	e.Bound(0)
	e.Bound(300)
	e.UseBound()
	check.Same(t, "it is known", e.Known, Bounded)
	check.Same(t, "estimate", e.Smoothed, 0)
}
