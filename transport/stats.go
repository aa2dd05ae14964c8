package transport

import (
	"errors"
	"net"
	"time"

	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/driver"
	"github.com/chunkwire/chunkwire/internal/udp"
	"github.com/chunkwire/chunkwire/packet"
)

// Traffic counts datagrams, and bytes of their UDP payload, without IP and UDP
// headers.
type Traffic = driver.Traffic

// Stats has the counts of a connection so far. Later versions can add fields.
type Stats struct {
	Traffic // datagrams of this connection, as received from and written to the socket
	connection.Stats

	RTT      time.Duration // as Peer.RTT; 0 while it is not known
	Path     packet.Estimates
	Mode     packet.Mode
	Strength session.Mode // of the envelope
	Agreed   session.Agreed

	Sending    int // chunks that the peer does not have yet
	RecvQueued int // complete chunks that wait for Recv

	WriteErrors    int64 // datagrams that the socket did not take, of all its connections
	LastWriteError error // why it did not take the latest of those
}

// Stats returns a consistent snapshot. It works on ended connections too.
func (p *Peer) Stats() Stats {
	p.link.Driver.Lock()
	defer p.link.Driver.Unlock()
	d := p.link.Driver.StatsLocked()
	st := Stats{Traffic: p.link.Traffic, Sending: p.link.SendingLocked(), RecvQueued: p.link.CompleteLocked(),
		WriteErrors: d.WriteErrors, LastWriteError: d.LastWriteError}
	if p.conn != nil {
		st.Stats = p.conn.Stats()
		st.RTT = p.rttLocked().Duration()
		st.Path = p.conn.Estimates(p.link.Driver.Now())
		st.Mode = p.conn.Mode()
		st.Strength = p.conn.Link().Mode()
		st.Agreed = p.conn.Link().Agreed()
	}
	return st
}

// ServerStats has the counts of a server so far, at all its sockets. Later versions may add
// fields.
type ServerStats struct {
	Traffic // all that was read, and given to the sockets

	Peers      int   // connections now
	Accepted   int64 // connections that began
	Moved      int64 // connections that went on from another address
	Replaced   int64 // by a newer one of the same identity
	Challenges int64 // handshakes that were begun: addresses that were asked to prove themselves
	HalfOpen   int64 // handshakes that were proven, and of which no data came

	// Ended counts connections that ended, by how they did: all of Ends are in it.
	Ended map[End]int64

	Totals

	RoundTrip Histogram // the latest of each connection, ten times a second while it hears something
	ChunkOut  Histogram // chunks that were sent, from Send to the last ack
	ChunkIn   Histogram // chunks that came, from the first slice to the last new one

	// Refused counts handshakes that were answered by a refusal, by reason;
	// RefusedFrom has where the latest of each came from.
	Refused     map[session.Reason]int64
	RefusedFrom map[session.Reason]net.Addr

	// Undecodable counts datagrams that were dropped without an answer, by the code of its error;
	// UndecodableFrom has where the latest of each came from. session.CodeEndedLink is the code of ordinary goodbyes.
	Undecodable     map[core.Code]int64
	UndecodableFrom map[core.Code]net.Addr

	BadSources     int64 // handshakes from an address that is no peer's: port 0, multicast, the server itself
	AnswersDropped int64 // handshakes that were not answered, since too many others were, or Config.Keys failed or was too slow

	ReadErrors     int64 // failed reads that the server survived
	WriteErrors    int64 // datagrams that the system did not take; to the peers they are lost
	LastWriteError error // why the system did not take the latest of those

	// The buffers of the first socket in bytes, as the system reports them; 0 if it does
	// not. Less than BufferWanted means that the system did not give it all.
	ReadBuffer, WriteBuffer int
	BufferWanted            int
	BufferError             error // why they were not asked for, or not given; see New
}

// shardStats is what a shard counts itself.
type shardStats struct {
	refused        [256]counted // by reason
	codes          map[core.Code]*counted
	badSources     int64
	answersDropped int64
	moved          int64
	accepted       int64
	ended          map[End]int64
	gone           Totals // of connections that are not there any more

	roundTrip, chunkOut, chunkIn Histogram
}

// noteChunk counts how long a chunk took that was sent, or received.
func (st *shardStats) noteChunk(sent bool, took core.Micros) {
	if sent {
		st.chunkOut.note(took)
	} else {
		st.chunkIn.note(took)
	}
}

// counted is how often something happened, and where the latest came from.
type counted struct {
	n    int64
	from udp.Addr
}

func newShardStats() shardStats {
	return shardStats{codes: make(map[core.Code]*counted), ended: make(map[End]int64)}
}

// codeOf returns the code of what a layer below refused.
func codeOf(err error) core.Code {
	if e, ok := err.(*core.Error); ok { // of most, and without an allocation
		return e.Code()
	}
	var e *core.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return ""
}

// undecodable counts a datagram that was refused without an answer, and returns how many of its code there are.
func (st *shardStats) undecodable(code core.Code, from udp.Addr) int64 {
	c := st.codes[code]
	if c == nil {
		c = &counted{}
		st.codes[code] = c
	}
	c.n++
	c.from = from
	return c.n
}

// reasonAt is where a REFUSED has its reason (CXH-7).
const reasonAt = 18

// answered counts an answer to a handshake. Of a refusal it returns the reason, and how many of it there are.
func (st *shardStats) answered(answer []byte, from udp.Addr) (reason session.Reason, count int64) {
	if answer[0] == byte(session.KindRefused) && len(answer) > reasonAt {
		c := &st.refused[answer[reasonAt]]
		c.n++
		c.from = from
		return session.Reason(answer[reasonAt]), c.n
	}
	return 0, 0
}

// Stats returns a snapshot, of each socket a consistent one.
func (s *Server) Stats() ServerStats {
	st := ServerStats{
		Refused: map[session.Reason]int64{}, RefusedFrom: map[session.Reason]net.Addr{},
		Undecodable: map[core.Code]int64{}, UndecodableFrom: map[core.Code]net.Addr{},
		Ended:        make(map[End]int64, len(Ends)),
		BufferWanted: s.settings.SocketBuffer,
	}
	for _, end := range Ends {
		st.Ended[end] = 0
	}
	for i, sh := range s.shards {
		sh.addStats(&st, i == 0)
	}
	return st
}

// addStats adds what a shard has counted.
func (sh *shard) addStats(st *ServerStats, first bool) {
	sh.driver.Lock()
	defer sh.driver.Unlock()
	d, table := sh.driver.StatsLocked(), sh.table.Stats()
	st.Traffic.Add(d.Traffic)
	st.Peers += len(sh.peers)
	st.Moved += sh.stats.moved
	sh.addMeasured(st)
	st.Replaced += table.Session.Replaced
	st.Challenges += table.Session.Challenges
	st.HalfOpen += table.Session.HalfOpen
	for reason, c := range sh.stats.refused {
		if c.n > 0 {
			st.Refused[session.Reason(reason)] += c.n
			st.RefusedFrom[session.Reason(reason)] = c.from.Addr()
		}
	}
	for code, c := range sh.stats.codes {
		st.Undecodable[code] += c.n
		st.UndecodableFrom[code] = c.from.Addr()
	}
	st.BadSources += sh.stats.badSources
	st.AnswersDropped += sh.stats.answersDropped
	st.ReadErrors += d.ReadErrors
	st.WriteErrors += d.WriteErrors
	if d.LastWriteError != nil {
		st.LastWriteError = d.LastWriteError
	}
	if first {
		st.ReadBuffer, st.WriteBuffer, st.BufferError = d.Buffers.Read, d.Buffers.Write, d.Buffers.Err
	}
}

// addMeasured adds what a shard has measured of its connections.
func (sh *shard) addMeasured(st *ServerStats) {
	st.Accepted += sh.stats.accepted
	for end, n := range sh.stats.ended {
		st.Ended[end] += n
	}
	st.Totals.add(&sh.stats.gone)
	for p := range sh.peers {
		st.Totals.addPeer(p)
	}
	st.RoundTrip.add(&sh.stats.roundTrip)
	st.ChunkOut.add(&sh.stats.chunkOut)
	st.ChunkIn.add(&sh.stats.chunkIn)
}
