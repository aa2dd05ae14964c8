package netsim

import (
	"net"
	"os"
	"sync"
	"time"

	"github.com/chunkwire/chunkwire/internal/queue"
)

// delayLine holds packets until they are due, then keeps them for a receiver.
//
// It needs no goroutine. A receiver sets a timer for the first packet and is
// woken when an earlier one is pushed. Packets that came due with nobody
// waiting are moved to the inbox by the next call, in order, with the same
// outcome as if it had been done in time.
type delayLine struct {
	clock clock

	mu       sync.Mutex
	underway queue.Queue[packet]
	inbox    ring[packet] // due, not yet received
	inboxB   int          // bytes in inbox
	limit    int          // bytes the inbox holds, 0 for unlimited
	dropped  int64        // packets that met a full inbox
	deadline time.Duration
	closed   bool
	changed  chan struct{} // closed to wake all receivers; nil when none waits
}

func newDelayLine(c clock) *delayLine {
	return &delayLine{clock: c, deadline: never}
}

// push adds a packet that is due at the given time, which is not before now.
func (l *delayLine) push(now, at time.Duration, p packet) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.admit(now) // without a receiver, nothing else bounds what is kept
	first := at < l.underway.Next()
	l.underway.Push(at, p)
	if first {
		l.wake()
	}
}

// receive waits for a packet to be due. It fails with net.ErrClosed or
// os.ErrDeadlineExceeded; like a socket, it does so even if a packet is there.
func (l *delayLine) receive() (packet, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		now := l.clock.now()
		l.admit(now)
		switch {
		case l.closed:
			return packet{}, net.ErrClosed
		case now >= l.deadline:
			return packet{}, os.ErrDeadlineExceeded
		case l.inbox.len() > 0:
			p := l.inbox.pop()
			l.inboxB -= len(p.data)
			return p, nil
		}
		l.wait(min(l.deadline, l.underway.Next()))
	}
}

// admit moves what is due to the inbox, as far as there is room. An empty inbox
// has room for any packet.
func (l *delayLine) admit(now time.Duration) {
	for l.underway.Next() <= now {
		p := l.underway.Pop()
		if l.limit > 0 && l.inbox.len() > 0 && l.inboxB+len(p.data) > l.limit {
			l.dropped++
			continue
		}
		l.inbox.push(p)
		l.inboxB += len(p.data)
	}
}

// wait unlocks the line until the given time or until wake.
func (l *delayLine) wait(until time.Duration) {
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	changed := l.changed
	l.mu.Unlock()
	defer l.mu.Lock()
	if until == never {
		<-changed
		return
	}
	timer := time.NewTimer(until - l.clock.now())
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	}
}

// wake makes all receivers look again.
func (l *delayLine) wake() {
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// setDeadline changes the deadline of receive, also of calls under way.
func (l *delayLine) setDeadline(at time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deadline = at
	l.wake()
}

// setLimit changes the room of the inbox for datagrams that come due from now on.
func (l *delayLine) setLimit(bytes int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.admit(l.clock.now())
	l.limit = bytes
}

// countDropped returns how many packets have met a full inbox by now.
func (l *delayLine) countDropped() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.admit(l.clock.now())
	return l.dropped
}

// close ends all calls of receive and forgets the packets.
func (l *delayLine) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.admit(l.clock.now()) // so that dropped is final
	l.closed = true
	l.underway, l.inbox = queue.Queue[packet]{}, ring[packet]{}
	l.wake()
}

// packet is a datagram under way.
type packet struct {
	data []byte         // never written to, so copies can share it
	peer net.Addr       // in a Conn: who sent it; in a Relay: who gets it
	out  net.PacketConn // in a Relay: the socket to send it on
	ecn  uint8          // in a Conn: the field ECN
}
