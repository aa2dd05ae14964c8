package session

import (
	"io"
	"math/bits"

	"github.com/chunkwire/chunkwire/machine"
)

// Server is the end that clients link to (section 6). It keeps an entry for each connection, and
// nothing of who has not proved that it can read at its address. It does nothing between calls.
type Server struct {
	now       machine.Micros // the latest that was given, in microseconds (CXN-2, CXN-3)
	nextStamp uint64         // the least that the next challenge can have

	// What does not change.
	terms         Terms
	keys          func(identity uint64) (Key, bool)
	anonymous     bool
	most          int
	mostPerPrefix int
	shard, shards uint32
	random        io.Reader
	secret        tagger

	links      map[uint32]*Entry
	identities map[uint64]*Entry
	nonces     map[Nonce]*Entry // anonymous ones, by their first nonce
	prefixes   map[Prefix]count
	all        count
	halfOpen   entryList
	ended      entryList

	in    proof // that is being taken; lent to the actions
	stats ServerStats
}

// count is how many entries there are of a kind.
type count struct{ living, ended int }

func (c count) plus(o count) count { return count{c.living + o.living, c.ended + o.ended} }

// NewServer returns a server without connections, and with a secret of its own (CXK-10). It fails
// with machine.ErrConfig (CXP-2).
func NewServer(cfg ServerConfig) (*Server, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	var secret Key
	draw(cfg.Random, secret[:])
	return &Server{
		terms: cfg.Terms, keys: cfg.Keys, anonymous: cfg.Anonymous, most: cfg.MaxConnections, mostPerPrefix: cfg.MaxPerAddress,
		shard: cfg.Shard, shards: cfg.Shards, random: cfg.Random, secret: newTagger(secret),
		links: map[uint32]*Entry{}, identities: map[uint64]*Entry{}, nonces: map[Nonce]*Entry{}, prefixes: map[Prefix]count{},
		halfOpen: entryList{wait: HalfOpen}, ended: entryList{wait: Remember},
	}, nil
}

// EntryState is that of an Entry.
type EntryState uint8

// The states of section 6 (CXS-5).
const (
	Free        EntryState = iota // there is no entry
	Unconfirmed                   // there is a connection; no datagram of it came
	Confirmed                     // there is a connection
	Ended                         // there was one

	entryStates = iota
)

func (s EntryState) String() string {
	return [...]string{"FREE", "UNCONFIRMED", "CONFIRMED", "ENDED"}[s]
}

// The guards of section 6 (CXS-6). Of those of an event the first that holds counts.
const (
	proofResumes uint8 = iota
	proofNoRoom
	proofOther
	proofOld
	proofNonce
	proofResumesIt
	proofBegins
	anyEntryData
	pollHalfOpen
	pollRemembered
	pollOther
	anyEntryPoll
	anyEnd
)

var entryGuards = []machine.Guard{
	proofResumes:   {Event: "proof", Text: "resumes"},
	proofNoRoom:    {Event: "proof", Text: "no room"},
	proofOther:     {Event: "proof", Text: "otherwise"},
	proofOld:       {Event: "proof", Text: "old"},
	proofNonce:     {Event: "proof", Text: "its nonce"},
	proofResumesIt: {Event: "proof", Text: "resumes it"},
	proofBegins:    {Event: "proof", Text: "begins"},
	anyEntryData:   {Event: "data", Text: machine.Always},
	pollHalfOpen:   {Event: "poll", Text: "half-open"},
	pollRemembered: {Event: "poll", Text: "remembered"},
	pollOther:      {Event: "poll", Text: "otherwise"},
	anyEntryPoll:   {Event: "poll", Text: machine.Always},
	anyEnd:         {Event: "end", Text: machine.Always},
}

// entryInput is what an event gives to the actions. Those of other events than proof use its
// event alone.
type entryInput struct {
	*proof
	reason Reason // of END
}

type entryAction = machine.Action[Entry, entryInput]

// The actions of section 6.
var (
	refuseProof = entryAction{Name: "REFUSE", Do: (*Entry).refuse}
	makeLink    = entryAction{Name: "MAKE", Do: (*Entry).make}
	answerProof = entryAction{Name: "ANSWER", Do: (*Entry).answer}
	countProof  = entryAction{Name: "COUNT", Do: func(e *Entry, in entryInput) { in.err = proofIsOld.NotAt() }}
	place       = entryAction{Name: "PLACE", Do: (*Entry).place}
	endEntry    = entryAction{Name: "END", Do: (*Entry).end}
	confirm     = entryAction{Name: "CONFIRM", Do: (*Entry).confirm}
	hearEntry   = entryAction{Name: "HEAR", Do: func(*Entry, entryInput) {}}
	forget      = entryAction{Name: "FORGET", Do: (*Entry).forget}
)

type entryTransition = machine.Transition[EntryState, uint8, Entry, entryInput]

// entryTable is every transition that there is (section 6).
var entryTable = machine.NewTable(entryStates, entryGuards, []entryTransition{
	{Row: "J1", From: Free, If: proofResumes, To: Free, Do: []entryAction{refuseProof}},
	{Row: "J2", From: Free, If: proofNoRoom, To: Free, Do: []entryAction{refuseProof}},
	{Row: "J3", From: Free, If: proofOther, To: Unconfirmed, Do: []entryAction{makeLink, answerProof}},

	{Row: "J4", From: Unconfirmed, If: proofOld, To: Unconfirmed, Do: []entryAction{countProof}},
	{Row: "J5", From: Unconfirmed, If: proofNonce, To: Unconfirmed, Do: []entryAction{place, answerProof}},
	{Row: "J6", From: Unconfirmed, If: proofResumesIt, To: Unconfirmed, Do: []entryAction{place, answerProof}},
	{Row: "J7", From: Unconfirmed, If: proofBegins, To: Unconfirmed, Do: []entryAction{endEntry, makeLink, answerProof}},
	{Row: "J8", From: Unconfirmed, If: proofOther, To: Unconfirmed, Do: []entryAction{refuseProof}},
	{Row: "J9", From: Unconfirmed, If: anyEntryData, To: Confirmed, Do: []entryAction{confirm}},
	{Row: "J10", From: Unconfirmed, If: pollHalfOpen, To: Free, Do: []entryAction{forget}},
	{Row: "J11", From: Unconfirmed, If: pollOther, To: Unconfirmed},
	{Row: "J12", From: Unconfirmed, If: anyEnd, To: Ended, Do: []entryAction{endEntry}},

	{Row: "J13", From: Confirmed, If: proofOld, To: Confirmed, Do: []entryAction{countProof}},
	{Row: "J14", From: Confirmed, If: proofNonce, To: Confirmed, Do: []entryAction{place, answerProof}},
	{Row: "J15", From: Confirmed, If: proofResumesIt, To: Confirmed, Do: []entryAction{place, answerProof}},
	{Row: "J16", From: Confirmed, If: proofBegins, To: Unconfirmed, Do: []entryAction{endEntry, makeLink, answerProof}},
	{Row: "J17", From: Confirmed, If: proofOther, To: Confirmed, Do: []entryAction{refuseProof}},
	{Row: "J18", From: Confirmed, If: anyEntryData, To: Confirmed, Do: []entryAction{hearEntry}},
	{Row: "J19", From: Confirmed, If: anyEntryPoll, To: Confirmed},
	{Row: "J20", From: Confirmed, If: anyEnd, To: Ended, Do: []entryAction{endEntry}},

	{Row: "J21", From: Ended, If: proofNonce, To: Ended, Do: []entryAction{refuseProof}},
	{Row: "J22", From: Ended, If: proofOld, To: Ended, Do: []entryAction{countProof}},
	{Row: "J23", From: Ended, If: proofResumes, To: Ended, Do: []entryAction{refuseProof}},
	{Row: "J24", From: Ended, If: proofNoRoom, To: Ended, Do: []entryAction{refuseProof}},
	{Row: "J25", From: Ended, If: proofOther, To: Unconfirmed, Do: []entryAction{makeLink, answerProof}},
	{Row: "J26", From: Ended, If: anyEntryData, To: Ended},
	{Row: "J27", From: Ended, If: pollRemembered, To: Free, Do: []entryAction{forget}},
	{Row: "J28", From: Ended, If: pollOther, To: Ended},
	{Row: "J29", From: Ended, If: anyEnd, To: Ended},
})

// ServerTable returns the rows of the table.
func ServerTable() []machine.Line { return entryTable.Lines() }

func (e *Entry) step(guard uint8, in entryInput) {
	entryTable.Step(e, &e.state, &e.row, guard, in)
}

// EventKind says what a call of a Server did.
type EventKind uint8

// The kinds.
const (
	NoEvent         EventKind = iota
	EventChallenged           // a LINK drew a CHALLENGE; nothing is kept
	EventRefused              // a LINK or PROOF drew a REFUSED; nothing is kept
	EventMade                 // a connection begins; it is not confirmed
	EventAnswered             // its LINKED was repeated
	EventMoved                // it goes on at another address
	EventConfirmed            // a first datagram of it came
	EventEnded                // it is over
)

func (k EventKind) String() string {
	return [...]string{"none", "challenged", "refused", "made", "answered", "moved", "confirmed", "ended"}[k]
}

// Event is what a call of a Server did.
type Event struct {
	Kind   EventKind
	Row    machine.Row // that was taken; empty if none was
	Entry  *Entry      // nil: of none
	Reason Reason      // why it was refused, or ended

	// Ended is the link of a connection that is over: 0 if there is none. One that is made can
	// end another of its identity. Owner is what the layer above knew it by.
	Ended uint32
	Owner any
}

// Receive takes a message of the handshake that arrived at now, and appends the answer to dst,
// to be sent where the message came from. It fails with why the message draws no answer; it
// then has changed nothing but a counter.
func (s *Server) Receive(now machine.Micros, from Address, datagram, dst []byte) (answer []byte, event Event, err error) {
	s.advance(now)
	s.in = proof{from: from, out: dst}
	in := &s.in
	e := in.message.decode(datagram)
	switch {
	case e != nil:
		s.undecodable(in, datagram, e)
	case in.message.Kind == KindLink:
		s.challenge(in)
	case in.message.Kind == KindProof:
		s.prove(in)
	default:
		in.err = notForThisPlace.NotAt()
	}
	if in.err != nil {
		s.stats.silent.add(in.err.Code())
		return dst, in.event, in.err
	}
	return in.out, in.event, nil
}

// proof is a message that is being taken, and what was found out about it.
type proof struct {
	message Message
	from    Address
	key     Key  // of its identity
	checked bool // its proof was checked, and is right
	by      tagger
	agreed  Agreed

	out   []byte
	event Event
	err   *Error // why it draws no answer
}

// undecodable answers a LINK of another version, of which it knows what all have in common (CXH-13),
// if the answer is smaller (CXS-1, CXS-18).
func (s *Server) undecodable(in *proof, datagram []byte, err *Error) {
	if in.message.Kind != KindLink || err.Code() != CodeVersion || len(datagram) < linkSize {
		in.err = err
		return
	}
	in.message.Nonce = Nonce(datagram[nonceAt:])
	s.refuseUnproven(in, OtherVersion)
}

// challenge answers a LINK, with a stamp that no other has (CXK-5, CXH-4). It keeps nothing (CXS-1).
func (s *Server) challenge(in *proof) {
	stamp := max(uint64(s.now), s.nextStamp)
	s.nextStamp = stamp + 1
	m := Message{Kind: KindChallenge, Stamp: stamp, Cookie: s.secret.cookie(stamp, &in.from, &in.message.Offer)}
	m.Nonce = in.message.Nonce
	in.out = m.append(in.out)
	in.event.Kind = EventChallenged
	s.stats.Challenges++
}

// prove checks what needs no entry, then gives a PROOF to its entry (CXS-2).
func (s *Server) prove(in *proof) {
	m := &in.message
	cookie := s.secret.cookie(m.Stamp, &in.from, &m.Offer)
	switch {
	case !equal(&cookie, &m.Cookie):
		in.err = cookieWrong.NotAt()
		return
	case s.now-machine.Micros(m.Stamp) >= CookieLife:
		in.err = cookieTooOld.NotAt()
		return
	case !s.known(in):
		s.refuseUnproven(in, UnknownIdentity)
		return
	}
	e := s.find(m)
	in.checked = m.Resume == 0 || e != nil && e.ID() == m.Resume
	if in.checked && !s.right(in, e) {
		s.refuseUnproven(in, UnknownIdentity)
		return
	}
	if reason := s.disagrees(in); reason != 0 {
		s.refuse(in, reason)
		return
	}
	if e == nil {
		e = &Entry{server: s, identity: m.Identity}
	}
	e.step(e.proofGuard(in), entryInput{proof: in})
	in.event.Row = e.row
}

// known finds the key of a PROOF's identity.
func (s *Server) known(in *proof) (ok bool) {
	switch {
	case in.message.Identity == 0:
		return s.anonymous
	case s.keys == nil:
		return false
	}
	in.key, ok = s.keys(in.message.Identity)
	return ok
}

// find returns the entry of a PROOF; nil if there is none (CXS-3).
func (s *Server) find(m *Message) *Entry {
	switch {
	case m.Identity != 0:
		return s.identities[m.Identity]
	case m.Resume == 0:
		return s.nonces[m.Nonce]
	}
	if e := s.links[m.Resume]; e != nil && e.identity == 0 {
		return e
	}
	return nil
}

// right reports whether the proof of a PROOF is (CXK-6).
func (s *Server) right(in *proof, e *Entry) bool {
	key := in.key
	if in.message.Resume != 0 {
		key = e.resume
	}
	in.by = newTagger(key)
	want := in.by.prove(&in.message, 0, nil)
	return equal(&want, &in.message.Proof)
}

// disagrees returns why an offer fits no terms of the server; 0 if it does (CXP-3).
func (s *Server) disagrees(in *proof) Reason {
	o, t := &in.message.Offer, &s.terms
	in.agreed = Agreed{Lanes: min(o.Lanes, t.Lanes), Extensions: o.Extensions & t.Extensions, Timeout: min(o.Timeout, t.Timeout)}
	if in.agreed.Lanes > 0 {
		in.agreed.Variant = highest(o.Variants & t.Variants)
	}
	switch {
	case o.Protocol != t.Protocol:
		return OtherProtocol
	case o.Mode != t.Mode:
		return OtherMode
	case o.Format != t.Format:
		return OtherFormat
	case in.agreed.Lanes > 0 && in.agreed.Variant == 0:
		return NoCommonVariant
	}
	return 0
}

// highest returns the highest bit of a set alone.
func highest(set uint8) uint8 { return 0x80 >> bits.LeadingZeros8(set) }

// refuse appends a REFUSED that is proven by the key (CXK-8).
func (s *Server) refuse(in *proof, reason Reason) {
	m := s.refusal(in, reason)
	by := newTagger(in.key)
	m.Proof = by.refusal(&m, &in.message.Offer, in.message.Stamp, &in.message.Cookie)
	in.out = m.append(in.out)
}

// refuseUnproven appends a REFUSED to who may not know the key.
func (s *Server) refuseUnproven(in *proof, reason Reason) {
	m := s.refusal(in, reason)
	in.out = m.append(in.out)
}

func (s *Server) refusal(in *proof, reason Reason) Message {
	m := Message{Kind: KindRefused, Version: Version, Reason: reason}
	m.Nonce = in.message.Nonce
	in.event.Kind, in.event.Reason = EventRefused, reason
	s.stats.refused[reason]++
	return m
}

// proofGuard returns the first guard that holds for a PROOF (CXS-6). What was not checked, since
// it names a link of which there is no key, changes nothing.
func (e *Entry) proofGuard(in *proof) uint8 {
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
	case m.Stamp <= e.newest || e.isOld(m):
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
func (e *Entry) refuse(in entryInput) {
	reason := e.refusalReason(in.proof)
	e.server.refuse(in.proof, reason)
	if e.state == Ended && reason != Full && in.checked {
		e.wait(&e.server.ended)
	}
}

// refusalReason returns why an entry refuses a PROOF (CXS-11).
func (e *Entry) refusalReason(in *proof) Reason {
	m := &in.message
	switch {
	case e.state == Ended && (m.Nonce == e.nonce || m.Resume != 0):
		return e.reason
	case m.Resume == 0:
		return Full
	case e.state == Free:
		return ConnectionClosed
	}
	return Replaced
}

// answer appends the LINKED for a PROOF (CXS-10, CXH-6).
func (e *Entry) answer(in entryInput) {
	m := Message{Kind: KindLinked, Agreed: e.agreed, ServerNonce: e.serverNonce}
	m.Nonce = in.message.Nonce
	m.Proof = in.by.prove(&m, in.message.Stamp, &in.message.Cookie)
	in.out = m.append(in.out)
	in.event.Entry = e
	if in.event.Kind == NoEvent {
		in.event.Kind = EventAnswered
	}
	e.server.stats.Linked++
}

// make makes the connection (CXS-8).
func (e *Entry) make(in entryInput) {
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

// place notes where the client is (CXS-9).
func (e *Entry) place(in entryInput) {
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

// end ends the connection (CXS-12). No PROOF whose stamp was issued before makes a new one.
func (e *Entry) end(in entryInput) {
	s := e.server
	in.event.Ended, in.event.Owner = e.ID(), e.Owner
	e.Owner, e.link = nil, nil
	e.uncount()
	if e.state != Ended { // it is replaced
		s.stats.Replaced++
		return
	}
	e.newest, e.reason = s.nextStamp-1, in.reason
	in.event.Kind, in.event.Entry, in.event.Reason = EventEnded, e, in.reason
	e.count()
	e.wait(&s.ended)
}

// confirm notes that the client has the keys (CXS-13): until then nothing but LINKED is sent
// (CXS-15).
func (e *Entry) confirm(in entryInput) {
	e.unlist()
	in.event.Kind, in.event.Entry = EventConfirmed, e
}

// forget forgets everything about the entry (CXS-14).
func (e *Entry) forget(in entryInput) {
	if e.link != nil {
		in.event.Kind, in.event.Entry, in.event.Reason = EventEnded, e, ConnectionClosed
		in.event.Ended, in.event.Owner = e.ID(), e.Owner
		e.server.stats.HalfOpen++
	}
	e.leave()
	e.Owner, e.link = nil, nil
}

// wait puts an entry at the end of a list.
func (e *Entry) wait(l *entryList) {
	e.since = e.server.now
	l.append(e)
}
