package connection

import (
	"github.com/chunkwire/chunkwire/core"
)

// budget bounds messages (CXM-4), or reports (CXM-25). It counts in bits times microseconds, so that nothing is
// rounded away, and can be overdrawn by one packet.
type budget struct {
	left int64
	now  core.Micros
}

// aByte is what a byte costs.
const (
	aByte = 8 * int64(core.Second)
	burst = MessageBurst * aByte
)

// refill adds what the time since the latest event gives, at a rate in bits a second.
func (b *budget) refill(now core.Micros, rate int64) {
	if now == b.now {
		return // it has what it had, without a division for each datagram of a batch
	}
	if elapsed := int64(now - b.now); elapsed > (burst-b.left)/rate {
		b.left = burst
	} else {
		b.left += elapsed * rate
	}
	b.now = now
}

// some reports whether messages can go.
func (b *budget) some() bool { return b.left >= 0 }

// at returns when messages can go.
func (b *budget) at(rate int64) core.Micros {
	if b.some() {
		return b.now
	}
	return b.now + core.Micros((-b.left+rate-1)/rate)
}

// spend charges so many bytes.
func (b *budget) spend(bytes int) { b.left -= int64(bytes) * aByte }
