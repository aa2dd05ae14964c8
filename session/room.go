package session

import (
	"encoding/binary"

	"github.com/chunkwire/chunkwire/machine"
)

// room reports whether a new connection may begin at an address (CXS-7). Nobody has to make room
// for it (CXS-16).
func (s *Server) room(from *Address) bool {
	here := s.prefixes[from.Prefix()]
	return s.all.living < s.most && here.living < s.mostPerPrefix &&
		s.all.ended < endedPerLiving*s.most && here.ended < endedPerLiving*s.mostPerPrefix
}

// count adds an entry to the counts, everywhere and where it was made: a move makes no room.
func (e *Entry) count() {
	e.counted = count{living: 1}
	if e.state == Ended {
		e.counted = count{ended: 1}
	}
	e.server.recount(e.home, e.counted)
}

// uncount takes an entry out of the counts.
func (e *Entry) uncount() {
	e.server.recount(e.home, count{-e.counted.living, -e.counted.ended})
	e.counted = count{}
}

func (s *Server) recount(prefix Prefix, by count) {
	s.all = s.all.plus(by)
	if here := s.prefixes[prefix].plus(by); here != (count{}) {
		s.prefixes[prefix] = here
	} else {
		delete(s.prefixes, prefix)
	}
}

// enter makes an entry one that is found.
func (s *Server) enter(e *Entry) {
	s.links[e.ID()] = e
	if e.identity != 0 {
		s.identities[e.identity] = e
	} else {
		s.nonces[e.first] = e
	}
	e.count()
}

// leave undoes enter. One that was not entered stays out.
func (e *Entry) leave() {
	s := e.server
	if e.ID() == 0 {
		return
	}
	e.unlist()
	delete(s.links, e.ID())
	if e.identity != 0 {
		delete(s.identities, e.identity)
	} else {
		delete(s.nonces, e.first)
	}
	e.uncount()
	e.agreed.Link = 0
}

// drawLink draws the number of a new link: not 0, not in use, and one of this server's (CXN-5).
func (s *Server) drawLink() uint32 {
	var b [4]byte
	for {
		draw(s.random, b[:])
		link := uint64(binary.LittleEndian.Uint32(b[:]))
		link += uint64(s.shard) - link%uint64(s.shards)
		if link != 0 && link < 1<<32 && s.links[uint32(link)] == nil {
			return uint32(link)
		}
	}
}

// Find returns the living connection with a link; nil if there is none.
func (s *Server) Find(link uint32) *Entry {
	if e := s.links[link]; e != nil && e.living() {
		return e
	}
	return nil
}

// Route returns the connection that a datagram of data is for; its Link opens it then, and Heard
// says so. It fails if the datagram is none of data, if there is no such link or it has another
// mode, or if the datagram comes from another address: before any cryptography, and whatever the tag (CXE-9).
func (s *Server) Route(from Address, datagram []byte) (*Entry, error) {
	var m Message
	err := m.decode(datagram)
	if err == nil && !m.Kind.isData() {
		err = notForThisPlace.NotAt()
	}
	if err != nil {
		return nil, s.silence(err)
	}
	e := s.Find(m.Agreed.Link)
	switch {
	case e == nil:
		return nil, s.silence(linkUnknown.At(dataLinkAt))
	case Mode(m.Kind) != s.terms.Mode:
		return nil, s.silence(modeDiffers.At(0))
	case e.address != from:
		return nil, s.silence(addressDiffers.NotAt())
	}
	return e, nil
}

// silence counts a datagram that draws no answer.
func (s *Server) silence(err *Error) error {
	s.stats.silent.add(err.Code())
	return err
}

// Heard says that a datagram arrived at now that the Link of e opened. The first one confirms
// the connection.
func (s *Server) Heard(now machine.Micros, e *Entry) Event {
	return s.happens(now, e, anyEntryData, 0)
}

// End ends the connection of e, for a reason that its client is told if it asks.
func (s *Server) End(now machine.Micros, e *Entry, reason Reason) Event {
	return s.happens(now, e, anyEnd, reason)
}

// happens is an event other than a proof.
func (s *Server) happens(now machine.Micros, e *Entry, guard uint8, reason Reason) Event {
	s.advance(now)
	s.in = proof{}
	e.step(guard, entryInput{proof: &s.in, reason: reason})
	s.in.event.Row = e.row
	return s.in.event
}

// Poll lets one entry be forgotten whose time has come; ok says whether there was one. The driver
// polls until there is none. The event says if a connection ended by that: one that was half-open.
func (s *Server) Poll(now machine.Micros) (event Event, ok bool) {
	s.advance(now)
	switch {
	case s.halfOpen.due() <= s.now:
		return s.happens(now, s.halfOpen.first, pollHalfOpen, 0), true
	case s.ended.due() <= s.now:
		return s.happens(now, s.ended.first, pollRemembered, 0), true
	}
	return Event{}, false
}

// Deadline returns when Poll has something to do; Never if it has not (CXS-17).
func (s *Server) Deadline() machine.Micros { return min(s.halfOpen.due(), s.ended.due()) }

// Stats returns the counts so far.
func (s *Server) Stats() ServerStats {
	stats := s.stats
	stats.Living, stats.Ended = s.all.living, s.all.ended
	return stats
}

// advance begins an event at now. A time before the latest one counts as that one (CXN-3).
func (s *Server) advance(now machine.Micros) { s.now = max(s.now, now) }
