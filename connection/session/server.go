package session

import (
	"io"
	"sync/atomic"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/internal/table"
)

// Server is the end that clients link to (section 6). It keeps an entry for each connection, and
// nothing of who has not proved that it can read at its address. It does nothing between calls.
type Server struct {
	now core.Micros // the latest that was given, in microseconds (CXN-2, CXN-3)

	// What does not change.
	terms         Terms
	keys          func(identity uint64) (Key, bool)
	anonymous     bool
	most          int
	mostPerPrefix int
	shard, shards uint32
	random        io.Reader
	challenges    *challenges
	cookies       tagger
	static        ownShare // its key; without a private part it has none
	decoy         Key      // what keys are made of that nobody has
	log           eventlog.Log
	keyLog        KeyLog

	links      map[uint32]*Entry
	identities map[uint64]*Entry
	hellos     map[helloAt]*Entry // anonymous ones, by their first hello
	prefixes   map[Prefix]count
	all        count
	halfOpen   entryList
	ended      entryList

	in    arrival // that is being taken; lent to the actions
	stats ServerStats
}

// NewServer returns a server without connections, and with a secret of its own (CXK-10). It fails
// with core.ErrConfig (CXP-2).
func NewServer(cfg ServerConfig) (*Server, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	shared := newChallenges(&cfg)
	s := &Server{
		terms: cfg.Terms, keys: cfg.Keys, anonymous: cfg.Anonymous, most: cfg.MaxConnections, mostPerPrefix: cfg.MaxPerAddress,
		shard: cfg.Shard, shards: cfg.Shards, random: cfg.Random,
		challenges: shared, cookies: newTagger(shared.cookie), decoy: shared.decoy, log: cfg.Log, keyLog: cfg.KeyLog,
		links: map[uint32]*Entry{}, identities: map[uint64]*Entry{}, hellos: map[helloAt]*Entry{}, prefixes: map[Prefix]count{},
		halfOpen: entryList{wait: HalfOpen}, ended: entryList{wait: Remember},
	}
	if cfg.PrivateKey != (Key{}) {
		s.static = newShare(cfg.Mode, &cfg.PrivateKey)
	}
	return s, nil
}

// challenges is what all servers at one address have in common: the keys of cookies, and the stamps.
type challenges struct {
	cookie, decoy Key
	next          atomic.Uint64 // the least stamp that the next challenge can have
}

// newChallenges draws the secret, unless another server has (CXK-10).
func newChallenges(cfg *ServerConfig) *challenges {
	if cfg.Beside != nil {
		return cfg.Beside.challenges
	}
	var secret Key
	draw(cfg.Random, secret[:])
	return &challenges{cookie: expand(&secret, "cookie", nil), decoy: expand(&secret, "decoy", nil)}
}

// stamp returns one that no other challenge has (CXK-5).
func (c *challenges) stamp(now core.Micros) uint64 {
	for {
		next := c.next.Load()
		if stamp := max(uint64(now), next); c.next.CompareAndSwap(next, stamp+1) {
			return stamp
		}
	}
}

// EntryState is the state of an Entry.
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

// The guards of section 6 (CXS-6). Of the guards of an event the first that holds counts.
var (
	entryGuards table.Guards

	proofResumes   = entryGuards.Add("proof", "resumes")
	proofNoRoom    = entryGuards.Add("proof", "no room")
	proofOther     = entryGuards.Add("proof", "otherwise")
	proofOld       = entryGuards.Add("proof", "old")
	proofHello     = entryGuards.Add("proof", "its hello")
	proofResumesIt = entryGuards.Add("proof", "resumes it")
	proofBegins    = entryGuards.Add("proof", "begins")
	anyEntryData   = entryGuards.Add("data", table.Always)
	pollHalfOpen   = entryGuards.Add("poll", "half-open")
	pollRemembered = entryGuards.Add("poll", "remembered")
	pollOther      = entryGuards.Add("poll", "otherwise")
	anyEntryPoll   = entryGuards.Add("poll", table.Always)
	anyEnd         = entryGuards.Add("end", table.Always)
)

type entryAction = table.Action[Entry, *arrival]

// The actions of section 6.
var (
	refuseProof = entryAction{Name: "REFUSE", Do: (*Entry).refuse}
	makeLink    = entryAction{Name: "MAKE", Do: (*Entry).make}
	answerProof = entryAction{Name: "ANSWER", Do: (*Entry).answer}
	countProof  = entryAction{Name: "COUNT", Do: func(e *Entry, in *arrival) { in.err = proofIsOld.NotAt() }}
	place       = entryAction{Name: "PLACE", Do: (*Entry).place}
	endEntry    = entryAction{Name: "END", Do: (*Entry).end}
	confirm     = entryAction{Name: "CONFIRM", Do: (*Entry).confirm}
	hearEntry   = entryAction{Name: "HEAR", Do: func(*Entry, *arrival) {}}
	forget      = entryAction{Name: "FORGET", Do: (*Entry).forget}
)

type entryTransition = table.Transition[EntryState, uint8, Entry, *arrival]

// entryTable is every transition that there is (section 6).
var entryTable = table.New(entryStates, entryGuards, []entryTransition{
	{Row: "J1", From: Free, If: proofResumes, To: Free, Do: []entryAction{refuseProof}},
	{Row: "J2", From: Free, If: proofNoRoom, To: Free, Do: []entryAction{refuseProof}},
	{Row: "J3", From: Free, If: proofOther, To: Unconfirmed, Do: []entryAction{makeLink, answerProof}},

	{Row: "J4", From: Unconfirmed, If: proofOld, To: Unconfirmed, Do: []entryAction{countProof}},
	{Row: "J5", From: Unconfirmed, If: proofHello, To: Unconfirmed, Do: []entryAction{place, answerProof}},
	{Row: "J6", From: Unconfirmed, If: proofResumesIt, To: Unconfirmed, Do: []entryAction{place, answerProof}},
	{Row: "J7", From: Unconfirmed, If: proofBegins, To: Unconfirmed, Do: []entryAction{endEntry, makeLink, answerProof}},
	{Row: "J8", From: Unconfirmed, If: proofOther, To: Unconfirmed, Do: []entryAction{refuseProof}},
	{Row: "J9", From: Unconfirmed, If: anyEntryData, To: Confirmed, Do: []entryAction{confirm}},
	{Row: "J10", From: Unconfirmed, If: pollHalfOpen, To: Free, Do: []entryAction{forget}},
	{Row: "J11", From: Unconfirmed, If: pollOther, To: Unconfirmed},
	{Row: "J12", From: Unconfirmed, If: anyEnd, To: Ended, Do: []entryAction{endEntry}},

	{Row: "J13", From: Confirmed, If: proofOld, To: Confirmed, Do: []entryAction{countProof}},
	{Row: "J14", From: Confirmed, If: proofHello, To: Confirmed, Do: []entryAction{place, answerProof}},
	{Row: "J15", From: Confirmed, If: proofResumesIt, To: Confirmed, Do: []entryAction{place, answerProof}},
	{Row: "J16", From: Confirmed, If: proofBegins, To: Unconfirmed, Do: []entryAction{endEntry, makeLink, answerProof}},
	{Row: "J17", From: Confirmed, If: proofOther, To: Confirmed, Do: []entryAction{refuseProof}},
	{Row: "J18", From: Confirmed, If: anyEntryData, To: Confirmed, Do: []entryAction{hearEntry}},
	{Row: "J19", From: Confirmed, If: anyEntryPoll, To: Confirmed},
	{Row: "J20", From: Confirmed, If: anyEnd, To: Ended, Do: []entryAction{endEntry}},

	{Row: "J21", From: Ended, If: proofHello, To: Ended, Do: []entryAction{refuseProof}},
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
func ServerTable() []core.Line { return entryTable.Lines() }

func (e *Entry) step(guard uint8, in *arrival) {
	from := e.state
	entryTable.Step(e, &e.state, &e.row, guard, in)
	if log := e.server.log; log != nil && e.state != from {
		log(eventlog.Event{
			Kind: eventlog.State, At: e.server.now, Group: int(e.ID()), End: eventlog.Server,
			Machine: "session-server", From: from.String(), To: e.state.String(), Row: e.row,
		})
	}
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
	Row    core.Row // that was taken; empty if none was
	Entry  *Entry   // nil: of none
	Reason Reason   // why it was refused, or ended

	// Ended is the link of a connection that is over: 0 if there is none. One that is made can
	// end another of its identity. Owner is what the layer above knew it by.
	Ended uint32
	Owner any
}

// Receive takes a message of the handshake that arrived at now, and appends the answer to dst,
// to be sent where the message came from. It fails with why the message draws no answer; it
// then has changed only a counter.
func (s *Server) Receive(now core.Micros, from Address, datagram, dst []byte) (answer []byte, event Event, err error) {
	s.begin(now)
	in := &s.in
	in.from, in.out = from, dst
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
	in.key, in.ours, in.meeting, in.greeting = Key{}, ownShare{}, meeting{}, greeting{} // CXK-13
	if in.err != nil {
		s.stats.silent.add(in.err.Code())
		return dst, in.event, in.err
	}
	return in.out, in.event, nil
}

// Find returns the living connection with a link; nil if there is none.
func (s *Server) Find(link uint32) *Entry {
	if e := s.links[link]; e != nil && e.living() {
		return e
	}
	return nil
}

// Route returns the connection that a datagram of data is for; its Link opens it then, and Heard
// says so. It fails if the datagram is none of data, if there is no such link, or it has ended or has another
// mode, or if the datagram comes from another address: before any cryptography, and whatever the
// tag (CXE-9).
func (s *Server) Route(from Address, datagram []byte) (*Entry, error) {
	var m Message
	err := m.decode(datagram)
	if err == nil && !m.Kind.isData() {
		err = notForThisPlace.NotAt()
	}
	if err != nil {
		return nil, s.silence(err)
	}
	e := s.links[m.Agreed.Link]
	switch {
	case e == nil:
		return nil, s.silence(linkUnknown.At(dataLinkAt))
	case !e.living():
		return nil, s.silence(linkEnded.At(dataLinkAt))
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
func (s *Server) Heard(now core.Micros, e *Entry) Event {
	s.begin(now)
	return s.take(e, anyEntryData)
}

// End ends the connection of e, for a reason that its client gets if it asks.
func (s *Server) End(now core.Micros, e *Entry, reason Reason) Event {
	s.begin(now)
	s.in.event.Reason = reason
	return s.take(e, anyEnd)
}

// begin begins an event at now. A time before the latest one counts as that one (CXN-3).
func (s *Server) begin(now core.Micros) {
	s.now = max(s.now, now)
	s.in = arrival{}
}

// take takes the row of an entry for the guard that holds.
func (s *Server) take(e *Entry, guard uint8) Event {
	e.step(guard, &s.in)
	s.in.event.Row = e.row
	return s.in.event
}

// Poll lets one entry be forgotten whose time has come; ok says whether there was one. The driver
// polls until there is none. The event says if a connection ended by that: one that was half-open.
func (s *Server) Poll(now core.Micros) (event Event, ok bool) {
	s.begin(now)
	switch {
	case s.halfOpen.due() <= s.now:
		return s.take(s.halfOpen.first, pollHalfOpen), true
	case s.ended.due() <= s.now:
		return s.take(s.ended.first, pollRemembered), true
	}
	return Event{}, false
}

// Deadline returns when Poll has something to do; Never if it has not (CXS-17).
func (s *Server) Deadline() core.Micros { return min(s.halfOpen.due(), s.ended.due()) }

// Stats returns the counts so far.
func (s *Server) Stats() ServerStats {
	stats := s.stats
	stats.Living, stats.Ended = s.all.living, s.all.ended
	return stats
}

// HalfOpen reports whether there are connections of which no data came.
func (s *Server) HalfOpen() bool { return s.halfOpen.first != nil }
