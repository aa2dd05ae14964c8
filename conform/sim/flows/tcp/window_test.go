package tcp

import (
	"math"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

func TestCubeRoot(t *testing.T) {
	for _, v := range []int64{-1, 0, 1, 7, 8, 9, 26, 27, 1 << 30, 999_999_999_999, 1_000_000_000_000, 1 << 60, math.MaxInt64} {
		r := cubeRoot(v)
		if v > 0 && (r*r*r > v || r < 2_000_000 && (r+1)*(r+1)*(r+1) <= v) || v <= 0 && r != 0 {
			t.Errorf("%d is not the cube root of %d", r, v)
		}
	}
}

// RFC 9438: after a loss at 300 datagrams the window is 0.4 (t - K)^3 + 300, with K of
// 6.08 s, at each round trip but the first, to within a datagram.
func TestTheCubicFunction(t *testing.T) {
	c := newCubic(Config{Model: Cubic}.withDefaults())
	c.cwnd, c.threshold = 300*one, 300*one
	c.lost(300 * one)
	check.Equal(t, "after the loss", c.cwnd/one, 210)
	k := math.Cbrt(300 * 0.3 / 0.4)
	const roundTrip = 100 * ms
	for now := 10 * second; now < 22*second; now += roundTrip {
		c.acked(news{now: now, n: c.cwnd / one, smoothed: roundTrip})
		at := float64(now-10*second+roundTrip)/1e6 - k
		if got, want := float64(c.cwnd)/one, 0.4*at*at*at+300; now > 10*second && math.Abs(got-want) > 1 {
			t.Fatalf("%d ms after the loss: %.2f, want %.2f", (now-10*second)/ms, got, want)
		}
	}
	check.That(t, c.cwnd > 300*one, "the window is beyond the old one")
}

// RFC 9438, 4.3: where the cubic function is slow, the window is Reno's: 9/17 a round trip
// until the old window is reached, then 1.
func TestTheRenoFriendlyRegion(t *testing.T) {
	c := newCubic(Config{Model: Cubic}.withDefaults())
	c.cwnd, c.threshold = 20*one, 20*one
	c.lost(20 * one)
	now := second
	window := func(rounds int) float64 {
		for range rounds {
			for range c.cwnd / one {
				c.acked(news{now: now, n: 1, smoothed: 10 * ms})
			}
			now += 10 * ms
		}
		return float64(c.cwnd) / one
	}
	if got := window(9) - 14; math.Abs(got-9*9.0/17) > 0.2 {
		t.Errorf("nine round trips add %.2f", got)
	}
	window(4)
	before := float64(c.cwnd) / one
	if got := window(5) - before; math.Abs(got-5) > 0.3 {
		t.Errorf("five more add %.2f", got)
	}
}

// RFC 9438, 4.7: a window that had not reached the last one makes room.
func TestFastConvergence(t *testing.T) {
	c := newCubic(Config{Model: Cubic}.withDefaults())
	c.cwnd, c.threshold = 100*one, 100*one
	c.lost(100 * one)
	check.Equal(t, "plateau", c.max/one, 100)
	c.lost(c.cwnd)
	check.Equal(t, "plateau", c.max, 85*70*one/100)
	check.Equal(t, "window", c.cwnd/one, 49)
}

// hystartRound gives a slow start a round of acks with this round trip, and returns the
// growth that a datagram is worth at its end.
func hystartRound(h *hystart, number *int64, r core.Micros, samples int) (by int64, ends bool) {
	next := *number + int64(samples)
	for range samples {
		var over bool
		by, over = h.grows(news{n: 1, rtt: r, top: *number, next: next}, 0)
		*number++
		ends = ends || over
	}
	return by, ends
}

// RFC 9406: a round trip that is longer by an eighth makes slow start four times as slow;
// five rounds of that end it, and a shorter round trip takes it back.
func TestHyStart(t *testing.T) {
	h, n := newHystart(), int64(0)
	expect := func(r core.Micros, want int64, wantEnds bool) {
		t.Helper()
		by, ends := hystartRound(h, &n, r, 16)
		check.Equal(t, "growth", by, want)
		check.Equal(t, "ends", ends, wantEnds)
	}
	expect(80*ms, one, false)
	expect(80*ms, one, false)
	expect(89*ms, one, false)
	expect(101*ms, one/4, false) // 89 ms and an eighth
	expect(100*ms, one, false)
	expect(120*ms, one/4, false)
	for range 4 {
		expect(121*ms, one/4, false)
	}
	expect(121*ms, one/4, true)
}

// quic-go's hybrid slow start: the smallest of the first eight samples of a round, an eighth
// above the smallest of all, ends slow start from a window of 16 on.
func TestHybridSlowStart(t *testing.T) {
	for _, c := range []struct {
		latest core.Micros
		window int64
		exits  bool
	}{{90 * ms, 32, false}, {91 * ms, 32, true}, {91 * ms, 15, false}} {
		var h hybrid
		r := quicRoundTrip{known: true, least: 80 * ms, latest: c.latest}
		exits := false
		for range roundSamples {
			exits = h.exits(&r, 100, c.window*one)
		}
		check.Equal(t, "exits", exits, c.exits)
	}
}
