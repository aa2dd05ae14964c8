package plain

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/internal/udp"
)

// batchSize is how many datagrams the driver collects before it sends, and so the
// most that a connection gets out before it is the next one's turn: as many as
// the largest run that the system takes at once.
const batchSize = udp.MaxRun / codec.MaxDatagramSize // 63

// batch is what the driver sends at once: encoded under the lock, written
// without. Its memory is used again and again.
type batch struct {
	framers []codec.Framer // one a lane
	buf     []byte         // room for a full batch
	runs    []udp.Run      // those that were encoded here lie in buf, one after the other
	taken   int            // runs that this batch did not encode
	encoded int            // datagrams that it did
}

func newBatch(framers []codec.Framer) *batch {
	return &batch{framers: framers, buf: make([]byte, 0, batchSize*codec.MaxDatagramSize)}
}

// reset starts a batch with runs that were encoded elsewhere; they do not count.
func (b *batch) reset(ready []udp.Run) {
	clear(b.runs) // releases what they point to
	b.runs = append(b.runs[:0], ready...)
	b.taken, b.encoded = len(ready), 0
	b.buf = b.buf[:0]
}

func (b *batch) full() bool { return b.encoded >= batchSize }

func (b *batch) addAck(c *Conn, lane int, a codec.Ack) {
	buf, err := b.framers[lane].AppendAck(b.buf, a)
	b.add(c, buf, err)
}

// addSlice returns the bytes that the slice's datagram has.
func (b *batch) addSlice(c *Conn, lane int, s codec.Slice) int {
	buf, err := b.framers[lane].AppendSlice(b.buf, s)
	return b.add(c, buf, err)
}

// add keeps a datagram that was encoded behind the others. There is no error:
// what the machines make can be encoded.
func (b *batch) add(c *Conn, buf []byte, err error) (size int) {
	if err != nil {
		return 0
	}
	start := len(b.buf)
	size = len(buf) - start
	b.buf = buf
	b.encoded++
	c.traffic.out(size)
	if run := b.runFor(c, size); run != nil {
		run.Data = buf[start-len(run.Data):]
		return size
	}
	b.runs = append(b.runs, udp.Run{Data: buf[start:], Size: size, To: c.peer})
	return size
}

// runFor returns the run that a datagram of size bytes continues: the one just
// before it, if that is to the same peer and its datagrams are all of one size,
// which is not smaller. Otherwise nil.
func (b *batch) runFor(c *Conn, size int) *udp.Run {
	last := len(b.runs) - 1
	if last < b.taken {
		return nil
	}
	r := &b.runs[last]
	if r.To.Key != c.peer.Key || size > r.Size || len(r.Data)%r.Size != 0 {
		return nil
	}
	return r
}
