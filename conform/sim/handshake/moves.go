package handshake

import (
	"fmt"
	"math/bits"

	"github.com/chunkwire/chunkwire/conform/sim/explore"
)

func (w *World) Start() (s State) {
	for i := range s.Clients {
		s.Clients[i].Address = w.Homes[i]
	}
	return s
}

func (w *World) Options(s *State, list []explore.Option[Move]) []explore.Option[Move] {
	can := func(m Move) { list = append(list, explore.Option[Move]{Move: m}) }
	for i := range uint8(w.Clients) {
		w.clientMoves(s, i, can)
	}
	w.serverMoves(s, can)
	return list
}

func (w *World) clientMoves(s *State, i uint8, can func(Move)) {
	c := &s.Clients[i]
	draws := s.Made.Offers < w.Offers
	if c.State == Closed {
		if draws && (c.Process == 0 || s.Used.Crashes < w.Crashes) {
			can(Move{Verb: DoBegin, Who: i})
		}
		return
	}
	if s.Used.Crashes < w.Crashes {
		can(Move{Verb: DoCrash, Who: i})
	}
	for a := range w.Addresses {
		if s.Used.Moves < w.Moves && a != c.Address && w.mayHave(s, i, a) {
			can(Move{Verb: DoMove, Who: i, J: a})
		}
	}
	if draws {
		can(Move{Verb: DoRenew, Who: i})
		for l := uint8(1); l <= s.Made.Links && s.Used.Attempts < w.Attempts && c.State == Linking; l++ {
			if s.Offers[s.Links[l].Offer].Process != c.Process {
				can(Move{Verb: DoAttempt, Who: i, J: l})
			}
		}
	}
	if w.Unproven || w.LargerOnly {
		can(Move{Verb: DoForged, Who: i})
	}
	w.arrivals(s, i, can)
}

// mayHave reports whether a client may get an address: one that no other has. The last is
// the attacker's own.
func (w *World) mayHave(s *State, i, a uint8) bool {
	for n := range w.Clients {
		if n != int(i) && s.Clients[n].Address == a {
			return false
		}
	}
	return a < w.Addresses-w.Foreign-min(1, w.Copies)
}

// arrivals are the answers of the server that make a difference to a client.
func (w *World) arrivals(s *State, i uint8, can func(Move)) {
	c := &s.Clients[i]
	if c.State == Open {
		return
	}
	for k := range s.Made.Challenges {
		if w.Takes(s, i, k) {
			can(Move{Verb: DoTake, Who: i, I: k})
		}
		if c.Kept>>k&1 == 0 {
			continue
		}
		for l := uint8(1); l <= s.Made.Links; l++ {
			if w.TakesLinked(s, i, k, l) {
				can(Move{Verb: DoLinked, Who: i, I: k, J: l})
			}
		}
		for _, reason := range []uint8{SaysClosed, SaysReplaced, SaysFull} {
			if w.TakesRefused(s, i, k, reason) {
				can(Move{Verb: DoRefused, Who: i, I: k, J: reason})
			}
		}
	}
}

func (w *World) serverMoves(s *State, can func(Move)) {
	for o := range s.Made.Offers {
		had := s.Clients[s.Offers[o].Client].Had
		for a := uint8(0); a < w.Addresses && s.Made.Challenges < w.Challenges; a++ {
			if had>>a&1 == 0 && !w.Relays {
				continue // the client will not see the answer
			}
			can(Move{Verb: DoLink, I: o, J: a})
		}
		if s.Used.Foreign < w.Foreign && s.Made.Challenges < w.Challenges {
			can(Move{Verb: DoForeign, I: o, J: w.Addresses - 1})
		}
		if s.Used.Copies < w.Copies && s.Made.Challenges < w.Challenges && s.Offers[o].Resume == 0 {
			can(Move{Verb: DoCopy, I: o, J: w.Addresses - 1})
		}
	}
	oldest := true
	for k := range s.Made.Challenges {
		ch := &s.Challenges[k]
		if ch.Old {
			continue
		}
		if ch.Proved {
			can(Move{Verb: DoProof, I: k})
		}
		if oldest && w.Ages {
			can(Move{Verb: DoAge, I: k})
		}
		oldest = false
	}
	for j := range s.Entries {
		e, who := &s.Entries[j], uint8(j)
		if e.State == Unconfirmed && s.Links[e.Link].Sent {
			can(Move{Verb: DoData, Who: who})
		}
		if e.Living() && s.Used.Ends < w.Ends {
			can(Move{Verb: DoEnd, Who: who})
		}
		if (e.State == Unconfirmed || e.State == Ended) && w.mayForget(s, e) {
			can(Move{Verb: DoForget, Who: who})
		}
	}
	if s.Made.Run < w.Restarts {
		can(Move{Verb: DoRestart})
	}
}

func (w *World) Apply(s *State, m Move) error {
	switch m.Verb {
	case DoTake:
		w.take(s, m.Who, m.I)
	case DoLinked:
		return w.opens(s, m.Who, m.I, m.J)
	case DoRefused:
		return w.isRefused(s, m.Who, m.I, m.J)
	case DoForged:
		return w.forged(s, m.Who)
	case DoLink:
		w.link(s, m.I, m.J)
	case DoForeign:
		s.Used.Foreign++
		s.Challenges[w.link(s, m.I, m.J)].Foreign = true
	case DoCopy:
		s.Used.Copies++
		ch := &s.Challenges[w.link(s, m.I, m.J)]
		ch.Copied, ch.Proved = true, true
	case DoProof:
		return w.proof(s, m.I)
	case DoData:
		s.Entries[m.Who].State = Confirmed
	case DoEnd:
		s.Used.Ends++
		w.end(s, m.Who)
	case DoForget:
		w.forget(s, &s.Entries[m.Who])
	case DoAge:
		s.Challenges[m.I].Old = true
	case DoRestart:
		w.restart(s)
	default:
		w.happens(s, m)
	}
	return nil
}

// happens is what a client does by itself.
func (w *World) happens(s *State, m Move) {
	c := &s.Clients[m.Who]
	switch m.Verb {
	case DoBegin:
		w.begin(s, m.Who)
	case DoCrash:
		s.Used.Crashes++
		c.State, c.Kept, c.Late, c.Link, c.Blocked = Closed, 0, 0, 0, false
	case DoMove:
		s.Used.Moves++
		c.Address = m.J
	case DoRenew:
		w.renew(s, m.Who)
	case DoAttempt:
		s.Used.Attempts++
		w.draw(s, m.Who, m.J)
	}
	c.Had |= 1 << c.Address
}

// forged is a CHALLENGE with the largest stamp, or a REFUSED without a proof.
func (w *World) forged(s *State, i uint8) error {
	c := &s.Clients[i]
	if w.Unproven {
		return fmt.Errorf("refused: client %d is closed by a forged REFUSED", i)
	}
	c.Blocked = true
	return nil
}

// Ended is so in all states: that an end is reached is what Check tries.
func (w *World) Ended(*State) bool { return true }

// Check lets the network become good: nothing more is lost, forged or old, and nobody moves.
// Soon each client is OPEN and shares its link with a living entry at its address, or it
// has ended for a reason that it was given. No time-out is needed for that.
func (w *World) Check(s *State) error {
	w.calm = *s
	c := &w.calm
	for range 4 {
		if w.settled(c) {
			return nil
		}
		for i := range uint8(w.Clients) {
			if err := w.calmly(c, i); err != nil {
				return err
			}
		}
	}
	if w.settled(c) {
		return nil
	}
	return fmt.Errorf("stuck: with a good network from here: %s", w.Describe(c))
}

// shares returns the living entry that shares a link with an OPEN client; nil: none.
func (w *World) shares(s *State, i uint8) *Entry {
	c := &s.Clients[i]
	for j := range s.Entries {
		if e := &s.Entries[j]; e.Living() && e.Link == c.Link && e.Address == c.Address {
			return e
		}
	}
	return nil
}

func (w *World) settled(s *State) bool {
	for i := range uint8(w.Clients) {
		c := &s.Clients[i]
		if !w.Knows(s, &s.Offers[c.Offer]) {
			continue // it tries what is another's: REFUSED identity
		}
		if c.State == Linking || c.State == Relinking || c.State == Open && w.shares(s, i) == nil {
			return false
		}
	}
	return true
}

// latest returns the last challenge of some.
func latest(kept uint16) uint8 { return uint8(max(0, bits.Len16(kept)-1)) }

// calmly lets a client do what is next: data, or one round of the handshake.
func (w *World) calmly(s *State, i uint8) error {
	c := &s.Clients[i]
	switch c.State {
	case Closed:
		return nil
	case Open:
		if e := w.shares(s, i); e != nil {
			e.State = Confirmed
			return nil
		}
		w.renew(s, i)
	}
	k := w.link(s, c.Offer, c.Address)
	if w.Takes(s, i, k) {
		w.take(s, i, k)
	} else if k = latest(c.Kept); s.Challenges[k].Old || s.Challenges[k].Address != c.Address {
		return nil
	}
	if err := w.proof(s, k); err != nil {
		return err
	}
	for l := uint8(1); l <= s.Made.Links; l++ {
		if w.TakesLinked(s, i, k, l) {
			return w.opens(s, i, k, l)
		}
	}
	for _, reason := range []uint8{SaysClosed, SaysReplaced, SaysFull} {
		if w.TakesRefused(s, i, k, reason) {
			return w.isRefused(s, i, k, reason)
		}
	}
	return nil
}
