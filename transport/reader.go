package transport

import (
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/statemachine"
)

// read takes datagrams from the socket until it fails for good.
func (e *Endpoint) read() {
	buf := make([]byte, readSize)
	var trouble readTrouble
	for {
		began := e.clock.now()
		n, from, err := e.socket.read(buf)
		now := e.clock.now()
		if err == nil {
			trouble = readTrouble{}
			e.receive(now, buf[:n], from)
			continue
		}
		if tookDatagram(n, err) {
			trouble = readTrouble{}
			e.deliver(now, &packet{}, err, n, from)
			continue
		}
		if cause := e.judge(&trouble, began, now, err); cause != nil {
			e.mu.Lock()
			e.shutdown(cause)
			e.mu.Unlock()
			return
		}
	}
}

// readSize exceeds every UDP datagram: some systems report one that does not fit
// as an error.
const readSize = 1 << 16

// tookDatagram reports whether a failed read took a datagram from the socket all
// the same, as one does that could not take all of it. Such a socket works.
func tookDatagram(n int, err error) bool {
	return (n > 0 || messageTooLong(err)) && !errors.Is(err, net.ErrClosed)
}

// readTrouble is a run of failed reads.
type readTrouble struct {
	count int
	since statemachine.Micros
}

// A read fails for reasons that pass, such as an ICMP message that came for a
// datagram sent before. Then the next read waits. A socket that is broken fails
// each read at once; so long, and the endpoint gives it up.
const (
	brokenAfter    = 5 * statemachine.Second
	blockedRead    = 10 * statemachine.Millisecond // a read that took so long did wait
	freeRetries    = 16                            // so many without a pause
	pauseAfterRead = time.Millisecond
)

// judge counts a failed read and returns why the endpoint must end, if so.
func (e *Endpoint) judge(t *readTrouble, began, now statemachine.Micros, err error) error {
	if errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("%w: %w", ErrClosed, err)
	}
	if t.count == 0 || now-began >= blockedRead {
		*t = readTrouble{since: now}
	}
	t.count++
	e.mu.Lock()
	e.stats.ReadErrors++
	ended := e.err
	e.mu.Unlock()
	switch {
	case ended != nil:
		return ended
	case now-t.since >= brokenAfter:
		return fmt.Errorf("%w: %w", ErrSocket, err)
	case t.count > freeRetries:
		time.Sleep(pauseAfterRead)
	}
	return nil
}

// receive handles a datagram.
func (e *Endpoint) receive(now statemachine.Micros, datagram []byte, from origin) {
	p, err := e.decode(datagram)
	if e.deliver(now, &p, err, len(datagram), from) {
		return
	}
	// The hook is asked and the connection made without locks.
	if !e.welcome(from.netAddr()) {
		e.count(&e.stats.Refused)
		return
	}
	e.welcomePeer(now, &p, len(datagram), e.newConn(from))
}

// decode decodes a datagram, if its size is one that a datagram can have.
func (e *Endpoint) decode(datagram []byte) (packet, error) {
	if len(datagram) > codec.MaxDatagramSize {
		return packet{}, codec.ErrTrailingData
	}
	return e.decodeLane(datagram)
}

// deliver gives a packet to its connection. It returns false when the packet is
// the beginning of a connection that may be made: a slice of the first chunk
// of any lane (SEC-2, LAN-11).
// What did not decode is counted, and nothing else (CON-4).
func (e *Endpoint) deliver(now statemachine.Micros, p *packet, invalid error, size int, from origin) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stats.in(size)
	if invalid != nil {
		e.stats.Garbage++
		return true
	}
	if c := e.conns[from.key]; c != nil {
		c.handle(now, p, size)
		return true
	}
	switch {
	case e.welcome == nil || from.key == peerKey{} || p.Type != codec.TypeSlice || p.Slice.ChunkID != firstChunkID:
		e.stats.Strangers++
	case e.crowded(now):
		e.stats.Full++
	default:
		return false
	}
	return true
}

// firstChunkID is the id with which every connection begins.
const firstChunkID = 0

// welcomePeer adds a connection and gives it the slice that began it. While
// nothing was locked there may have been other additions.
func (e *Endpoint) welcomePeer(now statemachine.Micros, p *packet, size int, c *Conn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if known := e.conns[c.peer.key]; known != nil {
		known.handle(now, p, size)
		return
	}
	e.begin(now, p, size, c)
}

func (e *Endpoint) count(counter *int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	*counter++
}
