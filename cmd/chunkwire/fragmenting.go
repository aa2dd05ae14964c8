package main

import (
	"fmt"
	"math"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
)

// fragmenting is what it takes to send a block as one packet in fragments, as
// the article before the chunk system did: if one fragment is lost the packet
// is, and all of it is resent.
type fragmenting struct {
	Whole     float64 // chance that all fragments of one attempt arrive
	Attempts  float64 // attempts needed on average; +Inf if it never works
	Datagrams float64
	Bytes     float64 // UDP payload
	Seconds   float64 // attempts, and a round trip to learn of each failure
}

// estimateFragmenting does the article's arithmetic for a block, at the pace of
// a burst or of the link if that is slower. loss is in percent, linkRate in bits a
// second, 0 for unlimited.
func estimateFragmenting(size int, loss float64, rtt time.Duration, linkRate int64) fragmenting {
	n := float64(codec.NumSlices(size))
	var f fragmenting
	f.Whole = math.Pow(1-loss/100, n)
	f.Attempts = 1 / f.Whole
	f.Datagrams = f.Attempts * n
	f.Bytes = f.Attempts * (float64(size) + 13*n)
	each := n * base.Burst().Spacing.Duration().Seconds()
	if linkRate > 0 {
		onTheWire := 8 * (float64(size) + n*(13+codec.HeaderBytes)) / float64(linkRate)
		each = max(each, onTheWire)
	}
	f.Seconds = f.Attempts*(each+rtt.Seconds()) - rtt.Seconds()/2
	return f
}

// formatCount writes a number that can be very large.
func formatCount(n float64) string {
	switch {
	case n < 100:
		return fmt.Sprintf("%.1f", n)
	case n < 1e6:
		return fmt.Sprintf("%.0f", n)
	case n < 1e9:
		return fmt.Sprintf("%.1f million", n/1e6)
	case n < 1e12:
		return fmt.Sprintf("%.1f billion", n/1e9)
	case math.IsInf(n, 0):
		return "never"
	}
	return "more than a trillion"
}

// formatSeconds writes a time that can be very long.
func formatSeconds(s float64) string {
	const year = 365.25 * 24 * 3600
	switch {
	case s < 1:
		return fmt.Sprintf("%.0f ms", s*1000)
	case s < 120:
		return fmt.Sprintf("%.1f s", s)
	case s < 7200:
		return fmt.Sprintf("%.0f minutes", s/60)
	case s < 48*3600:
		return fmt.Sprintf("%.1f hours", s/3600)
	case s < year:
		return fmt.Sprintf("%.0f days", s/86400)
	case math.IsInf(s, 0):
		return "never"
	case s >= 1e6*year:
		return "more than a million years"
	}
	return formatCount(s/year) + " years"
}

// formatRate writes a rate that can be very small.
func formatRate(bits float64) string {
	switch {
	case bits == 0:
		return "none"
	case bits < 1:
		return "less than 1 bit/s"
	}
	return formatBits(bits)
}
