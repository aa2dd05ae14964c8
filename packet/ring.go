package packet

import (
	"github.com/chunkwire/chunkwire/core"
)

// firstRing is how many numbers a ring of sent packets has at first.
const firstRing = 32

// sentPacket is what is kept of a packet that was sent.
type sentPacket struct {
	at    core.Micros
	bytes uint32 // of its datagrams
	state sentState
}

// sentRing keeps the newest sent numbers, without a gap. It grows as long as more are
// kept than it holds, and shrinks when few are.
type sentRing struct {
	slots  []sentPacket // number n is slot n modulo their count, a power of two
	oldest core.Number  // the first that is kept
	next   core.Number  // the next to be sent
}

// get returns the packet of a number that is kept.
func (r *sentRing) get(n core.Number) *sentPacket {
	return &r.slots[n&core.Number(len(r.slots)-1)]
}

// len returns how many numbers are kept.
func (r *sentRing) len() int { return int(r.next - r.oldest) }

// push keeps one more number. There must be fewer than most.
func (r *sentRing) push(p sentPacket, most int) {
	if r.len() == len(r.slots) {
		r.resize(min(max(2*len(r.slots), firstRing), most))
	}
	r.next++
	*r.get(r.next - 1) = p
}

// resize makes room for so many numbers, no fewer than are kept.
func (r *sentRing) resize(size int) {
	other := sentRing{slots: make([]sentPacket, size), oldest: r.oldest, next: r.next}
	for n := r.oldest; n < r.next; n++ {
		*other.get(n) = *r.get(n)
	}
	*r = other
}

// drop forgets the oldest number.
func (r *sentRing) drop() {
	r.oldest++
	if len(r.slots) > firstRing && r.len() <= len(r.slots)/8 {
		r.resize(max(len(r.slots)/4, firstRing))
	}
}
