package handshake

import "fmt"

// Rules are rules of the document that can be taken out. Each was a violation when the
// handshake was designed.
type Rules struct {
	OneAnonymous  bool // F1: all anonymous clients are one identity
	ByAddress     bool // anonymous entries are found by address
	ByHello       bool // anonymous entries are found by their hello, wherever it comes from
	ResumeByKey   bool // F2: the proof of a resuming PROOF needs only the key
	AnyStamp      bool // F3: the server takes older PROOFs, too
	NoMemory      bool // F3: nothing is remembered of a connection that has ended
	FirstOnly     bool // F4: of a nonce only the first challenge is proved
	LargerOnly    bool // only challenges of larger stamps are proved
	Unproven      bool // F5: a REFUSED without a proof ends the client
	LinksAnew     bool // F5: a client that is refused links anew by itself
	SameNonce     bool // F6: a client that resumes keeps its nonce and its challenges
	HalfOpenEnds  bool // a half-open connection is forgotten before its cookies are too old
	RefusesOnce   bool // REMEMBER does not begin again when a PROOF is refused
	KeepsLate     bool // LINKED counts for a challenge however long ago it was taken
	ForgetsAtOnce bool // REMEMBER is shorter than COOKIE_LIFE
}

// World is a configuration: what there is, and how often what may happen.
type World struct {
	Name        string
	Keyed       bool // all clients have one identity; else all are anonymous
	Clients     int
	Addresses   uint8 // the attacker sends from any of these, too
	Homes       [mostClients]uint8
	Offers      uint8
	Challenges  uint8
	Crashes     uint8
	Moves, Ends uint8
	Attempts    uint8
	Foreign     uint8
	Copies      uint8 // how often the attacker sends the hello of an anonymous client from his own address
	Restarts    uint8
	Ages        bool
	Relays      bool // the attacker sends on to a client what was for his own address
	Anywhere    bool // a connection may be at an address where its client never was
	LowerClock  bool // a server that begins again has a clock that begins again
	Rules

	calm State // scratch
}

// The client's table (I).

// begin starts a process of a client.
func (w *World) begin(s *State, i uint8) {
	c := &s.Clients[i]
	s.Made.Processes++
	c.Process = s.Made.Processes
	c.State, c.Link, c.First, c.Blocked = Linking, 0, 0, false
	w.draw(s, i, 0)
}

// draw takes a new offer: RENEW.
func (w *World) draw(s *State, i, resume uint8) {
	c := &s.Clients[i]
	if w.SameNonce && resume != 0 {
		c.Since = s.Made.Challenges
		return
	}
	c.Offer = s.Made.Offers
	s.Offers[c.Offer] = Offer{Client: i, Process: c.Process, Resume: resume, Lapsed: never}
	s.Made.Offers++
	c.Kept, c.Late, c.Since, c.Blocked = 0, 0, s.Made.Challenges, false
}

// renew is rows I13, I16, I22 and I36.
func (w *World) renew(s *State, i uint8) {
	c := &s.Clients[i]
	if c.Link != 0 {
		c.State = Relinking
	}
	w.draw(s, i, c.Link)
}

// stamp is a challenge's.
func (w *World) stamp(s *State, k uint8) int {
	if w.LowerClock {
		return int(k) - 100*int(s.Challenges[k].Run)
	}
	return int(k)
}

// Takes reports whether a client takes a challenge: "ours and new".
func (w *World) Takes(s *State, i, k uint8) bool {
	c := &s.Clients[i]
	if c.State != Linking && c.State != Relinking || s.Challenges[k].Offer != c.Offer || c.Kept>>k&1 == 1 || c.Blocked {
		return false
	}
	if ch := &s.Challenges[k]; c.Had>>ch.Address&1 == 0 && !ch.Foreign && !w.Relays {
		return false
	}
	if w.FirstOnly && c.Kept != 0 {
		return false
	}
	if w.LargerOnly {
		for n := range s.Made.Challenges {
			if c.Kept>>n&1 == 1 && w.stamp(s, n) >= w.stamp(s, k) {
				return false
			}
		}
	}
	return true
}

func (w *World) take(s *State, i, k uint8) {
	s.Clients[i].Kept |= 1 << k
	s.Challenges[k].Proved = !s.Challenges[k].Foreign // the server is silent: the cookie is for another LINK
}

// TakesLinked reports whether a LINKED is right for a client.
func (w *World) TakesLinked(s *State, i, k, l uint8) bool {
	c := &s.Clients[i]
	waits := c.State == Linking || c.State == Relinking && c.Link == l
	return waits && (c.Kept&^c.Late)>>k&1 == 1 && s.Challenges[k].Linked>>l&1 == 1
}

// opens is rows I8 and I30.
func (w *World) opens(s *State, i, k, l uint8) error {
	c := &s.Clients[i]
	if k < c.Since {
		return fmt.Errorf("stale LINKED: client %d opens by an answer to what it sent before it renewed", i)
	}
	c.State, c.Link = Open, l
	if c.First == 0 {
		c.First = l
	}
	s.Links[l].Sent = true
	if c.First != l {
		return fmt.Errorf("anew: client %d goes from link %d to %d by itself", i, c.First, l)
	}
	for j := range s.Entries {
		e := &s.Entries[j]
		if e.Living() && w.Clients == 1 && e.Link != l && s.Links[e.Link].Offer == s.Links[l].Offer && s.Links[e.Link].At == s.Links[l].At && s.Links[e.Link].Run == s.Links[l].Run {
			return fmt.Errorf("dead keys: client %d opens link %d, but the server has made %d of its offer", i, l, e.Link)
		}
	}
	return nil
}

// TakesRefused reports whether a REFUSED is right for a client.
func (w *World) TakesRefused(s *State, i, k, reason uint8) bool {
	c, ch := &s.Clients[i], &s.Challenges[k]
	return (c.Kept&^c.Late)>>k&1 == 1 && ch.Refused&reason != 0 && !ch.Foreign
}

// isRefused is rows I10 and I32.
func (w *World) isRefused(s *State, i, k, reason uint8) error {
	c := &s.Clients[i]
	var err error
	for j := range s.Entries {
		e := &s.Entries[j]
		if e.Living() && !s.Links[e.Link].Copied && (w.Clients == 1 || !w.Keyed) && reason != SaysFull && s.Links[e.Link].Run == s.Challenges[k].Run && (c.Link == e.Link || c.Link == 0 && s.Links[e.Link].Offer == c.Offer && s.Links[e.Link].At == s.Challenges[k].Address) {
			err = fmt.Errorf("refused: client %d is closed, but its link %d lives", i, e.Link)
		}
	}
	c.State = Closed
	if w.LinksAnew && c.Link != 0 {
		c.State, c.Link = Linking, 0
		w.draw(s, i, 0)
	}
	return err
}

// The server's table (J).

// link answers a LINK: CHALLENGE, without state.
func (w *World) link(s *State, offer, address uint8) uint8 {
	k := s.Made.Challenges
	s.Challenges[k] = Challenge{Offer: offer, Address: address, Run: s.Made.Run}
	s.Made.Challenges++
	return k
}

// find returns the entry that a PROOF is about; -1: none.
func (w *World) find(s *State, k uint8) int {
	ch := &s.Challenges[k]
	o := &s.Offers[ch.Offer]
	for j := range s.Entries {
		e := &s.Entries[j]
		if e.State == Free {
			continue
		}
		switch {
		case w.Keyed || w.OneAnonymous:
			return j
		case o.Resume != 0:
			if e.Link == o.Resume {
				return j
			}
		case w.ByAddress:
			if e.Address == ch.Address {
				return j
			}
		case s.Links[e.Link].Offer == ch.Offer && (w.ByHello || s.Links[e.Link].At == ch.Address):
			return j
		}
	}
	return -1
}

// Knows reports whether who owns an offer can prove it.
func (w *World) Knows(s *State, o *Offer) bool {
	return o.Resume == 0 || w.ResumeByKey || s.Offers[s.Links[o.Resume].Offer].Process == o.Process
}

// proof is a PROOF whose cookie is right and young.
func (w *World) proof(s *State, k uint8) error {
	ch := &s.Challenges[k]
	o := &s.Offers[ch.Offer]
	j := w.find(s, k)
	if j < 0 {
		if o.Resume != 0 {
			ch.Refused |= SaysClosed // J1
			return nil
		}
		return w.make(s, -1, k) // J2, J3
	}
	e := &s.Entries[j]
	if o.Resume == e.Link && !w.Knows(s, o) {
		return nil // REFUSED identity, without a proof
	}
	if e.State == Ended {
		return w.proofEnded(s, j, k)
	}
	resumes := o.Resume != 0 && o.Resume == e.Link
	switch {
	case o.Resume != 0 && !resumes:
		ch.Refused |= SaysReplaced // J8, J17
	case !w.AnyStamp && (int8(k) < e.Newest || int8(k) == e.Newest && ch.Offer != e.Offer):
		return nil // J4, J13
	case ch.Offer == e.Offer || resumes:
		return w.place(s, j, k) // J5, J6, J14, J15
	default:
		return w.begins(s, j, k)
	}
	return nil
}

// begins is rows J7 and J16.
func (w *World) begins(s *State, j int, k uint8) error {
	err := w.replaces(s, j, k)
	w.lapse(s, &s.Entries[j], int8(k))
	if made := w.make(s, j, k); err == nil {
		err = made
	}
	return err
}

// proofEnded is rows J21 to J25.
func (w *World) proofEnded(s *State, j int, k uint8) error {
	e, ch := &s.Entries[j], &s.Challenges[k]
	o := &s.Offers[ch.Offer]
	switch {
	case ch.Offer == e.Offer, int8(k) > e.Newest && o.Resume != 0:
		ch.Refused |= e.Reason
		if checked := o.Resume == 0 || o.Resume == e.Link; checked && !w.RefusesOnce {
			e.Keeps = max(e.Keeps, int8(k))
		}
	case int8(k) <= e.Newest:
	default:
		return w.make(s, j, k)
	}
	return nil
}

// make is MAKE and ANSWER, or the refusal if there is no room.
func (w *World) make(s *State, j int, k uint8) error {
	for i := range s.Entries {
		if j < 0 && s.Entries[i].State == Free && (i == 0 || !w.Keyed && !w.OneAnonymous) {
			j = i
		}
	}
	ch := &s.Challenges[k]
	if j < 0 || s.Made.Links+1 >= mostLinks {
		ch.Refused |= SaysFull
		return nil
	}
	s.Made.Links++
	l, o := s.Made.Links, &s.Offers[ch.Offer]
	s.Links[l] = Link{Offer: ch.Offer, At: ch.Address, Run: s.Made.Run, Newest: int8(k), Copied: ch.Copied}
	s.Entries[j] = Entry{State: Unconfirmed, Offer: ch.Offer, Link: l, Address: ch.Address, Newest: int8(k), Keeps: int8(k)}
	ch.Linked |= 1 << l
	if int8(k) <= o.Lapsed[ch.Address] {
		return fmt.Errorf("revival: offer %d makes a second connection by an old PROOF", ch.Offer)
	}
	o.Lapsed[ch.Address] = Lives
	return w.placed(s, &s.Entries[j])
}

// place is PLACE and ANSWER.
func (w *World) place(s *State, j int, k uint8) error {
	e, ch := &s.Entries[j], &s.Challenges[k]
	l := &s.Links[e.Link]
	var err error
	if int8(k) < l.Newest {
		err = fmt.Errorf("moved back: link %d is placed at address %d by an old PROOF", e.Link, ch.Address)
	}
	if s.Offers[ch.Offer].Process != s.Offers[l.Offer].Process {
		err = fmt.Errorf("hijack: link %d is resumed by another", e.Link)
	}
	for i := range s.Entries {
		if o := &s.Entries[i]; w.ByAddress && !w.Keyed && i != j && o.Living() && o.Address == ch.Address && err == nil {
			err = w.replaces(s, i, k)
			w.lapse(s, o, int8(k))
		}
	}
	e.Offer, e.Address, e.Newest, e.Keeps = ch.Offer, ch.Address, int8(k), int8(k)
	l.Newest = max(l.Newest, int8(k))
	ch.Linked |= 1 << e.Link
	if err != nil {
		return err
	}
	return w.placed(s, e)
}

// placed checks that a connection is at an address at which its client was.
func (w *World) placed(s *State, e *Entry) error {
	client := s.Offers[s.Links[e.Link].Offer].Client
	if s.Links[e.Link].Copied {
		return nil // nobody has its keys
	}
	if s.Clients[client].Had>>e.Address&1 == 0 && !w.Anywhere {
		return fmt.Errorf("hijack: link %d of client %d is at address %d, where it never was", e.Link, client, e.Address)
	}
	return nil
}

// replaces checks that a PROOF may end the connection of an entry.
func (w *World) replaces(s *State, j int, k uint8) error {
	e := &s.Entries[j]
	by, of := &s.Offers[s.Challenges[k].Offer], &s.Offers[e.Offer]
	switch {
	case !w.Keyed && by.Client != of.Client:
		return fmt.Errorf("replaced: link %d of client %d by client %d", e.Link, of.Client, by.Client)
	case int8(k) < s.Links[e.Link].Newest:
		return fmt.Errorf("replaced: link %d by an old PROOF", e.Link)
	case by.Client == of.Client && s.Challenges[k].Offer < e.Offer:
		return fmt.Errorf("replaced: link %d by an offer that its client has left", e.Link)
	}
	return nil
}

// end is rows J12 and J20.
func (w *World) end(s *State, j uint8) {
	e := &s.Entries[j]
	e.State, e.Reason, e.Newest = Ended, SaysClosed, int8(s.Made.Challenges)-1
	e.Keeps = e.Newest
	s.lapsed(e.Link, e.Newest)
	if w.NoMemory {
		*e = Entry{}
	}
}

// lapse frees an entry. PROOFs of challenges up to k can make no other connection of its offer.
func (w *World) lapse(s *State, e *Entry, k int8) {
	s.lapsed(e.Link, k)
	*e = Entry{}
}

// lapsed notes that PROOFs of challenges up to k make no other connection of what made a link.
func (s *State) lapsed(link uint8, k int8) {
	l := &s.Links[link]
	s.Offers[l.Offer].Lapsed[l.At] = k
}

// forget is rows J10 and J27. What the client took before the entry was made is late by then.
func (w *World) forget(s *State, e *Entry) {
	for k := range s.Made.Challenges {
		answered := s.Challenges[k].Linked>>e.Link&1 == 1 || s.Challenges[k].Refused != 0 && int8(k) <= e.Keeps
		for i := range s.Clients {
			if c := &s.Clients[i]; answered && !w.KeepsLate {
				c.Late |= c.Kept & (1 << k)
			}
		}
	}
	w.lapse(s, e, e.Newest)
}

// mayForget reports whether all cookies are too old that an entry keeps out.
func (w *World) mayForget(s *State, e *Entry) bool {
	if e.State == Unconfirmed && w.HalfOpenEnds || e.State == Ended && w.ForgetsAtOnce {
		return true
	}
	for k := range uint8(e.Keeps + 1) {
		if !s.Challenges[k].Old {
			return false
		}
	}
	return true
}

// restart begins the server again.
func (w *World) restart(s *State) {
	s.Made.Run++
	s.Entries = [mostEntries]Entry{}
	for i := range s.Offers {
		s.Offers[i].Lapsed = never
	}
	for i := range s.Made.Challenges {
		s.Challenges[i].Old = true
	}
}
