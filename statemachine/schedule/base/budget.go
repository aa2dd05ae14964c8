package base

import "github.com/chunkwire/chunkwire/core"

// budget is the token bucket of appendix G.4. It counts in millionths of a byte,
// so that rate times microseconds is exact and nothing is ever rounded away.
type budget struct {
	rate    int64 // bytes a second, which is millionths of a byte a microsecond; 0: unlimited
	cap     int64
	left    int64       // 0 <= left <= cap
	at      core.Micros // up to when time has refilled it
	byTime  int64       // what time has added since the last refill by an ack
	ackPays bool
}

const (
	perByte = 1_000_000
	// longestRefill bounds the product of rate and time (BUD-3).
	longestRefill = 1000 * core.Second
)

func newBudget(p Profile) budget {
	return budget{rate: p.Rate / 8, cap: p.Cap * perByte, left: p.Cap * perByte, ackPays: p.AckPays}
}

// refill adds what the time since the last refill is worth (BUD-3).
func (b *budget) refill(now core.Micros) {
	earned := b.rate * int64(min(now-b.at, longestRefill))
	b.at = now
	b.byTime = min(b.byTime+earned, b.cap)
	b.left = min(b.left+earned, b.cap)
}

// startChunk raises what is left to at least n bytes (BUD-5), and forgets what
// time has added before: it does not count against the acks of this chunk (SCH-5).
func (b *budget) startChunk(n int64) {
	b.left = max(b.left, n*perByte)
	b.byTime = 0
}

// acked adds n bytes that arrived, less what time has added meanwhile, so
// that the two never add up (BUD-6).
func (b *budget) acked(n int64) {
	if !b.ackPays {
		return
	}
	if extra := n*perByte - b.byTime; extra > 0 {
		b.left = min(b.left+extra, b.cap)
	}
	b.byTime = 0
}

// take spends n bytes if they are there (BUD-2).
func (b *budget) take(n int64) bool {
	if b.rate == 0 {
		return true
	}
	if b.left < n*perByte {
		return false
	}
	b.left -= n * perByte
	return true
}

// when returns the time at which n bytes will be there (BUD-4).
func (b *budget) when(n int64) core.Micros {
	missing := n*perByte - b.left
	if b.rate == 0 || missing <= 0 {
		return b.at
	}
	return b.at + core.Micros((missing+b.rate-1)/b.rate)
}
