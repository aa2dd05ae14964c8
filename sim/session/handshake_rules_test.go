package session

import "fmt"

// hsRules are rules of the document that can be taken out. Each was a violation when the
// handshake was designed.
type hsRules struct {
	oneAnonymous  bool // F1: all anonymous clients are one identity
	byAddress     bool // anonymous entries are found by address
	resumeByKey   bool // F2: the proof of a resuming PROOF needs only the key
	anyStamp      bool // F3: the server takes older PROOFs, too
	noMemory      bool // F3: nothing is remembered of a connection that has ended
	firstOnly     bool // F4: of a nonce only the first challenge is proved
	largerOnly    bool // only challenges of larger stamps are proved
	unproven      bool // F5: a REFUSED without a proof ends the client
	linksAnew     bool // F5: a client that is refused links anew by itself
	sameNonce     bool // F6: a client that resumes keeps its nonce and its challenges
	withoutOffer  bool // the proof of REFUSED does not cover the offer
	halfOpenEnds  bool // a half-open connection is forgotten before its cookies are too old
	refusesOnce   bool // REMEMBER does not begin again when a PROOF is refused
	keepsLate     bool // LINKED counts for a challenge however long ago it was taken
	forgetsAtOnce bool // REMEMBER is shorter than COOKIE_LIFE
}

// hsWorld is a configuration: what there is, and how often what may happen.
type hsWorld struct {
	name        string
	keyed       bool // all clients have one identity; else all are anonymous
	clients     int
	addresses   uint8 // the attacker sends from any of these, too
	homes       [hsClients]uint8
	offers      uint8
	challenges  uint8
	crashes     uint8
	moves, ends uint8
	attempts    uint8
	foreign     uint8
	restarts    uint8
	ages        bool
	relays      bool // the attacker sends on to a client what was for his own address
	lowerClock  bool // a server that begins again has a clock that begins again
	hsRules

	calm hsState // scratch
}

// The client's table (I).

// begin starts a process of a client.
func (w *hsWorld) begin(s *hsState, i uint8) {
	c := &s.clients[i]
	s.made.processes++
	c.process = s.made.processes
	c.state, c.link, c.first, c.blocked = hsLinking, 0, 0, false
	w.draw(s, i, 0)
}

// draw takes a new offer: RENEW.
func (w *hsWorld) draw(s *hsState, i, resume uint8) {
	c := &s.clients[i]
	if w.sameNonce && resume != 0 {
		c.since = s.made.challenges
		return
	}
	c.offer = s.made.offers
	s.offers[c.offer] = hsOffer{client: i, process: c.process, resume: resume, lapsed: -1}
	s.made.offers++
	c.kept, c.late, c.since, c.blocked = 0, 0, s.made.challenges, false
}

// renew is rows I13, I16, I22 and I36.
func (w *hsWorld) renew(s *hsState, i uint8) {
	c := &s.clients[i]
	if c.link != 0 {
		c.state = hsRelinking
	}
	w.draw(s, i, c.link)
}

// stamp is a challenge's.
func (w *hsWorld) stamp(s *hsState, k uint8) int {
	if w.lowerClock {
		return int(k) - 100*int(s.challenges[k].run)
	}
	return int(k)
}

// takes reports whether a client takes a challenge: "ours and new".
func (w *hsWorld) takes(s *hsState, i, k uint8) bool {
	c := &s.clients[i]
	if c.state != hsLinking && c.state != hsRelinking || s.challenges[k].offer != c.offer || c.kept>>k&1 == 1 || c.blocked {
		return false
	}
	if ch := &s.challenges[k]; c.had>>ch.address&1 == 0 && !ch.foreign && !w.relays {
		return false
	}
	if w.firstOnly && c.kept != 0 {
		return false
	}
	if w.largerOnly {
		for n := range s.made.challenges {
			if c.kept>>n&1 == 1 && w.stamp(s, n) >= w.stamp(s, k) {
				return false
			}
		}
	}
	return true
}

func (w *hsWorld) take(s *hsState, i, k uint8) {
	s.clients[i].kept |= 1 << k
	s.challenges[k].proved = !s.challenges[k].foreign // the server is silent: the cookie is for another offer
}

// linksRight reports whether a LINKED is right for a client.
func (w *hsWorld) linksRight(s *hsState, i, k, l uint8) bool {
	c := &s.clients[i]
	waits := c.state == hsLinking || c.state == hsRelinking && c.link == l
	return waits && (c.kept&^c.late)>>k&1 == 1 && s.challenges[k].linked>>l&1 == 1
}

// opens is rows I8 and I30.
func (w *hsWorld) opens(s *hsState, i, k, l uint8) error {
	c := &s.clients[i]
	if k < c.since {
		return fmt.Errorf("stale LINKED: client %d opens by an answer to what it sent before it renewed", i)
	}
	c.state, c.link = hsOpen, l
	if c.first == 0 {
		c.first = l
	}
	s.links[l].sent = true
	if c.first != l {
		return fmt.Errorf("anew: client %d goes from link %d to %d by itself", i, c.first, l)
	}
	for j := range s.entries {
		e := &s.entries[j]
		if e.living() && w.clients == 1 && e.link != l && s.links[e.link].offer == s.links[l].offer && s.links[e.link].run == s.links[l].run {
			return fmt.Errorf("dead keys: client %d opens link %d, but the server has made %d of its offer", i, l, e.link)
		}
	}
	return nil
}

// refuses reports whether a REFUSED is right for a client.
func (w *hsWorld) refuses(s *hsState, i, k, reason uint8) bool {
	c, ch := &s.clients[i], &s.challenges[k]
	return (c.kept&^c.late)>>k&1 == 1 && ch.refused&reason != 0 && (!ch.foreign || w.withoutOffer)
}

// isRefused is rows I10 and I32.
func (w *hsWorld) isRefused(s *hsState, i, k, reason uint8) error {
	c := &s.clients[i]
	var err error
	for j := range s.entries {
		e := &s.entries[j]
		if e.living() && (w.clients == 1 || !w.keyed) && reason != hsSaysFull && s.links[e.link].run == s.challenges[k].run && (c.link == e.link || c.link == 0 && s.links[e.link].offer == c.offer) {
			err = fmt.Errorf("refused: client %d is closed, but its link %d lives", i, e.link)
		}
	}
	if s.challenges[k].foreign {
		err = fmt.Errorf("refused: client %d is closed by what the attacker asked for", i)
	}
	c.state = hsClosed
	if w.linksAnew && c.link != 0 {
		c.state, c.link = hsLinking, 0
		w.draw(s, i, 0)
	}
	return err
}

// The server's table (J).

// link answers a LINK: CHALLENGE, without state.
func (w *hsWorld) link(s *hsState, offer, address uint8) uint8 {
	k := s.made.challenges
	s.challenges[k] = hsChallenge{offer: offer, address: address, run: s.made.run}
	s.made.challenges++
	return k
}

// find returns the entry that a PROOF is about; -1: none.
func (w *hsWorld) find(s *hsState, k uint8) int {
	ch := &s.challenges[k]
	o := &s.offers[ch.offer]
	for j := range s.entries {
		e := &s.entries[j]
		if e.state == hsFree {
			continue
		}
		switch {
		case w.keyed || w.oneAnonymous:
			return j
		case o.resume != 0:
			if e.link == o.resume {
				return j
			}
		case w.byAddress:
			if e.address == ch.address {
				return j
			}
		case s.links[e.link].offer == ch.offer:
			return j
		}
	}
	return -1
}

// knows reports whether who owns an offer can prove it.
func (w *hsWorld) knows(s *hsState, o *hsOffer) bool {
	return o.resume == 0 || w.resumeByKey || s.offers[s.links[o.resume].offer].process == o.process
}

// proof is a PROOF whose cookie is right and young.
func (w *hsWorld) proof(s *hsState, k uint8) error {
	ch := &s.challenges[k]
	o := &s.offers[ch.offer]
	j := w.find(s, k)
	if j < 0 {
		if o.resume != 0 {
			ch.refused |= hsSaysClosed // J1
			return nil
		}
		return w.make(s, -1, k) // J2, J3
	}
	e := &s.entries[j]
	if o.resume == e.link && !w.knows(s, o) {
		return nil // REFUSED identity, without a proof
	}
	if e.state == hsEnded {
		return w.proofEnded(s, j, k)
	}
	resumes := o.resume != 0 && o.resume == e.link
	switch {
	case !w.anyStamp && (int8(k) < e.newest || int8(k) == e.newest && ch.offer != e.offer):
		return nil // J4, J13
	case ch.offer == e.offer || resumes:
		return w.place(s, j, k) // J5, J6, J14, J15
	case o.resume == 0:
		err := w.replaces(s, j, k)
		w.lapse(s, e, int8(k))
		if made := w.make(s, j, k); err == nil {
			err = made
		}
		return err // J7, J16
	}
	ch.refused |= hsSaysReplaced // J8, J17
	return nil
}

// proofEnded is rows J21 to J25.
func (w *hsWorld) proofEnded(s *hsState, j int, k uint8) error {
	e, ch := &s.entries[j], &s.challenges[k]
	switch {
	case ch.offer == e.offer, int8(k) > e.newest && s.offers[ch.offer].resume != 0:
		ch.refused |= e.reason
		if !w.refusesOnce {
			e.keeps = max(e.keeps, int8(k))
		}
	case int8(k) <= e.newest:
	default:
		return w.make(s, j, k)
	}
	return nil
}

// make is MAKE and ANSWER, or the refusal if there is no room.
func (w *hsWorld) make(s *hsState, j int, k uint8) error {
	for i := range s.entries {
		if j < 0 && s.entries[i].state == hsFree && (i == 0 || !w.keyed && !w.oneAnonymous) {
			j = i
		}
	}
	ch := &s.challenges[k]
	if j < 0 || s.made.links+1 >= hsLinks {
		ch.refused |= hsSaysFull
		return nil
	}
	s.made.links++
	l, o := s.made.links, &s.offers[ch.offer]
	s.links[l] = hsLink{offer: ch.offer, run: s.made.run, newest: int8(k)}
	s.entries[j] = hsEntry{state: hsUnconfirmed, offer: ch.offer, link: l, address: ch.address, newest: int8(k), keeps: int8(k)}
	ch.linked |= 1 << l
	if int8(k) <= o.lapsed {
		return fmt.Errorf("revival: offer %d makes a second connection by an old PROOF", ch.offer)
	}
	o.lapsed = hsLives
	return w.placed(s, &s.entries[j])
}

// place is PLACE and ANSWER.
func (w *hsWorld) place(s *hsState, j int, k uint8) error {
	e, ch := &s.entries[j], &s.challenges[k]
	l := &s.links[e.link]
	var err error
	if int8(k) < l.newest {
		err = fmt.Errorf("moved back: link %d is placed at address %d by an old PROOF", e.link, ch.address)
	}
	if s.offers[ch.offer].process != s.offers[l.offer].process {
		err = fmt.Errorf("hijack: link %d is resumed by another", e.link)
	}
	for i := range s.entries {
		if o := &s.entries[i]; w.byAddress && !w.keyed && i != j && o.living() && o.address == ch.address && err == nil {
			err = w.replaces(s, i, k)
			w.lapse(s, o, int8(k))
		}
	}
	e.offer, e.address, e.newest, e.keeps = ch.offer, ch.address, int8(k), int8(k)
	l.newest = max(l.newest, int8(k))
	ch.linked |= 1 << e.link
	if err != nil {
		return err
	}
	return w.placed(s, e)
}

// placed checks that a connection is at an address at which its client was.
func (w *hsWorld) placed(s *hsState, e *hsEntry) error {
	client := s.offers[s.links[e.link].offer].client
	if s.clients[client].had>>e.address&1 == 0 {
		return fmt.Errorf("hijack: link %d of client %d is at address %d, where it never was", e.link, client, e.address)
	}
	return nil
}

// replaces checks that a PROOF may end the connection of an entry.
func (w *hsWorld) replaces(s *hsState, j int, k uint8) error {
	e := &s.entries[j]
	by, of := &s.offers[s.challenges[k].offer], &s.offers[e.offer]
	switch {
	case !w.keyed && by.client != of.client:
		return fmt.Errorf("replaced: link %d of client %d by client %d", e.link, of.client, by.client)
	case int8(k) < s.links[e.link].newest:
		return fmt.Errorf("replaced: link %d by an old PROOF", e.link)
	case by.client == of.client && s.challenges[k].offer < e.offer:
		return fmt.Errorf("replaced: link %d by an offer that its client has left", e.link)
	}
	return nil
}

// end is rows J12 and J20.
func (w *hsWorld) end(s *hsState, j uint8) {
	e := &s.entries[j]
	e.state, e.reason, e.newest = hsEnded, hsSaysClosed, int8(s.made.challenges)-1
	e.keeps = e.newest
	s.offers[s.links[e.link].offer].lapsed = e.newest
	if w.noMemory {
		*e = hsEntry{}
	}
}

// lapse frees an entry. PROOFs of challenges up to k can make no other connection of its offer.
func (w *hsWorld) lapse(s *hsState, e *hsEntry, k int8) {
	s.offers[s.links[e.link].offer].lapsed = k
	*e = hsEntry{}
}

// forget is rows J10 and J27. What the client took before the entry was made is late by then.
func (w *hsWorld) forget(s *hsState, e *hsEntry) {
	for k := range s.made.challenges {
		answered := s.challenges[k].linked>>e.link&1 == 1 || s.challenges[k].refused != 0 && int8(k) <= e.keeps
		for i := range s.clients {
			if c := &s.clients[i]; answered && !w.keepsLate {
				c.late |= c.kept & (1 << k)
			}
		}
	}
	w.lapse(s, e, e.newest)
}

// mayForget reports whether all cookies are too old that an entry keeps out.
func (w *hsWorld) mayForget(s *hsState, e *hsEntry) bool {
	if e.state == hsUnconfirmed && w.halfOpenEnds || e.state == hsEnded && w.forgetsAtOnce {
		return true
	}
	for k := range uint8(e.keeps + 1) {
		if !s.challenges[k].old {
			return false
		}
	}
	return true
}

// restart begins the server again.
func (w *hsWorld) restart(s *hsState) {
	s.made.run++
	s.entries = [hsEntries]hsEntry{}
	for i := range s.offers {
		s.offers[i].lapsed = -1
	}
	for i := range s.made.challenges {
		s.challenges[i].old = true
	}
}
