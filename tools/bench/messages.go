package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// What is sent: a frame of messages at a time.
const (
	Frames      = 64
	PerFrame    = 64 // messages
	MessageSize = 64 // bytes
	FrameRate   = 60 // frames a second

	MessageBytes = Frames * PerFrame * MessageSize
)

// MessageCells is the network on which messages are measured, with its losses. Its
// rate is more than 40 times what the messages need.
func MessageCells() (cells []Cell) {
	n := Cell{Network: "M", Rate: 100e6, RTT: 100 * time.Millisecond, Queue: 1 << 20}
	for _, loss := range []int{0, 1, 5, 20} {
		cells = append(cells, n.with(loss))
	}
	return cells
}

// MessagePeer is a protocol that moves messages from a server to a client.
type MessagePeer struct {
	Name    string
	Note    string // how it is set up, and where a message ends
	Ordered bool   // messages are delivered in the order in which they were sent
	Connect func(ctx context.Context, p *path) (*talk, error)
}

// talk is a connection that is ready to send messages.
type talk struct {
	// send takes a frame at the server. It may wait until the protocol has room for it.
	send func(frame [][]byte) error
	// receive calls deliver for each message at the client, until the connection ends.
	receive func(deliver func(message []byte))
	// sent says what the server has sent of the messages so far.
	sent  func() sent
	close func()
}

// sent counts the units that a protocol sends again: records, segments, or bytes of
// streams.
type sent struct{ first, all int64 }

// again returns how much of it was sent again, over what was sent first.
func (s sent) again() float64 { return float64(s.all-s.first) / float64(s.first) }

// MessageRun is what one run took.
type MessageRun struct {
	Delays []time.Duration // of each message, from its frame until the client has it
	Last   time.Duration   // from the last frame until the client has all
	Bytes  int64           // both ways, with headers
	Again  float64         // what was sent again, over what was sent first
	Err    error
}

// measureMessages runs a peer once, in virtual time. The peers shake hands, and move a
// frame that does not count, on the cell without its faults.
func measureMessages(t *testing.T, p MessagePeer, c Cell, seed uint64) (r MessageRun) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		way := newPath(c.quiet(), seed)
		defer way.close()
		conn, err := p.Connect(ctx, way)
		if err != nil {
			r.Err = fmt.Errorf("connecting: %w", err)
			return
		}
		defer conn.close()
		all := messages(seed)
		come := newInbox(all, p.Ordered)
		go conn.receive(come.take)
		if r.Err = conn.send(all[:PerFrame]); r.Err != nil {
			return
		}
		time.Sleep(2 * settle)
		way.set(c)
		r = exchange(conn, way, all, come)
	})
	return r
}

// exchange sends every frame but the first at its time, and waits until the line is
// quiet again.
func exchange(conn *talk, way *path, all [][]byte, come *inbox) (r MessageRun) {
	start, bytes, before := time.Now(), way.bytes(), conn.sent()
	late := time.AfterFunc(patience, conn.close)
	defer late.Stop()
	for f := range Frames {
		time.Sleep(time.Until(start.Add(frameTime(f))))
		if r.Err = conn.send(all[(1+f)*PerFrame:][:PerFrame]); r.Err != nil {
			return r
		}
	}
	r.Delays, r.Err = come.delays(start)
	if r.Err != nil {
		return r
	}
	r.Last = time.Since(start.Add(frameTime(Frames - 1)))
	time.Sleep(settle)
	after := conn.sent()
	r.Bytes = way.bytes() - bytes
	r.Again = sent{after.first - before.first, after.all - before.all}.again()
	return r
}

// frameTime is when a frame is sent, after the first one.
func frameTime(f int) time.Duration { return time.Duration(f) * time.Second / FrameRate }

// messages are those of all frames, and of one before them. Each begins with its
// index.
func messages(seed uint64) (all [][]byte) {
	block := content((1+Frames)*PerFrame*MessageSize, seed)
	for i := range (1 + Frames) * PerFrame {
		m := block[i*MessageSize:][:MessageSize]
		binary.LittleEndian.PutUint32(m, uint32(i))
		all = append(all, m)
	}
	return all
}

var errOrder = errors.New("a message came twice, or out of order")

// inbox is where messages arrive.
type inbox struct {
	all     [][]byte
	ordered bool
	full    chan struct{} // closed when all have come, or one that is wrong

	mu   sync.Mutex
	at   []time.Time
	have int
	err  error
}

func newInbox(all [][]byte, ordered bool) *inbox {
	return &inbox{all: all, ordered: ordered, full: make(chan struct{}), at: make([]time.Time, len(all))}
}

// take notes when a message came. It may be called by many at once.
func (b *inbox) take(message []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return
	}
	if b.err = b.check(message); b.err != nil {
		close(b.full)
		return
	}
	b.at[binary.LittleEndian.Uint32(message)] = time.Now()
	b.have++
	if b.have == len(b.all) {
		close(b.full)
	}
}

func (b *inbox) check(message []byte) error {
	if len(message) != MessageSize {
		return errCorrupt
	}
	i := int(binary.LittleEndian.Uint32(message))
	if i >= len(b.all) || !bytes.Equal(message, b.all[i]) {
		return errCorrupt
	}
	if !b.at[i].IsZero() || b.ordered && i != b.have {
		return errOrder
	}
	return nil
}

var errMissing = errors.New("not all messages arrived")

// delays waits for all messages and returns how long each took that was sent since
// start.
func (b *inbox) delays(start time.Time) (delays []time.Duration, err error) {
	select {
	case <-b.full:
	case <-time.After(patience):
		return nil, errMissing
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return nil, b.err
	}
	for i, at := range b.at[PerFrame:] {
		delays = append(delays, at.Sub(start.Add(frameTime(i/PerFrame))))
	}
	return delays, nil
}

// prefixes says how messages end in a stream.
const prefixes = "2 bytes of length before each message"

// prefixed makes a stream of messages.
func prefixed(frame [][]byte) (stream []byte) {
	for _, m := range frame {
		stream = binary.LittleEndian.AppendUint16(stream, uint16(len(m)))
		stream = append(stream, m...)
	}
	return stream
}

// readPrefixed takes a stream apart, until it ends.
func readPrefixed(stream io.Reader, deliver func(message []byte)) {
	in := bufio.NewReader(stream)
	for {
		size, err := readBlock(in, 2)
		if err != nil {
			return
		}
		m, err := readBlock(in, int(binary.LittleEndian.Uint16(size)))
		if err != nil {
			return
		}
		deliver(m)
	}
}
