package eventlog_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
)

// However many records are asked for, those of a kind and those of a source of it are bounded by the time, none is
// forgotten in the counts, and neither another kind nor another source has fewer by it.
func TestLimit(t *testing.T) {
	const seconds = 1000
	rng := rand.New(rand.NewPCG(1, 2))
	var l eventlog.Limit
	written, bySource := 0, map[uint64]int{}
	asked, told := 0, 0
	for now := core.Micros(0); now < seconds*core.Second; now += core.Micros(rng.IntN(int(20 * core.Millisecond))) {
		asked++
		source := uint64(1 + rng.IntN(100))
		if rng.IntN(2) == 0 {
			source = 7
		}
		if omitted, ok := l.Take(now, "flood", source); ok {
			written++
			told += int(omitted)
			bySource[source]++
		}
	}
	check.That(t, written <= eventlog.KindAtOnce+seconds, fmt.Sprintf("%d records of a kind", written))
	check.That(t, written >= seconds, fmt.Sprintf("there is one a second: %d", written))
	for source, n := range bySource {
		check.That(t, n <= eventlog.SourceAtOnce+seconds/10, fmt.Sprintf("%d records of source %d", n, source))
	}
	omitted := -1
	for now := seconds * core.Second; omitted < 0; now += core.Second {
		if n, ok := l.Take(now, "flood", 200); ok {
			omitted = int(n)
		} else {
			asked++
		}
	}
	check.Same(t, "records that were written, or counted", written+told+omitted, asked)
	for range eventlog.SourceAtOnce {
		_, ok := l.Take(seconds*core.Second, "other", 7)
		check.That(t, ok, "another kind has its own records")
	}
	_, ok := l.Take(seconds*core.Second, "other", 7)
	check.That(t, !ok, fmt.Sprintf("a source has %d at once", eventlog.SourceAtOnce))
	_, ok = l.Take(seconds*core.Second, "other", 8)
	check.That(t, ok, "another source has its own")
}
