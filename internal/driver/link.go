package driver

import (
	"net"

	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/udp"
)

// End is an end of a connection without I/O: each of package connection is one.
type End interface {
	// Poll appends a datagram to send at now to dst, or returns false when none is due.
	Poll(now core.Micros, dst []byte) (out []byte, ok bool)
	// ECT reports whether that datagram is sent with ECT(0).
	ECT() bool
	// Deadline returns when Poll has something to do, or core.Never.
	Deadline() core.Micros
}

// ChunkEnd is the part of an end that carries chunks.
type ChunkEnd interface {
	// SendEncoded puts a chunk in line and returns its number. It fails with
	// lanes.ErrBusy while as many wait as can.
	SendEncoded(now core.Micros, e *erasure.Encoded) (number int64, err error)
	// WithdrawChunk removes a chunk that is not in flight from the line.
	WithdrawChunk(number int64) bool
	// ChunkDone returns the number of a chunk that the other end has, once for each.
	ChunkDone() (number int64, ok bool)
	// ChunkSize returns the size of the chunk that ReadChunk appends, or 0.
	ChunkSize() int
	ReadChunk(now core.Micros, dst []byte) (chunk []byte, ok bool)
	// Work does some of what ReadChunk has to do before, and reports whether nothing is left.
	Work(operations int) (done bool)
	// ChunkReadTime returns how long the chunk took that was read last.
	ChunkReadTime() core.Micros
	ChunkStats() lanes.Stats
	Lanes() int
}

// Owner is what a package adds to its links.
type Owner interface {
	// UpdateLocked ends an event: it calls DeliverLocked, and gives the link its next
	// time, not before earliest.
	UpdateLocked(now, earliest core.Micros)
	// AbandonLocked ends the connection: a chunk in flight was canceled.
	AbandonLocked(cause error)
}

// Links is what the links of a driver share.
type Links struct {
	Driver    *Driver
	RecvQueue int // how many chunks of each can be complete

	// Took, when not nil, is called with how long each chunk took that was sent, or received.
	Took func(sent bool, took core.Micros)
}

// Link is an end of a connection over a socket: what the ends of package transport and of
// package transport/plain have in common. The driver guards it.
type Link struct {
	*Links
	Owner  Owner
	End    End
	Chunks ChunkEnd // nil until the connection has begun

	To      udp.Addr
	Traffic Traffic

	slot     Slot
	sending  Deliveries // chunks that the other end does not have yet
	complete []*[]byte  // chunks for Recv
	arrived  Signal     // there is a chunk to receive, or the connection has ended
	done     Signal     // the connection has ended
	err      error      // why it has ended; nil while it is active
	works    bool       // a chunk is complete, and is made in steps
}

// AddLocked makes the link known to its driver, which polls it by c.
func (l *Link) AddLocked(c Polled, due core.Micros) {
	l.Driver.AddLocked(&l.slot, c)
	l.ScheduleLocked(due)
}

// RemoveLocked makes its driver forget the link.
func (l *Link) RemoveLocked() { l.Driver.RemoveLocked(&l.slot) }

// ScheduleLocked sets when the driver polls the link again.
func (l *Link) ScheduleLocked(due core.Micros) { l.Driver.ScheduleLocked(&l.slot, due) }

// PollLocked puts what is due into the batch, and then gives the link its next time
// (SND-3, RCV-1). One that fills the batch is due again at once, behind all that have
// waited longer.
func (l *Link) PollLocked(now core.Micros, b *Batch) {
	for !b.Full() {
		buf, ok := l.End.Poll(now, b.Room())
		if !ok {
			l.Owner.UpdateLocked(now, now+1)
			return
		}
		l.Traffic.Out(b.Add(l.To, buf, l.End.ECT()))
	}
	l.Owner.UpdateLocked(now, now)
}

// SendLastLocked sends what is due, at most so many datagrams, although the driver will not
// poll the link again.
func (l *Link) SendLastLocked(now core.Micros, most int) {
	for range most {
		data, ok := l.End.Poll(now, nil)
		if !ok || !l.Driver.SendLastLocked(l.To, data) {
			return
		}
		l.Traffic.Out(len(data))
	}
}

// DeliverLocked reports the chunks that the other end has, and takes those that came while
// there is room for them. If there is none a receiver keeps its chunk and asks the other
// end to wait, which is all the back-pressure that there is (CON-3).
func (l *Link) DeliverLocked(now core.Micros) {
	for number, ok := l.Chunks.ChunkDone(); ok; number, ok = l.Chunks.ChunkDone() {
		if begun, ok := l.sending.Finish(number, nil); ok && l.Took != nil {
			l.Took(true, now-begun)
		}
	}
	for len(l.complete) < l.RecvQueue && l.takeChunkLocked(now) {
	}
}

// takeChunkLocked takes the next chunk, if it is complete.
func (l *Link) takeChunkLocked(now core.Micros) bool {
	size := l.Chunks.ChunkSize()
	if size == 0 || !l.madeLocked() {
		return false
	}
	chunk := buffer(size)
	ok := false
	if *chunk, ok = l.Chunks.ReadChunk(now, *chunk); ok {
		if l.Took != nil {
			l.Took(false, l.Chunks.ChunkReadTime())
		}
		l.complete = append(l.complete, chunk)
		l.arrived.Give()
	}
	return ok
}

// EndLocked ends the connection for the application. It fails all that is not delivered,
// and leaves for Recv what is complete, up to the first chunk that is not. The package
// calls it once.
func (l *Link) EndLocked(cause error) {
	l.err = cause
	l.sending.End(cause)
	l.takeAllLocked(l.Driver.Now())
	l.done.Give()
}

// takeAllLocked takes all chunks of a connection that has ended.
func (l *Link) takeAllLocked(now core.Micros) {
	for l.Chunks != nil && l.takeChunkLocked(now) {
	}
	l.arrived.Give()
}

// ErrLocked returns why the connection has ended, or nil.
func (l *Link) ErrLocked() error { return l.err }

// SendingLocked returns how many chunks the other end does not have yet.
func (l *Link) SendingLocked() int { return l.sending.Len() }

// CompleteLocked returns how many complete chunks wait for Recv, or for what is to be done before.
func (l *Link) CompleteLocked() int { return len(l.complete) + count(l.works) }

// Err returns why the connection has ended, or nil while it is active.
func (l *Link) Err() error {
	l.Driver.Lock()
	defer l.Driver.Unlock()
	return l.err
}

// Done returns a channel that is closed when the connection has ended.
func (l *Link) Done() <-chan struct{} {
	l.Driver.Lock()
	defer l.Driver.Unlock()
	if l.err != nil {
		return Given
	}
	return l.done.Wait()
}

// LocalAddr returns the address of the socket.
func (l *Link) LocalAddr() net.Addr { return l.Driver.Socket().LocalAddr() }

// RemoteAddr returns the address of the other end.
func (l *Link) RemoteAddr() net.Addr {
	l.Driver.Lock()
	defer l.Driver.Unlock()
	return l.To.Addr()
}
