package lanes

import "github.com/chunkwire/chunkwire/core"

// Rebuilds bounds the time that several connections spend on rebuilding chunks of repair slices,
// while all else waits: a bucket of time (RPH-3). The zero value is full. It is not safe for
// concurrent use.
type Rebuilds struct {
	used int64 // quarters of a microsecond
	at   core.Micros
}

const (
	rebuildsAtOnce = 50 * core.Millisecond
	rebuildsShare  = 4  // one part of the time in so many
	rebuiltFree    = 64 // so many slices of a chunk cost nothing
	rebuiltSlice   = 50 * core.Micros(1)
)

// take takes what it costs to rebuild so many slices of a chunk, or returns false if there is not
// so much.
func (b *Rebuilds) take(now core.Micros, missing int) bool {
	if missing <= rebuiltFree {
		return true
	}
	b.used = max(0, b.used-int64(max(0, now-b.at)))
	b.at = max(b.at, now)
	cost := rebuildsShare * int64(rebuiltSlice) * int64(missing-rebuiltFree)
	if b.used+cost > rebuildsShare*int64(rebuildsAtOnce) {
		return false
	}
	b.used += cost
	return true
}
