package transport

import "github.com/chunkwire/chunkwire/codec"

// What the driver collects before it sends, and so the most that a connection
// gets out before it is the next one's turn: as many datagrams as the largest
// run that the system takes at once.
const (
	batchSize = maxRunBytes / codec.MaxDatagramSize // 63

	// maxRunBytes is the largest payload of UDP over IPv4, which bounds a run, too.
	maxRunBytes = 1<<16 - 1 - 20 - 8
)

// batch is what the driver sends at once: encoded under the lock, written
// without. Its memory is used again and again.
type batch struct {
	framers  []codec.Framer // one a lane
	buf      []byte         // room for a full batch
	messages []message      // those that were encoded here lie in buf, one after the other
	taken    int            // messages that this batch did not encode
	encoded  int            // datagrams that it did
}

func newBatch(framers []codec.Framer) *batch {
	return &batch{framers: framers, buf: make([]byte, 0, batchSize*codec.MaxDatagramSize)}
}

// reset starts a batch with messages that were encoded elsewhere; they do not
// count.
func (b *batch) reset(ready []message) {
	clear(b.messages) // let go of what they point to
	b.messages = append(b.messages[:0], ready...)
	b.taken, b.encoded = len(ready), 0
	b.buf = b.buf[:0]
}

func (b *batch) full() bool { return b.encoded >= batchSize }

func (b *batch) addAck(c *Conn, lane int, a codec.Ack) {
	buf, err := b.framers[lane].AppendAck(b.buf, a)
	b.add(c, buf, err)
}

func (b *batch) addSlice(c *Conn, lane int, s codec.Slice) {
	buf, err := b.framers[lane].AppendSlice(b.buf, s)
	b.add(c, buf, err)
}

// add keeps a datagram that was encoded behind the others. There is no error:
// what the machines make can be encoded.
func (b *batch) add(c *Conn, buf []byte, err error) {
	if err != nil {
		return
	}
	start := len(b.buf)
	b.buf = buf
	b.encoded++
	c.traffic.out(len(buf) - start)
	if run := b.runFor(c, len(buf)-start); run != nil {
		run.data = buf[start-len(run.data):]
		return
	}
	b.messages = append(b.messages, message{buf[start:], len(buf) - start, c.peer})
}

// runFor returns the run that a datagram of size bytes continues: the one just
// before it, if that is to the same peer and its datagrams are all of one size,
// which is not smaller. Otherwise nil.
func (b *batch) runFor(c *Conn, size int) *message {
	last := len(b.messages) - 1
	if last < b.taken {
		return nil
	}
	m := &b.messages[last]
	if m.to.key != c.peer.key || size > m.size || len(m.data)%m.size != 0 {
		return nil
	}
	return m
}
