package plain

import (
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/internal/udp"
	"github.com/chunkwire/chunkwire/machine"
)

// read takes datagrams from the socket until it fails for good. A connection is
// found by the address and port that a datagram comes from, and its acks go there
// (CON-8).
func (e *Endpoint) read() {
	buf := make([]byte, readSize)
	var trouble readTrouble
	for {
		began := e.clock.now()
		n, from, err := e.socket.Read(buf)
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
			e.shutdownLocked(cause)
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
	return (n > 0 || udp.MessageTooLong(err)) && !errors.Is(err, net.ErrClosed)
}

// readTrouble is a run of failed reads.
type readTrouble struct {
	count int
	since machine.Micros
}

// A read fails for reasons that pass, such as an ICMP message that came for a
// datagram sent before. Then the next read waits. A socket that is broken fails
// each read at once; after some time of that the endpoint ends.
const (
	brokenAfter    = 5 * machine.Second
	blockedRead    = 10 * machine.Millisecond // a read that took so long did wait
	freeRetries    = 16                       // so many without a pause
	pauseAfterRead = time.Millisecond
)

// judge counts a failed read and returns why the endpoint must end, if so.
func (e *Endpoint) judge(t *readTrouble, began, now machine.Micros, err error) error {
	switch {
	case errors.Is(err, net.ErrClosed):
		return fmt.Errorf("%w: %w", ErrClosed, err)
	case errors.Is(err, io.EOF): // there is a session below, which its peer has ended
		return fmt.Errorf("%w: %w", ErrSocket, err)
	case udp.PortUnreachable(err):
		e.portUnreachable(err)
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
func (e *Endpoint) receive(now machine.Micros, datagram []byte, from udp.Peer) {
	p, err := e.decode(datagram)
	if e.deliver(now, &p, err, len(datagram), from) {
		return
	}
	// Admit is called and the connection made without locks.
	if e.cfg.Admit != nil && !e.cfg.Admit(from.Addr()) {
		e.count(&e.stats.Refused)
		return
	}
	c, err := e.newConn(from)
	if err != nil { // a scheduler that could be made before
		e.count(&e.stats.Refused)
		return
	}
	e.begin(now, &p, len(datagram), c)
}

// decode decodes a datagram by the protocol id that makes its crc right, if its
// size is one that a datagram can have (LAN-3). A lane's datagrams come in rows,
// so the lane of the latest is tried first. It is for the reader alone.
func (e *Endpoint) decode(datagram []byte) (packet, error) {
	refusal := codec.CheckSize(len(datagram))
	for i := 0; refusal == nil && i < len(e.framers); i++ {
		k := (e.latestLane + i) % len(e.framers)
		p, err := e.framers[k].Decode(datagram)
		switch {
		case err == nil:
			e.latestLane = k
			return packet{p, k}, nil
		case !errors.Is(err, codec.ErrCRCMismatch) || i == len(e.framers)-1:
			refusal = err
		}
	}
	return packet{}, refusal
}

// firstChunkID is the id with which every connection begins.
const firstChunkID = 0

// deliver gives a packet to its connection. It returns false when the packet is
// the beginning of a connection that may be made: a slice of the first chunk
// of any lane (SEC-2, LAN-11). What did not decode changes nothing but counters
// (CON-4).
func (e *Endpoint) deliver(now machine.Micros, p *packet, invalid error, size int, from udp.Peer) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stats.in(size)
	if invalid != nil {
		e.stats.Undecodable++
		e.undecodableFrom = from
		return true
	}
	if c := e.conns[from.Key]; c != nil {
		c.handleLocked(now, p, size)
		return true
	}
	switch {
	case !from.Known() || p.Type != codec.TypeSlice || p.Slice.ChunkID != firstChunkID:
		e.stats.UnknownPeers++
	case !e.socket.CanBegin(from):
		e.stats.BadSources++
	case e.crowdedLocked(now):
		e.stats.Full++
	default:
		return false
	}
	return true
}

// begin adds a connection and gives it the slice that began it. While nothing was
// locked there may have been other additions.
func (e *Endpoint) begin(now machine.Micros, p *packet, size int, c *Conn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if known := e.conns[c.peer.Key]; known != nil {
		known.handleLocked(now, p, size)
		return
	}
	e.beginLocked(now, p, size, c)
}

func (e *Endpoint) count(counter *int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	*counter++
}
