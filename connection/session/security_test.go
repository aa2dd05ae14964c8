package session

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

// What an attacker can do of whom section 11 speaks, by attack: at one server, without sockets.

// Nothing that a server gets draws more bytes than it has: each kind, at every size, from who is
// nobody and from who has a connection (CXA-20, CXA-24, CXS-18, CXT-BND-1).
func TestAnswersAreSmaller(t *testing.T) {
	h := newHost(t, open)
	c := confirmed(h, here, 0)
	proof := c.again(here, Key{})
	for _, from := range []Address{here, there} {
		for kind := range 256 {
			for size := range 150 {
				for _, of := range [][]byte{proof, make([]byte, 150), bytes.Repeat([]byte{2}, 150)} {
					d := append(append([]byte(nil), of...), make([]byte, 150)...)[:size]
					if size > 0 {
						d[0] = byte(kind)
					}
					h.takes(from, d) // makes sure of it
				}
			}
		}
	}
	check.Equal(t, "connections", []int{h.Stats().Living, int(h.Stats().Made)}, []int{1, 1})
}

// Whoever knows everything of a connection but its keys, the first messages included, cannot take
// it over: with its link, its nonces, and a cookie of his own (CXA-34, CXT-SAFE-4).
func TestTakingAConnectionOver(t *testing.T) {
	h := newHost(t, keyed)
	c := newCaller(h, here, 7)
	first := c.challenged()
	c.gets(h.takes(here, first))
	h.hears(here, c.data("x"))
	e := c.entry()
	before := *e
	for _, resume := range []uint32{0, e.ID(), e.ID() + 1} {
		for _, nonce := range []Nonce{c.offer.Nonce, {1}} {
			for _, key := range []Key{{}, keyOf(8), e.resume} {
				if key == e.resume && resume == e.ID() {
					continue // that is its owner
				}
				thief := newCaller(h, there, 7)
				thief.offer.Resume, thief.offer.Nonce = resume, nonce
				answer := h.says(there, thief.again(there, key))
				check.That(t, answer == "REFUSED identity unproven" || answer == "J17 REFUSED replaced", answer)
			}
		}
	}
	check.Equal(t, "its own PROOF, from there", h.says(there, first), "")
	check.Equal(t, "its own data, from there", h.hears(there, c.data("y")), "address")
	after := *e
	before.row, before.hello, before.newest = after.row, after.hello, after.newest
	check.That(t, before == after, "nothing has changed")
	check.Equal(t, "it goes on", h.hears(here, c.data("z")), "J18")
}

// Copies of old PROOFs, at any later time: none moves a connection back, replaces one, or makes
// one (CXA-29, CXT-SAFE-3). Traces V3 to V5 and V7 of a model check of an early draft.
func TestOldProofs(t *testing.T) {
	h := newHost(t, keyed)
	start := h.now
	c := newCaller(h, here, 7)
	first := c.challenged()
	c.gets(h.takes(here, first))
	h.hears(here, c.data("x"))
	e := c.entry()
	h.now += ProofSpacing
	c.from = there
	c.Move(h.now)
	moved := c.challenged()
	c.gets(h.takes(there, moved))
	h.now += ProofSpacing
	c.from = elsewhere
	c.Move(h.now)
	third := c.challenged()
	c.gets(h.takes(elsewhere, third))
	check.Equal(t, "where it is", []any{c.State(), e.Address()}, []any{Open, elsewhere})
	replay := func() string { return h.says(here, first) + "," + h.says(there, moved) }
	check.Equal(t, "old ones", []any{replay(), e.Address()}, []any{"J13,J13", elsewhere})
	check.Equal(t, "the latest", h.says(elsewhere, third), "J14 LINKED")
	h.End(h.now, e, ConnectionClosed)
	check.Equal(t, "when it ended", []any{replay(), h.says(elsewhere, third)}, []any{"J22,J22", "J21 REFUSED closed"})
	again := newCaller(h, here, 7)
	h.says(here, again.challenged())
	check.Equal(t, "when there is another", []any{replay(), h.says(elsewhere, third), e.State(), e.Address()}, []any{"J4,J8 REFUSED replaced", "J8 REFUSED replaced", Unconfirmed, here})
	for h.now < start+30*second {
		h.now += second / 2
		h.polls()
		for _, d := range [][]byte{first, moved, third} {
			for _, from := range []Address{here, there, elsewhere} {
				h.takes(from, d)
			}
		}
	}
	check.Equal(t, "at last", []int{h.Stats().Living, h.Stats().Ended, int(h.Stats().Made)}, []int{0, 0, 2})
}

// An observer gets a true refusal for an offer that differs from the client's, and hands it to the
// client: it is not for its offer (CXA-35).
func TestARefusalOfAChangedOffer(t *testing.T) {
	h := newHost(t, keyed)
	c := newCaller(h, here, 7)
	link := c.sends()
	mine := newCaller(h, there, 7)
	mine.offer = c.offer
	mine.offer.Resume = 7 // of nobody: nobody can check the proof
	challenge := h.takes(there, newLink(mine))
	m := check.Must(Decode(challenge))
	check.Equal(t, "the client takes it", c.gets(challenge), "I6")
	c.sends() // proves it, in vain
	m.Offer = mine.offer
	refused := h.takes(there, prove(Key{}, m))
	check.Equal(t, "a true refusal", text(refused), "REFUSED closed")
	check.Equal(t, "is of no use", c.gets(refused), "I12")
	c.gets(h.takes(here, link))
	h.now += ProofSpacing
	check.Equal(t, "and the client links", c.gets(h.takes(here, c.sends())), "I8")
}

// A flood of forged challenges with the client's nonce: each draws a PROOF in vain, the genuine one is
// proved, too (CXA-33, CXT-BND-4).
func TestAFloodOfForgedChallenges(t *testing.T) {
	for _, perSecond := range []int{10, 50, 90} {
		h := newHost(t, keyed)
		c := newCaller(h, here, 7)
		start, proofs := h.now, int64(0)
		forged := challenging(c.offer.Nonce)
		forged.Nonce = c.offer.Nonce
		for n := 0; c.State() == Linking && h.now < start+5*second; n++ {
			if n%(1000/perSecond) == 0 {
				forged.Stamp = stampEnd - 1 - uint64(n)
				c.gets(check.Must(forged.Append(nil)))
			}
			for d := c.sends(); d != nil; d = c.sends() {
				if answer := h.takes(here, d); answer != nil && n%5 == 0 { // four of five answers are lost
					c.gets(answer)
				}
			}
			h.now += ms
		}
		proofs = c.Stats().Proofs
		check.Equal(t, fmt.Sprint(perSecond, " a second: state"), c.State(), Open)
		check.That(t, proofs <= int64((h.now-start)/ProofSpacing)+1, fmt.Sprint(proofs, " PROOFs"))
		check.That(t, len(c.challenges) <= KeptChallenges, "challenges")
	}
}

// Each bit of each message of a handshake, changed on its way: the handshake is delayed, and then
// ends with what was offered; nothing weaker, nothing else (CXA-38, CXA-37).
func TestEveryBitOfAHandshake(t *testing.T) {
	for message, size := range []int{linkSize, challengeSize, proofSize, linkedSize} {
		for bit := range 8 * size {
			h := newHost(t, with(keyed, func(c *ServerConfig) { c.Lanes, c.Extensions, c.Variants = 4, 3, 3 }))
			c := newCaller(h, here, 7)
			count := 0
			way := func(d []byte) []byte {
				if d == nil {
					return nil
				}
				if count++; count == message+1 {
					return altered(d, bit)
				}
				return d
			}
			for step := 0; c.State() == Linking && step < 50; step++ {
				if d := c.sends(); d == nil {
					h.now = c.Deadline()
				} else if answer := way(h.takes(here, way(d))); answer != nil {
					sinkErr = c.Receive(h.now, answer)
				}
			}
			what := fmt.Sprint("message ", message, ", bit ", bit)
			if c.State() == Closed {
				// A hint of another version, or of a wrong key, that nothing overtook.
				t.Fatal(what, ": ", c.Err())
			}
			a := c.Link().Agreed()
			a.Link = 0
			check.Equal(t, what, a, Agreed{Lanes: 4, Variant: 2, Extensions: 3, Timeout: 10 * second})
			check.Equal(t, what+": it is confirmed", h.hears(here, c.data("x")), "J9")
			check.Equal(t, what+": connections", h.Stats().Living, 1)
		}
	}
}

// No counter is used twice with a key: not when a connection moves, not for what was sealed and not
// sent; each direction and each connection has keys of its own (CXA-39, CXT-SAFE-8).
func TestNoNonceTwice(t *testing.T) {
	h := newHost(t, keyed)
	h.keyLog = func(_ uint32, c2s, s2c Key) { h.made.C2S, h.made.S2C = c2s, s2c }
	seen := map[string]bool{}
	use := func(key Key, link *Link, datagram []byte) {
		c := binary.LittleEndian.Uint32(datagram[5:])
		id := fmt.Sprintf("%x %d", key, c)
		check.That(t, !seen[id], "a counter once")
		seen[id] = true
		check.Bytes(t, "it is the nonce", datagram, sealed(AEAD, key, link.ID(), uint64(c), []byte("body")))
	}
	for range 3 { // the same client again and again
		c := confirmed(h, here, 7)
		keys := h.made
		keys.Resume = c.entry().resume
		check.That(t, keys.C2S != keys.S2C && keys.Resume != keys.C2S && keys.Resume != keys.S2C, "three keys")
		for i := range 20 {
			use(keys.C2S, c.Link(), c.Link().Seal(nil, []byte("body")))
			use(keys.S2C, c.Link(), c.entry().Link().Seal(nil, []byte("body")))
			if i%5 == 4 {
				c.from = []Address{here, there}[i/5%2]
				h.now += ProofSpacing
				c.Move(h.now)
				c.talks()
				check.Equal(t, "state", c.State(), Open)
			}
		}
	}
	check.Equal(t, "datagrams", len(seen), 120)
}

// The server restarts: it knows nobody. The client finds out when it hears nothing, and is told so
// by who has the key; it ends at once, and may begin anew (CXT-LIVE-4).
func TestAServerRestarts(t *testing.T) {
	for _, cfg := range []ServerConfig{open, keyed} {
		h := newHost(t, cfg)
		identity := map[bool]uint64{true: 0, false: 7}[cfg.Anonymous]
		c := confirmed(h, here, identity)
		again := newHost(t, with(cfg, func(c *ServerConfig) { c.Random = source(77) }))
		again.now, c.host = h.now, again
		check.Equal(t, "data", again.hears(here, c.data("x")), "unknown_link")
		start := h.now
		for c.State() != Closed {
			again.now = c.Deadline()
			c.talks()
		}
		check.Equal(t, "after", again.now-start, map[bool]core.Micros{true: 3*second + RefuseWait, false: 3 * second}[cfg.Anonymous])
		check.That(t, errors.Is(c.Err(), &RefusedError{Reason: ConnectionClosed}), fmt.Sprint(c.Err()))
		check.Equal(t, "anew", linked(again, here, identity).State(), Open)
	}
}

// A client that restarts in the middle of anything gets a connection at once; its old one ends
// (keyed), or ends by itself (anonymous).
func TestAClientRestarts(t *testing.T) {
	h := newHost(t, keyed)
	for i, stop := range []func(c *caller){
		func(c *caller) { c.sends() },
		func(c *caller) { c.challenged() },
		func(c *caller) { h.takes(here, c.challenged()) },
		func(c *caller) { c.talks() },
		func(c *caller) { c.talks(); h.hears(here, c.data("x")) },
	} {
		stop(newCaller(h, here, 7))
		c := confirmed(h, here, 7)
		check.Equal(t, fmt.Sprint("case ", i), []any{c.State(), h.Stats().Living, c.entry().State()}, []any{Open, 1, Confirmed})
	}
}

// As many connections as there is room for, all confirmed, and as many others as like: nobody ends
// (CXA-25, CXS-16).
func TestNobodyIsEvicted(t *testing.T) {
	h := newHost(t, with(ServerConfig{Keys: keys, Anonymous: true}, func(c *ServerConfig) { c.MaxConnections = 16 }))
	var honest []*caller
	for i := range 16 {
		honest = append(honest, confirmed(h, here, uint64(i%2*(i+1)))) // with an identity, and without
	}
	for i := range 2000 {
		from := elsewhere
		binary.LittleEndian.PutUint32(from[2:], uint32(i))
		c := newCaller(h, from, uint64(20+i%50))
		check.Equal(t, "answer", h.says(from, c.challenged()), "J2 REFUSED full")
		h.now += 10 * ms
		h.polls()
	}
	for _, c := range honest {
		check.Equal(t, "row", h.hears(here, c.data("x")), "J18")
	}
}
