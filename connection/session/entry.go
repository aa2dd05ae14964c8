package session

import "github.com/chunkwire/chunkwire/core"

// Entry is what a server knows of an identity, or of an anonymous client (section 6): its
// connection, or that it ended. Its variables are those of CXS-4.
type Entry struct {
	// Owner is for the layer above. It belongs to the connection, and is forgotten with it.
	Owner any

	server *Server
	state  EntryState
	row    core.Row

	identity    uint64
	address     Address
	home        Prefix // of the address at which it was made
	first       Nonce  // of the PROOF that made the connection
	nonce       Nonce  // of the last PROOF that was taken
	newest      uint64 // its stamp; of an ended one the last that was issued
	agreed      Agreed
	serverNonce Nonce
	link        *Link // nil once ended
	resume      Key
	reason      Reason // why it ended
	since       core.Micros
	counted     count // what it counts as

	list       *entryList // that it is in
	prev, next *Entry
}

// State returns the state.
func (e *Entry) State() EntryState { return e.state }

// Row returns the row that was taken last.
func (e *Entry) Row() core.Row { return e.row }

// ID returns the number by which datagrams name the link.
func (e *Entry) ID() uint32 { return e.agreed.Link }

// Link returns the envelope of the connection; nil once it has ended.
func (e *Entry) Link() *Link { return e.link }

// Identity returns the identity; 0 is anonymous.
func (e *Entry) Identity() uint64 { return e.identity }

// Address returns where the client is.
func (e *Entry) Address() Address { return e.address }

// Reason returns why the connection ended.
func (e *Entry) Reason() Reason { return e.reason }

func (e *Entry) living() bool { return e.state == Unconfirmed || e.state == Confirmed }

// proofGuard returns the first guard that holds for a PROOF (CXS-6). What was not checked, since
// it names a link of which there is no key, changes nothing.
func (e *Entry) proofGuard(in *arrival) uint8 {
	m := &in.message
	switch e.state {
	case Free:
		return e.freeGuard(m)
	case Ended:
		return e.endedGuard(m)
	}
	switch {
	case !in.checked:
		return proofOther
	case e.isOld(m):
		return proofOld
	case m.Nonce == e.nonce:
		return proofNonce
	case m.Resume != 0:
		return proofResumesIt
	}
	return proofBegins
}

// isOld reports whether a newer PROOF was taken. An anonymous client that begins has a nonce of
// its own, so the first nonce of a connection that went on with another is old, too.
func (e *Entry) isOld(m *Message) bool {
	other := m.Nonce != e.nonce
	return m.Stamp < e.newest || m.Stamp == e.newest && other || e.identity == 0 && m.Resume == 0 && other
}

func (e *Entry) freeGuard(m *Message) uint8 {
	switch {
	case m.Resume != 0:
		return proofResumes
	case !e.server.room(&e.server.in.from):
		return proofNoRoom
	}
	return proofOther
}

func (e *Entry) endedGuard(m *Message) uint8 {
	switch {
	case m.Nonce == e.nonce:
		return proofNonce
	case e.isOld(m):
		return proofOld
	case m.Resume != 0:
		return proofResumes
	case !e.server.room(&e.server.in.from):
		return proofNoRoom
	}
	return proofOther
}

// refuse appends a REFUSED. An entry that has ended is remembered from then on, so that no copy
// of the PROOF makes a connection later; but not by who has no key.
func (e *Entry) refuse(in *arrival) {
	e.server.refuse(in, e.refusalReason(in))
	if in.checked && e.answersForTheEnded(&in.message) {
		e.wait(&e.server.ended)
	}
}

// answersForTheEnded reports whether a PROOF is for the connection that has ended, and not for a new one.
func (e *Entry) answersForTheEnded(m *Message) bool {
	return e.state == Ended && (m.Nonce == e.nonce || m.Resume != 0)
}

// refusalReason returns why an entry refuses a PROOF (CXS-11).
func (e *Entry) refusalReason(in *arrival) Reason {
	m := &in.message
	switch {
	case e.answersForTheEnded(m):
		return e.reason
	case m.Resume == 0:
		return Full
	case e.state == Free:
		return ConnectionClosed
	}
	return Replaced
}

// make makes the connection (CXS-8).
func (e *Entry) make(in *arrival) {
	s, m := e.server, &in.message
	e.leave()
	in.agreed.Link = s.drawLink()
	draw(s.random, e.serverNonce[:])
	keys := DeriveKeys(in.key, &m.Offer, &in.agreed, e.serverNonce)
	e.agreed, e.resume, e.reason = in.agreed, keys.Resume, 0
	e.link = NewLink(LinkConfig{Mode: s.terms.Mode, Agreed: e.agreed, Seal: keys.S2C, Open: keys.C2S})
	e.nonce, e.first, e.newest, e.address, e.home = m.Nonce, m.Nonce, m.Stamp, in.from, in.from.Prefix()
	s.enter(e)
	e.wait(&s.halfOpen)
	in.event.Kind = EventMade
	s.stats.Made++
}

// answer appends the LINKED for a PROOF (CXS-10, CXH-6).
func (e *Entry) answer(in *arrival) {
	m := Message{Kind: KindLinked, Agreed: e.agreed, ServerNonce: e.serverNonce}
	m.Nonce = in.message.Nonce
	m.Proof = in.by.linked(&m, in.message.Stamp, &in.message.Cookie)
	in.out = m.append(in.out)
	in.event.Entry = e
	if in.event.Kind == NoEvent {
		in.event.Kind = EventAnswered
	}
	e.server.stats.Linked++
}

// place notes where the client is (CXS-9).
func (e *Entry) place(in *arrival) {
	s := e.server
	e.nonce, e.newest = in.message.Nonce, in.message.Stamp
	if e.address != in.from {
		e.address = in.from
		in.event.Kind = EventMoved
		s.stats.Moved++
	}
	if e.state == Unconfirmed {
		e.wait(&s.halfOpen)
	}
}

// confirm notes that the client has the keys (CXS-13): until then nothing but LINKED is sent
// (CXS-15).
func (e *Entry) confirm(in *arrival) {
	e.unlist()
	in.event.Kind, in.event.Entry = EventConfirmed, e
}

// end ends the connection (CXS-12). No PROOF whose stamp was issued before makes a new one.
func (e *Entry) end(in *arrival) {
	s := e.server
	if e.state != Ended {
		in.event.Reason = Replaced
		s.stats.Replaced++
	}
	in.event.Kind, in.event.Entry, in.event.Ended, in.event.Owner = EventEnded, e, e.ID(), e.Owner
	e.uncount()
	e.Owner, e.link = nil, nil
	e.newest, e.reason = s.nextStamp-1, in.event.Reason
	e.count()
	e.wait(&s.ended)
}

// forget forgets everything about the entry (CXS-14).
func (e *Entry) forget(in *arrival) {
	if e.link != nil {
		in.event.Kind, in.event.Entry, in.event.Reason = EventEnded, e, ConnectionClosed
		in.event.Ended, in.event.Owner = e.ID(), e.Owner
		e.server.stats.HalfOpen++
	}
	e.leave()
	e.Owner, e.link = nil, nil
}
