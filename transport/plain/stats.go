package plain

import (
	"net"

	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/internal/driver"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Traffic counts datagrams, and bytes of their UDP payload, without IP and UDP
// headers.
type Traffic = driver.Traffic

// Stats has the counts of a connection so far, and what it is doing. With several lanes,
// counts are of all, and times are the longest, except MinRTT. Later versions
// can add fields.
type Stats struct {
	Traffic // what decoded, and was given to the socket

	Sender   statemachine.SenderStats
	Receiver statemachine.ReceiverStats

	Sending    Progress // of several lanes, the chunk in flight that was sent first
	Receiving  Progress // of several lanes, the chunk that is received next
	SendQueued int      // chunks that wait behind those in flight
	RecvQueued int      // complete chunks that wait for Recv
	Validated  bool     // the peer has acked a slice
}

// Progress is how far a chunk is.
type Progress = lanes.Progress

// Stats returns a consistent snapshot. It works on ended connections too.
func (c *Conn) Stats() Stats {
	c.link.Driver.Lock()
	defer c.link.Driver.Unlock()
	l := c.end.ChunkStats()
	st := Stats{
		Traffic: c.link.Traffic, Sender: l.Sender, Receiver: l.Receiver, Sending: l.Sending, Receiving: l.Receiving,
		SendQueued: l.Queued, RecvQueued: c.link.CompleteLocked(), Validated: c.end.Validated(),
	}
	if c.link.ErrLocked() == nil {
		st.RecvQueued += l.Complete // that found no room, or whose turn has not come
	}
	return st
}

// EndpointStats has the counts of an endpoint so far. Later versions can add fields.
type EndpointStats struct {
	Traffic // all that was read, and given to the socket

	Peers        int   // connections now
	Undecodable  int64 // datagrams that did not decode
	UnknownPeers int64 // datagrams from an address without connection that could not begin one
	BadSources   int64 // beginnings from an address that is no peer's: port 0, multicast, the socket itself
	Refused      int64 // beginnings that Config.Admit refused
	Full         int64 // beginnings beyond Config.MaxPeers, or beyond the queue of Accept
	Evicted      int64 // connections that made room for others
	ReadErrors   int64 // failed reads that the endpoint survived
	WriteErrors  int64 // datagrams that the system did not take; to the peer they are lost

	UndecodableFrom net.Addr // where the latest of those came from
	LastWriteError  error    // why the system did not take the latest of those

	// The socket's buffers in bytes, as the system reports them; 0 if it does
	// not. Linux reports twice what it was asked for, which is halved here, so that
	// everywhere less than BufferWanted means that the system did not give it all.
	ReadBuffer, WriteBuffer int
	BufferWanted            int   // bytes that were asked for each
	BufferError             error // why they were not asked for, or not given; see New
}

// Stats returns a consistent snapshot.
func (e *Endpoint) Stats() EndpointStats {
	e.driver.Lock()
	defer e.driver.Unlock()
	st, d := e.stats, e.driver.StatsLocked()
	st.Traffic, st.ReadErrors, st.WriteErrors, st.LastWriteError = d.Traffic, d.ReadErrors, d.WriteErrors, d.LastWriteError
	st.ReadBuffer, st.WriteBuffer, st.BufferError = d.Buffers.Read, d.Buffers.Write, d.Buffers.Err
	st.BufferWanted = e.cfg.SocketBuffer
	st.Peers = len(e.conns)
	st.UndecodableFrom = e.undecodableFrom.Addr()
	return st
}
