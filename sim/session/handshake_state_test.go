package session

import (
	"fmt"

	"github.com/chunkwire/chunkwire/sim/explore"
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
	hsOffers     = 10
	hsChallenges = 16
	hsLinks      = 10
	hsEntries    = 4
	hsClients    = 2
)

type hsClientState uint8

const (
	hsClosed hsClientState = iota // or not begun
	hsLinking
	hsOpen
	hsRelinking
)

type hsEntryState uint8

const (
	hsFree hsEntryState = iota
	hsUnconfirmed
	hsConfirmed
	hsEnded
)

// Reasons of a REFUSED with a proof, as bits.
const (
	hsSaysClosed uint8 = 1 << iota
	hsSaysReplaced
	hsSaysFull
)

// hsClient is a client. One that begins again after a crash is another process, which
// knows nothing of the one before.
type hsClient struct {
	state   hsClientState
	process uint8 // 0: none has begun
	address uint8
	had     uint8  // bits of the addresses that it has had
	offer   uint8  // of the latest LINK
	link    uint8  // 0: none
	first   uint8  // the link that this process opened first; 0: none
	kept    uint16 // bits of the challenges that it keeps
	late    uint16 // of these, those that it took COOKIE_LIFE ago: no LINKED counts for them
	since   uint8  // challenges that existed when it took its offer
	blocked bool   // a forged stamp shuts out all others; only where that rule is tried
}

// hsOffer is what a client has drawn.
type hsOffer struct {
	client, process uint8
	resume          uint8 // a link; 0: a new connection
	lapsed          int8  // challenges up to this one can make no other connection of it; hsLives: it has one
}

// hsLives is what is lapsed while an offer's connection lives: all.
const hsLives = 127

type hsChallenge struct {
	offer, address, run uint8
	old                 bool   // the server does not take its cookie any more
	foreign             bool   // the attacker asked for it, with another resume in the offer
	proved              bool   // PROOF exists
	linked              uint16 // bits of the links of which a LINKED exists
	refused             uint8  // reasons of which a REFUSED exists
}

// hsLink is a connection that was made. Links count from 1.
type hsLink struct {
	offer  uint8 // with which it was made
	run    uint8
	sent   bool // the client has sent data
	newest int8 // the latest challenge whose PROOF was taken
}

type hsEntry struct {
	state   hsEntryState
	offer   uint8 // of the last PROOF taken
	link    uint8
	address uint8
	newest  int8
	keeps   int8 // its cookies up to this one are too old before it is forgotten
	reason  uint8
}

type hsState struct {
	clients    [hsClients]hsClient
	entries    [hsEntries]hsEntry
	offers     [hsOffers]hsOffer
	challenges [hsChallenges]hsChallenge
	links      [hsLinks]hsLink

	made struct{ offers, challenges, links, processes, run uint8 }
	used struct{ moves, ends, attempts, foreign, crashes uint8 }
}

func (e *hsEntry) living() bool { return e.state == hsUnconfirmed || e.state == hsConfirmed }

// Key mixes what has been made; the rest is zero.
func (w *hsWorld) Key(s *hsState) (k explore.Key) {
	m, u := s.made, s.used
	k.Mix(uint64(m.offers)<<32|uint64(m.challenges)<<24|uint64(m.links)<<16|uint64(m.processes)<<8|uint64(m.run),
		uint64(u.moves)<<32|uint64(u.ends)<<24|uint64(u.attempts)<<16|uint64(u.foreign)<<8|uint64(u.crashes))
	for i := range s.clients[:w.clients] {
		c := &s.clients[i]
		k.Mix(uint64(c.state)<<56|uint64(c.process)<<48|uint64(c.address)<<40|uint64(c.had)<<32|uint64(c.offer)<<24|uint64(c.link)<<16|uint64(c.first)<<8|uint64(c.since),
			uint64(c.late)<<16|uint64(c.kept))
		k.MixBits(c.blocked)
	}
	for i := range s.entries {
		e := &s.entries[i]
		k.Mix(uint64(uint8(e.keeps))<<48 | uint64(e.state)<<40 | uint64(e.offer)<<32 | uint64(e.link)<<24 | uint64(e.address)<<16 | uint64(uint8(e.newest))<<8 | uint64(e.reason))
	}
	for i := range s.offers[:m.offers] {
		o := &s.offers[i]
		k.Mix(uint64(o.client)<<24 | uint64(o.process)<<16 | uint64(o.resume)<<8 | uint64(uint8(o.lapsed)))
	}
	for i := range s.challenges[:m.challenges] {
		c := &s.challenges[i]
		k.Mix(uint64(c.offer)<<40 | uint64(c.address)<<32 | uint64(c.run)<<24 | uint64(c.refused)<<16 | uint64(c.linked))
		k.MixBits(c.old, c.foreign, c.proved)
	}
	for i := 1; i <= int(m.links); i++ {
		l := &s.links[i]
		k.Mix(uint64(l.offer)<<16 | uint64(l.run)<<8 | uint64(uint8(l.newest)))
		k.MixBits(l.sent)
	}
	return k
}

type hsVerb uint8

const (
	hsBegin   hsVerb = iota // a client begins
	hsCrash                 // a client ends, and says nothing; its own time-out is the same
	hsMove                  // its address changes, and it does not know
	hsRenew                 // it is silent in OPEN, or knows that its address has changed
	hsAttempt               // it tries to resume another's link
	hsTake                  // a CHALLENGE arrives, and is proved
	hsLinked                // a LINKED arrives
	hsRefused               // a REFUSED arrives
	hsForged                // a forged CHALLENGE or REFUSED arrives
	hsLink_                 // a LINK arrives at the server, from an address
	hsForeign               // a LINK with an offer that the attacker has changed, and his PROOF
	hsProof                 // a PROOF arrives
	hsData                  // data of a link arrives
	hsEnd                   // the server ends a connection, or its time is out
	hsForget                // half-open, or remembered
	hsAge                   // the oldest cookie is too old
	hsRestart               // the server begins again, with another secret
)

func (v hsVerb) String() string {
	return [...]string{
		"begin", "crash", "move", "renew", "attempt", "challenge", "linked", "refused", "forged", "LINK", "foreign LINK", "PROOF", "data", "end", "forget", "age", "restart",
	}[v]
}

type hsMoveMade struct {
	verb hsVerb
	who  uint8 // client or entry
	i, j uint8
}

func (w *hsWorld) Text(before, after *hsState, m hsMoveMade) string {
	switch m.verb {
	case hsBegin, hsCrash, hsRenew, hsMove, hsAttempt:
		c := &after.clients[m.who]
		return fmt.Sprintf("client %d: %v; process %d, address %d, offer %d resumes %d", m.who, m.verb, c.process, c.address, c.offer, after.offers[c.offer].resume)
	case hsTake, hsLinked, hsRefused, hsForged:
		return fmt.Sprintf("client %d takes %v of challenge %d (%d)", m.who, m.verb, m.i, m.j)
	case hsLink_, hsForeign:
		return fmt.Sprintf("server: %v of offer %d from address %d: challenge %d", m.verb, m.i, m.j, before.made.challenges)
	case hsProof:
		return fmt.Sprintf("server: PROOF of challenge %d, offer %d, from address %d: %+v", m.i, before.challenges[m.i].offer, before.challenges[m.i].address, after.challenges[m.i])
	}
	return fmt.Sprintf("server: %v %d %d", m.verb, m.who, m.i)
}

func (w *hsWorld) Describe(s *hsState) string {
	return fmt.Sprintf("clients %+v, entries %+v, links %+v", s.clients[:w.clients], s.entries, s.links[1:s.made.links+1])
}
