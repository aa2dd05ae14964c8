package transport

import "github.com/chunkwire/chunkwire/codec"

// batchSize is how many datagrams the driver collects before it sends them, and
// so the most that a connection gets out before it is the next one's turn.
const batchSize = 64

// batch is what the driver sends at once: encoded under the lock, written
// without. Its memory is used again and again.
type batch struct {
	framer   codec.Framer
	buf      []byte // room for a full batch
	messages []message
	taken    int // messages that this batch did not encode
}

func newBatch(f codec.Framer) *batch {
	return &batch{framer: f, buf: make([]byte, 0, batchSize*codec.MaxDatagramSize)}
}

// reset starts a batch with messages that were encoded elsewhere; they do not
// count.
func (b *batch) reset(ready []message) {
	clear(b.messages) // let go of what they point to
	b.messages = append(b.messages[:0], ready...)
	b.taken = len(ready)
	b.buf = b.buf[:0]
}

func (b *batch) full() bool { return len(b.messages)-b.taken >= batchSize }

func (b *batch) addAck(c *Conn, a codec.Ack) {
	buf, err := b.framer.AppendAck(b.buf, a)
	b.add(c, buf, err)
}

func (b *batch) addSlice(c *Conn, s codec.Slice) {
	buf, err := b.framer.AppendSlice(b.buf, s)
	b.add(c, buf, err)
}

// add keeps a datagram that was encoded behind the others. There is no error:
// what the machines make can be encoded.
func (b *batch) add(c *Conn, buf []byte, err error) {
	if err != nil {
		return
	}
	data := buf[len(b.buf):]
	b.buf = buf
	b.messages = append(b.messages, message{data, c.peer})
	c.traffic.out(len(data))
}
