package session

import (
	"fmt"
	"math/bits"

	"github.com/chunkwire/chunkwire/sim/explore"
)

func (w *hsWorld) Start() (s hsState) {
	for i := range s.clients {
		s.clients[i].address = w.homes[i]
	}
	return s
}

func (w *hsWorld) Options(s *hsState, list []explore.Option[hsMoveMade]) []explore.Option[hsMoveMade] {
	can := func(m hsMoveMade) { list = append(list, explore.Option[hsMoveMade]{Move: m}) }
	for i := range uint8(w.clients) {
		w.clientMoves(s, i, can)
	}
	w.serverMoves(s, can)
	return list
}

func (w *hsWorld) clientMoves(s *hsState, i uint8, can func(hsMoveMade)) {
	c := &s.clients[i]
	draws := s.made.offers < w.offers
	if c.state == hsClosed {
		if draws && (c.process == 0 || s.used.crashes < w.crashes) {
			can(hsMoveMade{verb: hsBegin, who: i})
		}
		return
	}
	if s.used.crashes < w.crashes {
		can(hsMoveMade{verb: hsCrash, who: i})
	}
	for a := range w.addresses {
		if s.used.moves < w.moves && a != c.address && w.mayHave(s, i, a) {
			can(hsMoveMade{verb: hsMove, who: i, j: a})
		}
	}
	if draws {
		can(hsMoveMade{verb: hsRenew, who: i})
		for l := uint8(1); l <= s.made.links && s.used.attempts < w.attempts && c.state == hsLinking; l++ {
			if s.offers[s.links[l].offer].process != c.process {
				can(hsMoveMade{verb: hsAttempt, who: i, j: l})
			}
		}
	}
	if w.unproven || w.largerOnly {
		can(hsMoveMade{verb: hsForged, who: i})
	}
	w.arrivals(s, i, can)
}

// mayHave reports whether a client may get an address: one that no other has. The last is
// the attacker's own.
func (w *hsWorld) mayHave(s *hsState, i, a uint8) bool {
	for n := range w.clients {
		if n != int(i) && s.clients[n].address == a {
			return false
		}
	}
	return a < w.addresses-w.foreign
}

// arrivals are the answers of the server that make a difference to a client.
func (w *hsWorld) arrivals(s *hsState, i uint8, can func(hsMoveMade)) {
	c := &s.clients[i]
	if c.state == hsOpen {
		return
	}
	for k := range s.made.challenges {
		if w.takes(s, i, k) {
			can(hsMoveMade{verb: hsTake, who: i, i: k})
		}
		if c.kept>>k&1 == 0 {
			continue
		}
		for l := uint8(1); l <= s.made.links; l++ {
			if w.linksRight(s, i, k, l) {
				can(hsMoveMade{verb: hsLinked, who: i, i: k, j: l})
			}
		}
		for _, reason := range []uint8{hsSaysClosed, hsSaysReplaced, hsSaysFull} {
			if w.refuses(s, i, k, reason) {
				can(hsMoveMade{verb: hsRefused, who: i, i: k, j: reason})
			}
		}
	}
}

func (w *hsWorld) serverMoves(s *hsState, can func(hsMoveMade)) {
	for o := range s.made.offers {
		had := s.clients[s.offers[o].client].had
		for a := uint8(0); a < w.addresses && s.made.challenges < w.challenges; a++ {
			if had>>a&1 == 0 && !w.relays {
				continue // the client will not see the answer
			}
			can(hsMoveMade{verb: hsLink_, i: o, j: a})
		}
		if s.used.foreign < w.foreign && s.made.challenges < w.challenges {
			can(hsMoveMade{verb: hsForeign, i: o, j: w.addresses - 1})
		}
	}
	oldest := true
	for k := range s.made.challenges {
		ch := &s.challenges[k]
		if ch.old {
			continue
		}
		if ch.proved {
			can(hsMoveMade{verb: hsProof, i: k})
		}
		if oldest && w.ages {
			can(hsMoveMade{verb: hsAge, i: k})
		}
		oldest = false
	}
	for j := range s.entries {
		e, who := &s.entries[j], uint8(j)
		if e.state == hsUnconfirmed && s.links[e.link].sent {
			can(hsMoveMade{verb: hsData, who: who})
		}
		if e.living() && s.used.ends < w.ends {
			can(hsMoveMade{verb: hsEnd, who: who})
		}
		if (e.state == hsUnconfirmed || e.state == hsEnded) && w.mayForget(s, e) {
			can(hsMoveMade{verb: hsForget, who: who})
		}
	}
	if s.made.run < w.restarts {
		can(hsMoveMade{verb: hsRestart})
	}
}

func (w *hsWorld) Apply(s *hsState, m hsMoveMade) error {
	switch m.verb {
	case hsTake:
		w.take(s, m.who, m.i)
	case hsLinked:
		return w.opens(s, m.who, m.i, m.j)
	case hsRefused:
		return w.isRefused(s, m.who, m.i, m.j)
	case hsForged:
		return w.forged(s, m.who)
	case hsLink_:
		w.link(s, m.i, m.j)
	case hsForeign:
		s.used.foreign++
		s.challenges[w.link(s, m.i, m.j)].foreign = true
		s.challenges[s.made.challenges-1].refused = hsSaysClosed
	case hsProof:
		return w.proof(s, m.i)
	case hsData:
		s.entries[m.who].state = hsConfirmed
	case hsEnd:
		s.used.ends++
		w.end(s, m.who)
	case hsForget:
		w.forget(s, &s.entries[m.who])
	case hsAge:
		s.challenges[m.i].old = true
	case hsRestart:
		w.restart(s)
	default:
		w.happens(s, m)
	}
	return nil
}

// happens is what a client does by itself.
func (w *hsWorld) happens(s *hsState, m hsMoveMade) {
	c := &s.clients[m.who]
	switch m.verb {
	case hsBegin:
		w.begin(s, m.who)
	case hsCrash:
		s.used.crashes++
		c.state, c.kept, c.late, c.link, c.blocked = hsClosed, 0, 0, 0, false
	case hsMove:
		s.used.moves++
		c.address = m.j
	case hsRenew:
		w.renew(s, m.who)
	case hsAttempt:
		s.used.attempts++
		w.draw(s, m.who, m.j)
	}
	c.had |= 1 << c.address
}

// forged is a CHALLENGE with the largest stamp, or a REFUSED without a proof.
func (w *hsWorld) forged(s *hsState, i uint8) error {
	c := &s.clients[i]
	if w.unproven {
		return fmt.Errorf("refused: client %d is closed by a forged REFUSED", i)
	}
	c.blocked = true
	return nil
}

// Ended is so in all states: that an end is reached is what Check tries.
func (w *hsWorld) Ended(*hsState) bool { return true }

// Check lets the network become good: nothing more is lost, forged or old, and nobody moves.
// Soon each client is OPEN and shares its link with a living entry at its address, or it
// has ended for a reason that it was given. No time-out is needed for that.
func (w *hsWorld) Check(s *hsState) error {
	w.calm = *s
	c := &w.calm
	for range 4 {
		if w.settled(c) {
			return nil
		}
		for i := range uint8(w.clients) {
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
func (w *hsWorld) shares(s *hsState, i uint8) *hsEntry {
	c := &s.clients[i]
	for j := range s.entries {
		if e := &s.entries[j]; e.living() && e.link == c.link && e.address == c.address {
			return e
		}
	}
	return nil
}

func (w *hsWorld) settled(s *hsState) bool {
	for i := range uint8(w.clients) {
		c := &s.clients[i]
		if !w.knows(s, &s.offers[c.offer]) {
			continue // it tries what is another's: REFUSED identity
		}
		if c.state == hsLinking || c.state == hsRelinking || c.state == hsOpen && w.shares(s, i) == nil {
			return false
		}
	}
	return true
}

// latest returns the last challenge of some.
func latest(kept uint16) uint8 { return uint8(max(0, bits.Len16(kept)-1)) }

// calmly lets a client do what is next: data, or one round of the handshake.
func (w *hsWorld) calmly(s *hsState, i uint8) error {
	c := &s.clients[i]
	switch c.state {
	case hsClosed:
		return nil
	case hsOpen:
		if e := w.shares(s, i); e != nil {
			e.state = hsConfirmed
			return nil
		}
		w.renew(s, i)
	}
	k := w.link(s, c.offer, c.address)
	if w.takes(s, i, k) {
		w.take(s, i, k)
	} else if k = latest(c.kept); s.challenges[k].old || s.challenges[k].address != c.address {
		return nil
	}
	if err := w.proof(s, k); err != nil {
		return err
	}
	for l := uint8(1); l <= s.made.links; l++ {
		if w.linksRight(s, i, k, l) {
			return w.opens(s, i, k, l)
		}
	}
	for _, reason := range []uint8{hsSaysClosed, hsSaysReplaced, hsSaysFull} {
		if w.refuses(s, i, k, reason) {
			return w.isRefused(s, i, k, reason)
		}
	}
	return nil
}
