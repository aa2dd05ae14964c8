package transport

import (
	"time"

	"github.com/chunkwire/chunkwire/core"
)

// How RemoteTime follows what is known (CXM-31).
const (
	slewPart = 20 // of the time that passes is how much the clock is set right at most
	jumpFrom = core.Second
)

// shown is the other end's clock as it was shown last: how far it was ahead of the own one.
type shown struct {
	ahead, at core.Micros
	some      bool
}

// RTT returns the smoothed time from this end to the other and back, without the time for which the other end waited
// before it answered. It is known soon after the connection began, at both ends, also at one that only receives. The
// other end must be able to tell the time of its clock; if it is not, as some ports are not, RTT is from acks and
// longer by what they wait, or false.
func (p *Peer) RTT() (time.Duration, bool) {
	p.link.Driver.Lock()
	defer p.link.Driver.Unlock()
	rtt := p.rttLocked()
	return rtt.Duration(), rtt > 0
}

// rttLocked returns 0 if it is not known.
func (p *Peer) rttLocked() core.Micros {
	if p.conn == nil {
		return 0
	}
	if rtt, ok := p.conn.RTT(); ok {
		return max(rtt, 1)
	}
	if e := p.conn.Estimates(p.link.Driver.Now()); e.Measured {
		return e.SRTT
	}
	return p.conn.Stats().Chunks.Sender.Schedule.SmoothedRTT
}

// Time returns what the server's clock shows, which began at 0 with it: its time on that all clients can agree.
func (s *Server) Time() time.Duration { return s.clock.Now().Duration() }

// Time returns what the clock of this end shows, which began at 0 with Dial, or with the server.
func (p *Peer) Time() time.Duration { return p.link.Driver.Now().Duration() }

// RemoteTime returns what the clock of the other end shows now, as its Time does, and by how much that can be off at most: at
// a client the time of the server. It is false until RTT is known, or if the other end does not tell it. The clock does
// not run backward, and is set right slowly: by a twentieth of the time that passes, unless it is off by more than a
// second. Where one direction takes at most three times as long as the other, it is off by at most a quarter of the
// round trip.
func (p *Peer) RemoteTime() (now, within time.Duration, ok bool) {
	p.link.Driver.Lock()
	defer p.link.Driver.Unlock()
	if p.conn == nil {
		return 0, 0, false
	}
	remote, ok := p.conn.Remote()
	if !ok {
		return 0, 0, false
	}
	at := p.link.Driver.Now()
	low, high := remote.At(at)
	off := p.shown.follow(at, (low+high)/2)
	return (at + p.shown.ahead).Duration(), ((high-low)/2 + max(off, -off)).Duration(), true
}

// follow moves what is shown toward where it should be, and returns how far that is away then.
func (s *shown) follow(at, ahead core.Micros) (off core.Micros) {
	off = ahead - s.ahead
	if most := (at - s.at) / slewPart; s.some && off <= jumpFrom && off >= -jumpFrom {
		off = max(-most, min(off, most))
	}
	s.ahead, s.at, s.some = s.ahead+off, at, true
	return ahead - s.ahead
}
