package session

import "encoding/binary"

// count is how many entries there are of a kind.
type count struct{ living, ended int }

func (c count) plus(o count) count { return count{c.living + o.living, c.ended + o.ended} }

// room reports whether a new connection can begin at an address (CXS-7). Nobody has to make room
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
		s.hellos[e.first] = e
	}
	e.count()
}

// leave undoes enter, if there was a connection.
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
		delete(s.hellos, e.first)
	}
	e.uncount()
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
