package lanes

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Rebuilds bounds the time that several connections spend on repair slices, while all else waits: a bucket of time
// for what stores them, and one for what completes a chunk with them (RPH-3). With one for both, slices that cost
// little would leave nothing for chunks that are honest. The zero value is full. It is not safe for concurrent use.
type Rebuilds struct{ stored, rebuilt bucket }

// bucket is a bucket of time.
type bucket struct {
	used int64 // parts of a microsecond: so many as the share has
	at   core.Micros
}

// limit is what a bucket has when it is full, and of which part of the time it gets more.
type limit struct {
	atOnce core.Micros
	share  int64
}

var (
	storing    = limit{50 * core.Millisecond, 8}
	rebuilding = limit{50 * core.Millisecond, 4}
)

// storedCost is what it costs to store a repair slice, or to find that it is dependent.
const storedCost = 16 * core.Micros(1)

// rebuiltCost returns what it costs to complete a chunk with so many repair slices.
func rebuiltCost(repair int) core.Micros { return core.Micros(repair * (80 + repair) / 8) }

// allow takes what a slice costs, or returns false if there is not so much.
func (b *Rebuilds) allow(now core.Micros, r *statemachine.Receiver, s codec.Slice) bool {
	if r.StoresRepair(s) && !b.stored.take(now, storing, storedCost) {
		return false
	}
	return b.rebuilt.take(now, rebuilding, rebuiltCost(r.Rebuilds(s)))
}

func (b *bucket) take(now core.Micros, l limit, cost core.Micros) bool {
	if cost == 0 {
		return true
	}
	b.used = max(0, b.used-int64(max(0, now-b.at)))
	b.at = max(b.at, now)
	if b.used+l.share*int64(cost) > l.share*int64(l.atOnce) {
		return false
	}
	b.used += l.share * int64(cost)
	return true
}
