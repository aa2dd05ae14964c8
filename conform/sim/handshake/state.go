package handshake

import (
	"fmt"

	"github.com/chunkwire/chunkwire/conform/sim/explore"
)

// A state of the model. The network is what was ever sent: each message can arrive at any
// time, any number of times, in any order, or never, and from any address. So a message is
// in a state as a bit of what it is about: LINK exists for each offer; CHALLENGE for each
// challenge; PROOF for a challenge that was proved; LINKED and REFUSED for a challenge whose
// PROOF the server answered.
//
// There is no time. A cookie may become too old at any time, oldest first, and must have
// before the server forgets what outlives it (HALF_OPEN and REMEMBER are not shorter than
// COOKIE_LIFE).

// Room for what happens, and behind it for what a good network then needs.
const (
	mostOffers     = 10
	mostChallenges = 16
	mostLinks      = 10
	mostEntries    = 4
	mostClients    = 2
	mostAddresses  = 4
)

type ClientState uint8

const (
	Closed ClientState = iota // or not begun
	Linking
	Open
	Relinking
)

type EntryState uint8

const (
	Free EntryState = iota
	Unconfirmed
	Confirmed
	Ended
)

// Reasons of a REFUSED with a proof, as bits.
const (
	SaysClosed uint8 = 1 << iota
	SaysReplaced
	SaysFull
)

// Client is a client. One that begins again after a crash is another process, which
// Knows nothing of the one before.
type Client struct {
	State   ClientState
	Process uint8 // 0: none has begun
	Address uint8
	Had     uint8  // bits of the addresses that it has had
	Offer   uint8  // of the latest LINK
	Link    uint8  // 0: none
	First   uint8  // the link that this process opened first; 0: none
	Kept    uint16 // bits of the challenges that it keeps
	Late    uint16 // of these, those that it took COOKIE_LIFE ago: no LINKED counts for them
	Since   uint8  // challenges that existed when it took its offer
	Blocked bool   // a forged stamp shuts out all others; only where that rule is tried
}

// Offer is what a client has drawn.
type Offer struct {
	Client, Process uint8
	Resume          uint8 // a link; 0: a new connection
	// Challenges up to this one can make no other connection of it at an address; Lives: it has one.
	Lapsed [mostAddresses]int8
}

// never is what is lapsed of a new offer.
var never = [mostAddresses]int8{-1, -1, -1, -1}

// Lives is what is lapsed while an offer's connection lives: all.
const Lives = 127

type Challenge struct {
	Offer, Address, Run uint8
	Old                 bool   // the server does not take its cookie any more
	Foreign             bool   // the attacker asked for it, with a LINK that he changed
	Copied              bool   // he asked for it, and has proved it: the client has no key
	Proved              bool   // PROOF exists
	Linked              uint16 // bits of the links of which a LINKED exists
	Refused             uint8  // reasons of which a REFUSED exists
}

// Link is a connection that was made. Links count from 1.
type Link struct {
	Offer  uint8 // with which it was made
	At     uint8 // the address at which it was
	Run    uint8
	Copied bool // by the attacker
	Sent   bool // the client has sent data
	Newest int8 // the latest challenge whose PROOF was taken
}

type Entry struct {
	State   EntryState
	Offer   uint8 // of the last PROOF taken
	Link    uint8
	Address uint8
	Newest  int8
	Keeps   int8 // its cookies up to this one are too old before it is forgotten
	Reason  uint8
}

type State struct {
	Clients    [mostClients]Client
	Entries    [mostEntries]Entry
	Offers     [mostOffers]Offer
	Challenges [mostChallenges]Challenge
	Links      [mostLinks]Link

	Made struct{ Offers, Challenges, Links, Processes, Run uint8 }
	Used struct{ Moves, Ends, Attempts, Foreign, Copies, Crashes uint8 }
}

func (e *Entry) Living() bool { return e.State == Unconfirmed || e.State == Confirmed }

// Key mixes what has been made; the rest is zero.
func (w *World) Key(s *State) (k explore.Key) {
	m, u := s.Made, s.Used
	k.Mix(uint64(m.Offers)<<32|uint64(m.Challenges)<<24|uint64(m.Links)<<16|uint64(m.Processes)<<8|uint64(m.Run),
		uint64(u.Copies)<<40|uint64(u.Moves)<<32|uint64(u.Ends)<<24|uint64(u.Attempts)<<16|uint64(u.Foreign)<<8|uint64(u.Crashes))
	for i := range s.Clients[:w.Clients] {
		c := &s.Clients[i]
		k.Mix(uint64(c.State)<<56|uint64(c.Process)<<48|uint64(c.Address)<<40|uint64(c.Had)<<32|uint64(c.Offer)<<24|uint64(c.Link)<<16|uint64(c.First)<<8|uint64(c.Since),
			uint64(c.Late)<<16|uint64(c.Kept))
		k.MixBits(c.Blocked)
	}
	for i := range s.Entries {
		e := &s.Entries[i]
		k.Mix(uint64(uint8(e.Keeps))<<48 | uint64(e.State)<<40 | uint64(e.Offer)<<32 | uint64(e.Link)<<24 | uint64(e.Address)<<16 | uint64(uint8(e.Newest))<<8 | uint64(e.Reason))
	}
	for i := range s.Offers[:m.Offers] {
		o := &s.Offers[i]
		k.Mix(uint64(o.Client)<<24|uint64(o.Process)<<16|uint64(o.Resume)<<8,
			uint64(uint8(o.Lapsed[0]))<<24|uint64(uint8(o.Lapsed[1]))<<16|uint64(uint8(o.Lapsed[2]))<<8|uint64(uint8(o.Lapsed[3])))
	}
	for i := range s.Challenges[:m.Challenges] {
		c := &s.Challenges[i]
		k.Mix(uint64(c.Offer)<<40 | uint64(c.Address)<<32 | uint64(c.Run)<<24 | uint64(c.Refused)<<16 | uint64(c.Linked))
		k.MixBits(c.Old, c.Foreign, c.Copied, c.Proved)
	}
	for i := 1; i <= int(m.Links); i++ {
		l := &s.Links[i]
		k.Mix(uint64(l.At)<<24 | uint64(l.Offer)<<16 | uint64(l.Run)<<8 | uint64(uint8(l.Newest)))
		k.MixBits(l.Sent, l.Copied)
	}
	return k
}

type Verb uint8

const (
	DoBegin   Verb = iota // a client begins
	DoCrash               // a client ends, and says nothing; its own time-out is the same
	DoMove                // its address changes, and it does not know
	DoRenew               // it is silent in OPEN, or knows that its address has changed
	DoAttempt             // it tries to resume another's link
	DoTake                // a CHALLENGE arrives, and is proved
	DoLinked              // a LINKED arrives
	DoRefused             // a REFUSED arrives
	DoForged              // a forged CHALLENGE or REFUSED arrives
	DoLink                // a LINK arrives at the server, from an address
	DoForeign             // a LINK that the attacker has changed, and his PROOF
	DoCopy                // a LINK and a PROOF with the hello of an anonymous client, from the attacker's address
	DoProof               // a PROOF arrives
	DoData                // data of a link arrives
	DoEnd                 // the server ends a connection, or its time is out
	DoForget              // half-open, or remembered
	DoAge                 // the oldest cookie is too old
	DoRestart             // the server begins again, with another secret
)

func (v Verb) String() string {
	return [...]string{
		"begin", "crash", "move", "renew", "attempt", "challenge", "linked", "refused", "forged", "LINK", "foreign LINK", "copied hello", "PROOF", "data", "end", "forget", "age", "restart",
	}[v]
}

type Move struct {
	Verb Verb
	Who  uint8 // client or entry
	I, J uint8
}

func (w *World) Text(before, after *State, m Move) string {
	switch m.Verb {
	case DoBegin, DoCrash, DoRenew, DoMove, DoAttempt:
		c := &after.Clients[m.Who]
		return fmt.Sprintf("client %d: %v; process %d, address %d, offer %d resumes %d", m.Who, m.Verb, c.Process, c.Address, c.Offer, after.Offers[c.Offer].Resume)
	case DoTake, DoLinked, DoRefused, DoForged:
		return fmt.Sprintf("client %d takes %v of challenge %d (%d)", m.Who, m.Verb, m.I, m.J)
	case DoLink, DoForeign, DoCopy:
		return fmt.Sprintf("server: %v of offer %d from address %d: challenge %d", m.Verb, m.I, m.J, before.Made.Challenges)
	case DoProof:
		return fmt.Sprintf("server: PROOF of challenge %d, offer %d, from address %d: %+v", m.I, before.Challenges[m.I].Offer, before.Challenges[m.I].Address, after.Challenges[m.I])
	}
	return fmt.Sprintf("server: %v %d %d", m.Verb, m.Who, m.I)
}

func (w *World) Describe(s *State) string {
	return fmt.Sprintf("clients %+v, entries %+v, links %+v", s.Clients[:w.Clients], s.Entries, s.Links[1:s.Made.Links+1])
}
