package statemachine

import "testing"

func measured(samples ...Micros) rttEstimator {
	var e rttEstimator
	for _, r := range samples {
		e.clean(r)
	}
	return e
}

func TestTheFirstCleanSampleCounts(t *testing.T) {
	wantEqual(t, "estimate", measured(80_000),
		rttEstimator{smoothed: 80_000, variation: 10_000, min: 80_000, known: rttMeasured}, opaque)
}

// Up slowly, down faster, and no jumps (RTT-5).
func TestFurtherCleanSamplesAreSmoothed(t *testing.T) {
	for _, c := range []struct {
		name   string
		sample Micros
		want   rttEstimator
	}{
		{"the same", 80_000, rttEstimator{smoothed: 80_000, variation: 7_500, min: 80_000, known: rttMeasured}},
		{"slower", 96_000, rttEstimator{smoothed: 82_000, variation: 11_500, min: 80_000, known: rttMeasured}},
		{"half as slow again and 1 ms", 121_000, rttEstimator{smoothed: 85_125, variation: 17_750, min: 80_000, known: rttMeasured}},
		{"slower than that counts as that", 900_000, rttEstimator{smoothed: 85_125, variation: 17_750, min: 80_000, known: rttMeasured}},
		{"a little faster", 76_000, rttEstimator{smoothed: 79_000, variation: 8_500, min: 76_000, known: rttMeasured}},
		{"much faster: no reason to wait longer", 40_000, rttEstimator{smoothed: 70_000, variation: 10_000, min: 40_000, known: rttMeasured}},
	} {
		wantEqual(t, c.name, measured(80_000, c.sample), c.want, opaque)
	}
}

func TestTheMinimumIsOfCleanSamplesOnly(t *testing.T) {
	e := measured(80_000)
	e.smooth(40_000)
	wantEqual(t, "minimum", e.min, 80_000)
	wantEqual(t, "smoothed", e.smoothed, 70_000)
	e.clean(90_000)
	wantEqual(t, "minimum after a slower one", e.min, 80_000)
}

// Until there is a measurement (RTT-4, RTT-6).
func TestTheSmallestBoundHoldsFromTheNextChunk(t *testing.T) {
	var e rttEstimator
	e.boundedBy(900_000)
	e.boundedBy(320_000)
	e.boundedBy(700_000)
	wantEqual(t, "in this chunk", e, rttEstimator{bound: 320_000}, opaque)
	e.startChunk()
	bounded := rttEstimator{smoothed: 320_000, variation: 20_000, bound: 320_000, known: rttBounded}
	wantEqual(t, "in the next", e, bounded, opaque)
	e.boundedBy(900_000)
	e.startChunk()
	wantEqual(t, "a larger one changes nothing", e, bounded, opaque)
	e.clean(80_000)
	wantEqual(t, "a measurement starts anew", e, measured(80_000), opaque)
	e.boundedBy(900_000)
	e.startChunk()
	wantEqual(t, "a bound after it changes nothing", e.smoothed, 80_000)
}

// A round trip that once took no time must not keep the estimate there.
func TestTheEstimateLeavesZero(t *testing.T) {
	e := measured(0)
	for range 200 {
		e.clean(100_000)
	}
	if e.smoothed < 90_000 {
		t.Errorf("still at %d us after 200 samples of 100 ms", e.smoothed)
	}
}

// Each of them once (TMR-2).
func TestTheMarginIsTheLargestOfThree(t *testing.T) {
	for _, c := range []struct {
		name string
		e    rttEstimator
		want Micros
	}{
		{"never below 5 ms", rttEstimator{smoothed: 8_000, variation: 1_000}, 5_000},
		{"an eighth of the round trip", rttEstimator{smoothed: 80_000, variation: 2_000}, 10_000},
		{"four variations", rttEstimator{smoothed: 80_000, variation: 5_000}, 20_000},
	} {
		wantEqual(t, c.name, c.e.margin(), c.want)
	}
}
