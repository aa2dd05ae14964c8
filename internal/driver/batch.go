package driver

import (
	"sync"

	"github.com/chunkwire/chunkwire/internal/udp"
)

// Batch is what the driver sends at once: encoded under the lock, written
// without. Its memory is used again and again, and not its own while it is empty.
type Batch struct {
	most    int               // datagrams
	buf     []byte            // that were encoded
	room    *[udp.MaxRun]byte // for them; nil until the first
	answers []byte            // room for the answers of one batch
	runs    []udp.Run
	taken   int // runs that this batch did not encode
	encoded int // datagrams that it did
}

// NewBatch returns a batch for datagrams of at most so many bytes. It takes as many
// as the largest run that the system takes at once: that is what the driver
// collects before it sends, and so the most that a connection gets out before it
// is the next one's turn.
func NewBatch(largest int) *Batch {
	return &Batch{most: udp.MaxRun / largest}
}

// rooms are for all batches of the process.
var rooms = sync.Pool{New: func() any { return new([udp.MaxRun]byte) }}

// rest gives back the room of a batch that was sent.
func (b *Batch) rest() {
	if b.room != nil {
		rooms.Put(b.room)
		b.room, b.buf = nil, nil
	}
}

// reset starts a batch with runs that were encoded elsewhere; they do not count.
func (b *Batch) reset(ready []udp.Run) {
	clear(b.runs) // releases what they point to
	b.runs = append(b.runs[:0], ready...)
	b.taken, b.encoded = len(ready), 0
	b.buf, b.answers = b.buf[:0], b.answers[:0]
}

// Full reports whether there is no room for another datagram.
func (b *Batch) Full() bool { return b.encoded >= b.most }

// Room returns where the next datagram is to be appended.
func (b *Batch) Room() []byte {
	if b.room == nil {
		b.room = rooms.Get().(*[udp.MaxRun]byte)
		b.buf = b.room[:0]
	}
	return b.buf
}

// Add keeps a datagram that was appended to Room, and returns its size. It goes with ECT(0), or
// without.
func (b *Batch) Add(to udp.Addr, buf []byte, ect bool) (size int) {
	start := len(b.buf)
	size = len(buf) - start
	b.buf = buf
	b.encoded++
	if run := b.runFor(to, size, ect); run != nil {
		run.Data = buf[start-len(run.Data):]
		return size
	}
	b.runs = append(b.runs, udp.Run{Data: buf[start:], Size: size, To: to, ECT: ect})
	return size
}

// runFor returns the run that a datagram of size bytes continues: the one just
// before it, if that is to the same peer, with the same mark, and its datagrams are all of
// one size, which is not smaller. Otherwise nil.
func (b *Batch) runFor(to udp.Addr, size int, ect bool) *udp.Run {
	last := len(b.runs) - 1
	if last < b.taken {
		return nil
	}
	r := &b.runs[last]
	if r.To.Key != to.Key || r.ECT != ect || size > r.Size || len(r.Data)%r.Size != 0 {
		return nil
	}
	return r
}
