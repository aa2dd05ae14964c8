package session

import "github.com/chunkwire/chunkwire/core"

// Entry is what a server knows of an identity, or of an anonymous client (section 6): its
// connection, or that it ended. Its variables are in CXS-4.
type Entry struct {
	// Owner is for the layer above. It belongs to the connection, and is forgotten with it.
	Owner any

	server *Server
	state  EntryState
	row    core.Row

	identity uint64
	address  Address
	home     Prefix  // of the address at which it was made
	first    helloAt // of the PROOF that made the connection
	hello    Key     // of the last PROOF that was taken
	newest   uint64  // its stamp; of an ended one the last that was issued
	agreed   Agreed
	share    Share
	link     *Link // nil once ended
	made     *made // nil once ended
	resume   Key
	reason   Reason // why it ended
	since    core.Micros
	counted  count // what it counts as

	list       *entryList // that it is in
	prev, next *Entry
}

// made is what a connection keeps of the PROOF that made it.
type made struct {
	key    Key // of the identity, as it was then (CXS-20)
	answer Key // proves LINKED
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

// helloAt is what anonymous entries are found by: an observer of a hello can send it from another address.
type helloAt struct {
	hello Key
	at    Address
}

// mayMove reports whether who proves a PROOF has the connection that it resumes (CXK-3).
func (e *Entry) mayMove(seen *Key, move *[16]byte) bool {
	want := moveBy(&e.resume, seen)
	return equal(&want, move)
}

// makes reports whether the row of a guard makes a connection.
func (e *Entry) makes(guard uint8) bool {
	return guard == proofBegins || guard == proofOther && !e.living()
}

func (e *Entry) living() bool { return e.state == Unconfirmed || e.state == Confirmed }

// proofGuard returns the first guard that holds for a PROOF (CXS-6). One that resumes another
// connection changes nothing.
func (e *Entry) proofGuard(in *arrival) uint8 {
	m := &in.message
	switch e.state {
	case Free:
		return e.freeGuard(m)
	case Ended:
		return e.endedGuard(in)
	}
	switch {
	case !in.checked:
		return proofOther
	case e.isOld(in):
		return proofOld
	case in.greeting.hello == e.hello:
		return proofHello
	case m.Resume != 0:
		return proofResumesIt
	}
	return proofBegins
}

// isOld reports whether a newer PROOF was taken. An anonymous client that begins has a hello of
// its own, so the first hello of a connection that went on with another is old, too.
func (e *Entry) isOld(in *arrival) bool {
	m, other := &in.message, in.greeting.hello != e.hello
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

func (e *Entry) endedGuard(in *arrival) uint8 {
	switch {
	case in.greeting.hello == e.hello:
		return proofHello
	case e.isOld(in):
		return proofOld
	case in.message.Resume != 0:
		return proofResumes
	case !e.server.room(&e.server.in.from):
		return proofNoRoom
	}
	return proofOther
}

// refuse appends a REFUSED. An entry that has ended is remembered from then on, so that no copy
// of the PROOF makes a connection later; but not by who resumes another one.
func (e *Entry) refuse(in *arrival) {
	e.server.refuse(in, e.refusalReason(in))
	if in.checked && e.answersForTheEnded(in) {
		e.wait(&e.server.ended)
	}
}

// answersForTheEnded reports whether a PROOF is for the connection that has ended, and not for a new one.
func (e *Entry) answersForTheEnded(in *arrival) bool {
	return e.state == Ended && (in.greeting.hello == e.hello || in.message.Resume != 0)
}

// refusalReason returns why an entry refuses a PROOF (CXS-11).
func (e *Entry) refusalReason(in *arrival) Reason {
	switch {
	case e.answersForTheEnded(in):
		return e.reason
	case in.message.Resume == 0:
		return Full
	case e.state == Free:
		return ConnectionClosed
	}
	return Replaced
}

// make makes the connection (CXS-8).
func (e *Entry) make(in *arrival) {
	s, m := e.server, &in.message
	in.agreed.Link = s.drawLink() // not the link that e has until now
	e.leave()
	e.agreed, e.share, e.reason = in.agreed, in.ours.share, 0
	linked := e.linked(m.Nonce)
	keys := in.greeting.keys(&in.meeting, &linked)
	if s.keyLog != nil {
		s.keyLog(e.agreed.Link, keys.C2S, keys.S2C)
	}
	e.made, e.resume = &made{in.key, in.meeting.answer}, keys.Resume
	e.link = NewLink(LinkConfig{Mode: s.terms.Mode, Agreed: e.agreed, Seal: keys.S2C, Open: keys.C2S})
	e.hello, e.first = in.greeting.hello, helloAt{in.greeting.hello, in.from}
	e.newest, e.address, e.home = m.Stamp, in.from, in.from.Prefix()
	s.enter(e)
	e.wait(&s.halfOpen)
	in.event.Kind = EventMade
	s.stats.Made++
}

// linked is the LINKED with a nonce, without its proof.
func (e *Entry) linked(nonce Nonce) Message {
	m := Message{Kind: KindLinked, Agreed: e.agreed}
	m.Nonce, m.Share = nonce, e.share
	return m
}

// answer appends the LINKED for a PROOF (CXS-10, CXH-6).
func (e *Entry) answer(in *arrival) {
	m, by := e.linked(in.message.Nonce), &e.made.answer
	if in.message.Resume != 0 {
		by = &e.resume
	}
	m.Proof = answerBy(by, &in.whole, &m)
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
	e.hello, e.newest = in.greeting.hello, in.message.Stamp
	if e.address != in.from {
		e.address = in.from
		in.event.Kind = EventMoved
		s.stats.Moved++
	}
	if e.state == Unconfirmed {
		e.wait(&s.halfOpen)
	}
}

// confirm notes that the client has the keys (CXS-13): until then only LINKED is sent
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
	e.Owner, e.link, e.made = nil, nil, nil
	e.newest, e.reason = s.challenges.next.Load()-1, in.event.Reason
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
	e.Owner, e.link, e.made = nil, nil, nil
}
