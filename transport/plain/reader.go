package plain

import (
	"errors"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/internal/udp"
)

// receive handles a datagram. A connection is found by the address and port that it
// comes from, and its acks go there (CON-8).
func (e *Endpoint) receive(now core.Micros, datagram []byte, from udp.Peer) {
	p, err := e.decode(datagram)
	if e.deliver(now, &p, err, len(datagram), from) {
		return
	}
	// Admit is called and the connection made without locks.
	if e.cfg.Admit != nil && !e.cfg.Admit(from.Addr()) {
		e.count(&e.stats.Refused)
		return
	}
	c, err := e.newConn(from, eventlog.Server)
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
// of any lane, whatever its id (SEC-2, LAN-11, RPI-5). What did not decode changes nothing but counters
// (CON-4).
func (e *Endpoint) deliver(now core.Micros, p *packet, invalid error, size int, from udp.Peer) bool {
	e.driver.Lock()
	defer e.driver.Unlock()
	e.driver.CountInLocked(size)
	if invalid != nil {
		e.stats.Undecodable++
		e.undecodableFrom = from
		e.logUndecodableLocked(now, invalid, size, from)
		return true
	}
	if c := e.conns[from.Key]; c != nil {
		c.handleLocked(now, p, size)
		return true
	}
	switch {
	case !from.Known() || p.Type != codec.TypeSlice || p.Slice.ChunkID != firstChunkID:
		e.stats.UnknownPeers++
	case !e.driver.CanBeginLocked(from):
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
func (e *Endpoint) begin(now core.Micros, p *packet, size int, c *Conn) {
	e.driver.Lock()
	defer e.driver.Unlock()
	if known := e.conns[c.peer.Key]; known != nil {
		known.handleLocked(now, p, size)
		return
	}
	e.beginLocked(now, p, size, c)
}

func (e *Endpoint) count(counter *int64) {
	e.driver.Lock()
	defer e.driver.Unlock()
	*counter++
}
