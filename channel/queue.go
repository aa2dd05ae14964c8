package channel

import (
	"encoding/binary"
	"math/bits"

	"github.com/chunkwire/chunkwire/core"
)

// queueTop is how many bytes a message in a queue has before its data.
const queueTop = 18

// firstQueue is how many bytes a queue has at first.
const firstQueue = 256

// queue holds messages of an unreliable channel, the oldest first, in a ring of bytes that
// grows up to its most. Each has 8 bytes of a number, 8 of a time and 2 of its length before its data.
type queue struct {
	ring       []byte // a power of two, except for the last size
	head, used int
	most       int
}

func (q *queue) empty() bool { return q.used == 0 }

// fits reports whether a message can be put into the queue now.
func (q *queue) fits(size int) bool { return q.used+queueTop+size <= q.most }

// push puts a message that fits at the end.
func (q *queue) push(n core.Number, at core.Micros, data []byte) {
	q.reach(q.used + queueTop + len(data))
	var top [queueTop]byte
	binary.LittleEndian.PutUint64(top[:], uint64(n))
	binary.LittleEndian.PutUint64(top[8:], uint64(at))
	binary.LittleEndian.PutUint16(top[16:], uint16(len(data)))
	q.write(top[:])
	q.write(data)
}

// reach makes the ring large enough for so many bytes.
func (q *queue) reach(need int) {
	if need <= len(q.ring) {
		return
	}
	bigger := make([]byte, min(q.most, max(firstQueue, 1<<bits.Len(uint(need-1)))))
	q.copyTo(bigger[:q.used], 0)
	q.ring, q.head = bigger, 0
}

func (q *queue) write(b []byte) {
	at := (q.head + q.used) % len(q.ring)
	n := copy(q.ring[at:], b)
	copy(q.ring, b[n:])
	q.used += len(b)
}

// copyTo copies what begins so many bytes behind the head.
func (q *queue) copyTo(dst []byte, from int) {
	if len(dst) == 0 {
		return
	}
	at := (q.head + from) % len(q.ring)
	n := copy(dst, q.ring[at:])
	copy(dst[n:], q.ring)
}

// first returns the number and the time of the oldest message, and how many bytes it has. There must be one.
func (q *queue) first() (n core.Number, at core.Micros, size int) {
	var top [queueTop]byte
	q.copyTo(top[:], 0)
	return core.Number(binary.LittleEndian.Uint64(top[:])), core.Micros(binary.LittleEndian.Uint64(top[8:])), int(binary.LittleEndian.Uint16(top[16:]))
}

// pop appends the oldest message to dst and takes it out.
func (q *queue) pop(dst []byte) []byte {
	_, _, size := q.first()
	end := len(dst)
	dst = append(dst, make([]byte, size)...)
	q.copyTo(dst[end:], queueTop)
	q.drop()
	return dst
}

// clear takes out all messages.
func (q *queue) clear() { q.used = 0 }

// drop takes out the oldest message.
func (q *queue) drop() {
	_, _, size := q.first()
	q.head = (q.head + queueTop + size) % len(q.ring)
	q.used -= queueTop + size
}
