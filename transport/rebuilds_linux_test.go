package transport

import (
	"cmp"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/chunkwire/chunkwire/conform/check"
)

// threadTime returns the processor time of the thread.
func threadTime(b *testing.B) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		b.Fatal(err)
	}
	return time.Duration(t.Nano())
}

// What a server does at once while it makes chunks out of repair slices, half of which are not there: how long, in
// processor time, a datagram of another connection waits that arrives at any time in which the server works. Between two
// such events the reader has its turn.
func BenchmarkRebuildsBesideOthers(b *testing.B) {
	const clients = 16
	sh := silentServer(b, Config{MaxPerAddress: clients, ServerRate: 8_000_000_000}).shards[0]
	cfg := check.Must(newSettings(Config{Profile: Fixed, MaxRate: 1_000_000_000})).Config
	var mates []*mate
	for i := range clients {
		mates = append(mates, join(b, sh, i, cfg))
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var events []time.Duration
	event := func(do func()) {
		began := threadTime(b)
		do()
		events = append(events, threadTime(b)-began)
	}
	chunk := make([]byte, MaxChunkSize)
	for b.Loop() {
		for _, m := range mates {
			check.Must(m.client.Conn().SendChunk(sh.driver.Now(), chunk))
		}
		for done := 0; done < clients; {
			for _, m := range mates {
				m.sendHalf(event)
				if _, ok := m.client.Conn().ChunkDone(); ok {
					done++
				}
			}
		}
	}
	slices.SortFunc(events, func(x, y time.Duration) int { return cmp.Compare(y, x) })
	b.ReportMetric(waits(events, 100).Seconds()*1e6, "p99-us")
	b.ReportMetric(events[0].Seconds()*1e6, "most-us")
}

// waits returns what one of n waits at least that arrives while the server works, if the events are sorted, longest
// first: the rest of an event.
func waits(events []time.Duration, n int) time.Duration {
	all := time.Duration(0)
	for _, e := range events {
		all += e
	}
	sum := time.Duration(0) // of the events longer than the next
	for i, e := range events {
		if beyond := sum - time.Duration(i)*e; beyond >= all/time.Duration(n) {
			return (sum - all/time.Duration(n)) / time.Duration(i)
		}
		sum += e
	}
	return 0
}
