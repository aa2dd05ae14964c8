package packet

import "github.com/chunkwire/chunkwire/core"

const (
	longestShown = 1 << 26 // in microseconds, 67 s; keeps sums of squares within 64 bits
	mostSamples  = 512
	firstSamples = 32
)

// history keeps the latest samples. It grows as they come.
type history struct {
	ring []uint32 // in microseconds
	at   int      // where the next one goes once the ring has mostSamples
}

func (h *history) add(r core.Micros) {
	v := uint32(min(r, longestShown))
	if len(h.ring) < mostSamples {
		if h.ring == nil {
			h.ring = make([]uint32, 0, firstSamples)
		}
		h.ring = append(h.ring, v)
		return
	}
	h.ring[h.at] = v
	h.at = (h.at + 1) % mostSamples
}

// Samples are figures over the round trips of the last 512 packets that were acked (PKE-6).
type Samples struct {
	Count         int
	Min, Max, Avg core.Micros
	// JitterAvg is the mean distance from the smallest, JitterMax the largest.
	JitterAvg, JitterMax core.Micros
	// JitterDev is the standard deviation.
	JitterDev core.Micros
}

func (h *history) figures() Samples {
	n := len(h.ring)
	if n == 0 {
		return Samples{}
	}
	least, most, sum := h.ring[0], h.ring[0], uint64(0)
	for _, v := range h.ring {
		least, most, sum = min(least, v), max(most, v), sum+uint64(v)
	}
	avg := sum / uint64(n)
	squares := uint64(0)
	for _, v := range h.ring {
		d := uint64(v) - avg // its square is correct even if this wraps
		squares += d * d
	}
	return Samples{
		Count: n, Min: core.Micros(least), Max: core.Micros(most), Avg: core.Micros(avg),
		JitterAvg: core.Micros((sum - uint64(n)*uint64(least)) / uint64(n)),
		JitterMax: core.Micros(most - least),
		JitterDev: core.Micros(isqrt(squares / uint64(n))),
	}
}

// isqrt returns the largest integer whose square is at most v.
func isqrt(v uint64) uint64 {
	var root uint64
	for bit := uint64(1) << 31; bit > 0; bit >>= 1 {
		if r := root | bit; r*r <= v {
			root = r
		}
	}
	return root
}
