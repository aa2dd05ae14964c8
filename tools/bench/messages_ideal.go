package bench

import (
	"math"
	"slices"
	"time"
)

// idealPackets is in how many datagrams the ideal sends a frame: 1,024 bytes of
// messages in each.
const idealPackets = PerFrame * MessageSize / 1024

// idealName names the ideal in tables.
const idealName = "ideal"

// idealMessages is what messages take that go at once, and again as soon as their
// loss can be known: half a round trip, and a round trip for each loss of the same
// message. It is computed from the chance of a loss, not measured.
func idealMessages(c Cell, ordered bool) (Summary, *MessageFigures) {
	i := ideal{loss: float64(c.Loss) / 100, rtt: c.RTT}
	late := i.unordered
	if ordered {
		late = i.ordered
	}
	f := &MessageFigures{Ordered: ordered, Again: i.loss / (1 - i.loss)}
	for percent := 1; percent < 100; percent++ {
		f.Delays = append(f.Delays, i.quantile(late, percent))
	}
	f.Last.Median = i.quantile(i.all, 50)
	bytes := float64(PerFrame*MessageSize+idealPackets*overhead) / (PerFrame * MessageSize)
	return Summary{Median: f.Delays[50-1], P95: f.Delays[95-1], Bytes: bytes / (1 - i.loss)}, f
}

type ideal struct {
	loss float64
	rtt  time.Duration
}

// come is the chance that a datagram has come so long after the earliest time at
// which it can.
func (i ideal) come(after time.Duration) float64 {
	return 1 - math.Pow(i.loss, float64(after/i.rtt+1))
}

// unordered is the chance that a message is delivered no later than that.
func (i ideal) unordered(late time.Duration) float64 { return i.come(late) }

// ordered is the same chance, of any message of any frame, where it waits for those
// before it.
func (i ideal) ordered(late time.Duration) float64 {
	sum, before := 0.0, 1.0 // that all datagrams of earlier frames have come
	for f := range Frames {
		if f > 0 {
			before *= math.Pow(i.come(late+frameTime(f)), idealPackets)
		}
		for n := 1; n <= idealPackets; n++ {
			sum += before * math.Pow(i.come(late), float64(n))
		}
	}
	return sum / (Frames * idealPackets)
}

// all is the chance that every message has come so long after the last of them can.
func (i ideal) all(late time.Duration) float64 {
	chance := 1.0
	for f := range Frames {
		chance *= math.Pow(i.come(late+frameTime(f)), idealPackets)
	}
	return chance
}

// quantile returns the shortest delay that percent of what chance counts do not
// exceed.
func (i ideal) quantile(chance func(late time.Duration) float64, percent int) time.Duration {
	// A datagram comes after whole round trips; one of an earlier frame was sent so
	// many frames before.
	var times []time.Duration
	for losses := range 40 {
		for f := range Frames {
			if late := time.Duration(losses)*i.rtt - frameTime(f); late >= 0 {
				times = append(times, late)
			}
		}
	}
	slices.Sort(times)
	n, _ := slices.BinarySearchFunc(times, float64(percent)/100, func(late time.Duration, want float64) int {
		if chance(late) < want-1e-12 {
			return -1
		}
		return 1
	})
	return i.rtt/2 + times[n]
}
