package transport

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Traffic counts datagrams, and bytes of their UDP payload, without IP and UDP
// headers.
type Traffic struct {
	DatagramsIn, DatagramsOut int64
	BytesIn, BytesOut         int64
}

func (t *Traffic) in(size int) {
	t.DatagramsIn++
	t.BytesIn += int64(size)
}

func (t *Traffic) out(size int) {
	t.DatagramsOut++
	t.BytesOut += int64(size)
}

func (t *Traffic) outRun(m *message) {
	t.DatagramsOut += int64(m.count())
	t.BytesOut += int64(len(m.data))
}

// Stats is what a connection did so far, and what it is doing. With several lanes,
// counts are those of all, and times are the longest, but MinRTT.
type Stats struct {
	Traffic // what decoded, and was given to the socket

	Sender   statemachine.SenderStats
	Receiver statemachine.ReceiverStats

	Sending    Sending   // of several, the one that was sent first
	Receiving  Receiving // of several, the one that is received next
	SendQueued int       // chunks that wait behind those in flight
	RecvQueued int       // complete chunks that wait for Recv
}

// Sending is the chunk in flight to the peer.
type Sending struct {
	ChunkID   uint16       // the next one's while none is in flight
	NumSlices int          // 0 while none is in flight
	Sent      codec.Bitset // slices sent at least once
	Acked     codec.Bitset // slices that the peer is known to have
}

// Receiving is the chunk that is arriving.
type Receiving struct {
	ChunkID   uint16       // the next one's while none is arriving
	NumSlices int          // 0 while none is arriving
	Received  codec.Bitset // slices that are here
}

// Stats returns a consistent snapshot. It works on ended connections too.
func (c *Conn) Stats() Stats {
	c.endpoint.mu.Lock()
	defer c.endpoint.mu.Unlock()
	st := Stats{
		Traffic:    c.traffic,
		Sending:    c.sending(),
		Receiving:  c.receiving(),
		SendQueued: len(c.queue),
		RecvQueued: len(c.recv),
	}
	for i := range c.lanes {
		addSenderStats(&st.Sender, c.lanes[i].sender.Stats())
		addReceiverStats(&st.Receiver, c.lanes[i].receiver.Stats())
		if c.err == nil && c.lanes[i].receiver.State() == statemachine.ReceiverReady {
			st.RecvQueued++ // one that found no room, or whose turn has not come
		}
	}
	return st
}

// EndpointStats is what an endpoint did so far.
type EndpointStats struct {
	Traffic // all that was read, and given to the socket

	Peers       int   // connections now
	Garbage     int64 // datagrams that did not decode
	Strangers   int64 // from an unknown peer, without being a valid beginning
	Refused     int64 // valid beginnings that Config.Accept did not want
	Full        int64 // valid beginnings beyond Config.MaxPeers, or beyond what may wait for Accept
	Evicted     int64 // connections that made room for others
	ReadErrors  int64 // failed reads that the endpoint survived
	WriteErrors int64 // datagrams that the system did not take; to the peer they are lost

	// The socket's buffers in bytes, as the system reports them; 0 if it does
	// not. Linux reports twice what it was asked for, which is halved here, so that
	// everywhere less than BufferWanted means that the system did not give it all.
	ReadBuffer, WriteBuffer int
	BufferWanted            int // bytes that were asked for each
}

// Stats returns a consistent snapshot.
func (e *Endpoint) Stats() EndpointStats {
	e.mu.Lock()
	defer e.mu.Unlock()
	st := e.stats
	st.Peers = len(e.conns)
	return st
}
