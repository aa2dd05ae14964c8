package session

import (
	"errors"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
)

// The choice is the first of the client's versions that the server has, but for those that never exist
// (CXH-14, CXH-15).
func TestChoice(t *testing.T) {
	for _, c := range []struct {
		client, server Versions
		want           uint8
	}{
		{Versions{2}, Versions{2}, 2}, {Versions{3, 2}, Versions{2}, 2}, {Versions{3, 2}, Versions{2, 3}, 3}, {Versions{2, 3}, Versions{3, 2}, 2},
		{Versions{}, Versions{}, 0}, {Versions{3}, Versions{2}, 0}, {Versions{0x0a, 0xfa, 2}, Versions{0xfa, 0x0a, 2}, 2}, {Versions{0x1a}, Versions{0x1a}, 0},
		{Versions{0, 0, 0, 0, 0, 0, 0, 2}, Versions{7: 2}, 2},
	} {
		check.Equal(t, "choice", choose(&c.client, &c.server), c.want)
	}
}

// What has no meaning is sent, each way of it, and changes nothing (CXH-15).
func TestWhatHasNoMeaningIsSent(t *testing.T) {
	seen := map[string]bool{}
	for n := range 256 {
		h := newHost(t, with(keyed, func(c *ServerConfig) { c.Extensions = 0xffff }))
		c := newCaller(h, here, 7, func(cfg *ClientConfig) { cfg.Random, cfg.Extensions = source(byte(n)), 1 })
		link := check.Must(Decode(c.sends()))
		challenge := check.Must(Decode(h.takes(here, c.last)))
		c.gets(challenge.append(nil))
		proof := check.Must(Decode(c.sends()))
		c.gets(h.takes(here, c.last))
		check.Equal(t, "agreed", []any{c.State(), c.Link().Agreed().Extensions}, []any{Open, uint16(1)})
		check.That(t, grease(link.Versions[0]) != grease(link.Versions[1]) && grease(challenge.Versions[0]) != grease(challenge.Versions[1]), "one of two exists")
		seen["before the client's"] = seen["before the client's"] || grease(link.Versions[0])
		seen["behind it"] = seen["behind it"] || grease(link.Versions[1])
		seen["before the server's"] = seen["before the server's"] || grease(challenge.Versions[0])
		seen["behind that"] = seen["behind that"] || grease(challenge.Versions[1])
		seen["reserved"] = seen["reserved"] || link.Reserved != [reservedSize]byte{}
		seen["not reserved"] = seen["not reserved"] || link.Reserved == [reservedSize]byte{}
		seen["an extension"] = seen["an extension"] || proof.Extensions == 1|1<<12
		seen["no extension"] = seen["no extension"] || proof.Extensions == 1
	}
	check.Equal(t, "ways", len(seen), 8)
	for way, is := range seen {
		check.That(t, is, way)
	}
}

// A client of a later version meets this server in this version, and so does this client a server of a
// later one: what they list that the other does not know is no obstacle (CXH-14, CXS-1).
func TestALaterVersion(t *testing.T) {
	h := newHost(t, keyed)
	c := newCaller(h, here, 7)
	c.versions = Versions{0x3a, 9, 3, Version}
	first := c.firstMessage()
	c.offer.Digest = DigestOf(&first)
	c.greeting = greet(&c.offer, &c.key, new(Share))
	c.talks()
	check.Equal(t, "a later client", c.State(), Open)

	none := Message{Kind: KindLink, Versions: Versions{9, 3, 0x2a}}
	check.Equal(t, "one that has none of the server's", h.says(here, check.Must(none.Append(nil))), "REFUSED version unproven")

	c = newCaller(h, here, 7)
	later := challenging(c.offer.Nonce)
	later.Versions = Versions{0x4a, 9, Version}
	check.Equal(t, "a later server", c.gets(later.append(nil)), "I6")
}

// An end of version 1: its LINK is refused with the version of this server, and its server refuses a LINK
// of this version so, as bytes of version 1 have it (CXH-13, CXT-LIVE-3).
func TestAnOldEnd(t *testing.T) {
	h := newHost(t, keyed)
	old := unhex("4801a0a1a2a3a4a5a6a7a8a9aaabacadaeaf070000004204010000640010db000611675ff9887766554433221100000000000000000000000000000000000000")
	refused := h.takes(here, old)
	check.Bytes(t, "its answer", refused, unhex("4ca0a1a2a3a4a5a6a7a8a9aaabacadaeaf"+"0203"+"00000000000000000000000000000000"))
	c := newCaller(h, here, 7)
	c.sends()
	answer := append(append([]byte{0x4c}, c.offer.Nonce[:]...), unhex("0103"+"00000000000000000000000000000000")...)
	check.Equal(t, "the old server's", c.gets(answer), "I11")
	h.now += RefuseWait
	c.polls()
	var why *RefusedError
	check.That(t, errors.As(c.Err(), &why) && why.Reason == OtherVersion && why.Version == 1 && !why.Proven, "the version differs")
}

// Nobody makes two ends choose less than they have: by the list of the client, that of the server, the
// choice, or all (CXA-38, CXT-SAFE-2).
func TestNoDowngrade(t *testing.T) {
	for name, change := range map[string]func(link, challenge *Message){
		"the client's list": func(link, _ *Message) { link.Versions = Versions{Version} },
		"what is reserved":  func(link, _ *Message) { link.Reserved[0]++ },
		"the server's list": func(_, challenge *Message) { challenge.Versions = Versions{Version} },
		"the choice":        func(_, challenge *Message) { challenge.Version = 1 },
		"choice and list":   func(_, challenge *Message) { challenge.Version, challenge.Versions = 1, Versions{1} },
		"all but the choice": func(link, challenge *Message) {
			link.Versions, challenge.Versions = Versions{Version}, Versions{Version}
		},
	} {
		h := newHost(t, keyed)
		c := newCaller(h, here, 7, func(cfg *ClientConfig) { cfg.Timeout = second })
		for c.State() == Linking {
			for d := c.sends(); d != nil; d = c.sends() {
				m := check.Must(Decode(d))
				if change(&m, &Message{}); m.Kind == KindLink {
					d = m.append(nil)
				}
				answer := h.takes(here, d)
				if answer == nil {
					continue
				}
				m = check.Must(Decode(answer))
				if change(&Message{}, &m); m.Kind == KindChallenge {
					answer = m.append(nil)
				}
				c.gets(answer)
			}
			h.now += 50 * ms
		}
		check.Equal(t, name, []any{c.State(), h.Stats().Made}, []any{Closed, int64(0)})
	}
}

// A client takes no CHALLENGE whose choice is not its version, or does not follow from both lists (CXC-3).
func TestTheChoiceOfAChallenge(t *testing.T) {
	h := newHost(t, keyed)
	c := newCaller(h, here, 7)
	right := check.Must(Decode(h.takes(here, c.sends())))
	for name, change := range map[string]func(*Message){
		"an older one that both have": func(m *Message) { m.Version, m.Versions = 1, Versions{1, Version} },
		"an older one":                func(m *Message) { m.Version = 1 },
		"not in the server's list":    func(m *Message) { m.Versions = Versions{3} },
	} {
		m := right
		change(&m)
		check.Equal(t, name, c.gets(m.append(nil)), "I7")
	}
	check.Equal(t, "the server's", c.gets(right.append(nil)), "I6")
}

// With a server key a client opens a connection of that server alone, with an identity and without: of no
// other, whoever has the key of the identity; and nothing is proven to a server that has another key, or
// none (CXK-14, CXT-SAFE-10).
func TestServerKeys(t *testing.T) {
	mine, other := Key{1, 2, 3}, Key{3, 2, 1}
	for _, identity := range []uint64{0, 7} {
		for _, c := range []struct {
			server, client Key
			says           string
		}{
			{mine, mine, "J3 LINKED"}, {other, mine, "REFUSED identity unproven"}, {Key{}, mine, "REFUSED identity unproven"}, {mine, Key{}, "REFUSED identity unproven"},
		} {
			h := newHost(t, with(keyed, func(cfg *ServerConfig) { cfg.Anonymous, cfg.PrivateKey = true, c.server }))
			who := newCaller(h, here, identity, func(cfg *ClientConfig) {
				if c.client != (Key{}) {
					cfg.ServerKey = ServerKey(c.client)
				}
			})
			proof := who.challenged()
			answer := h.takes(here, proof)
			check.Equal(t, "it says", strings.TrimSpace(string(h.event.Row)+" "+text(answer)), c.says)
			who.gets(answer)
			check.Equal(t, "it is open", who.State() == Open, c.says == "J3 LINKED")
		}
	}
}

// Who has the key of an identity, but not that of the server, cannot answer in its place: he makes all of a
// LINKED but what the two have in common (CXT-SAFE-10).
func TestTheKeyOfAnIdentityIsNotTheServers(t *testing.T) {
	for _, knows := range []bool{true, false} {
		h := newHost(t, with(keyed, func(cfg *ServerConfig) { cfg.PrivateKey = Key{1} }))
		c := newCaller(h, here, 7, func(cfg *ClientConfig) { cfg.ServerKey = ServerKey(Key{1}) })
		proof := check.Must(Decode(c.challenged()))
		own, key, server := newShare(AEAD, &Key{9}), keyOf(7), ServerKey(Key{1})
		g := greet(&proof.Offer, &key, &server)
		_, whole := g.prove(&c.challenges[0].seen, &proof.Move)
		if knows {
			static := newShare(AEAD, &Key{1})
			common, _ := static.meet(&proof.Share)
			g.know(&common)
		}
		shared, _ := own.meet(&proof.Share)
		m := Message{Kind: KindLinked, Agreed: Agreed{Link: 1, Timeout: second}}
		m.Nonce, m.Share = proof.Nonce, own.share
		meeting := g.meet(&shared)
		m.Proof = answerBy(&meeting.answer, &whole, &m)
		check.Equal(t, "row", c.gets(check.Must(m.Append(nil))), map[bool]string{true: "I8", false: "I9"}[knows])
	}
}

// A reason that is not known is a refusal as any other (CXH-8).
func TestAReasonThatIsNotKnown(t *testing.T) {
	h := newHost(t, keyed)
	c := newCaller(h, here, 7)
	proof := check.Must(Decode(c.challenged()))
	refused := Message{Kind: KindRefused, Version: 9, Reason: 77}
	refused.Nonce = proof.Nonce
	_, g, whole := proved(keyOf(7), proof)
	refused.Proof = answerBy(&g.refused, &whole, &refused)
	check.Equal(t, "row", c.gets(check.Must(refused.Append(nil))), "I10")
	check.Equal(t, "text", c.Err().Error(), "the server gives the reason 77, which this end does not know")
}

// Shares that give the same to everybody are not used: a server is silent and keeps nothing, and a client
// takes no LINKED with one (CXK-12, CXS-19).
func TestWeakShares(t *testing.T) {
	weak := []Share{
		{}, {1}, Share(unhex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800")),
		Share(unhex("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f")), Share(unhex("edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f")),
	}
	for _, share := range weak {
		h := newHost(t, keyed)
		c := newCaller(h, here, 7)
		c.offer.Share = share
		check.Equal(t, "at a server", h.says(here, c.again(here, keyOf(7))), "")
		check.Equal(t, "counts", []int64{silentFor(h, "share"), h.Stats().Made, int64(len(h.links))}, []int64{1, 0, 0})

		c = newCaller(h, here, 7)
		m := check.Must(Decode(h.takes(here, c.challenged())))
		m.Share = share
		check.Equal(t, "at a client", c.gets(check.Must(m.Append(nil))), "I9")
	}
}

// Before the cookie and, with a key, the proof are right, nothing is computed with a share, and nothing is
// drawn (CXS-19, CXT-BND-5).
func TestNothingIsDrawnForStrangers(t *testing.T) {
	h := newHost(t, keyed)
	c := newCaller(h, here, 7)
	wrong, right := c.again(here, keyOf(8)), c.again(here, keyOf(7))
	h.random = nil // to draw is a mistake of the program
	check.Equal(t, "a LINK", h.says(here, newLink(c)), "CHALLENGE")
	check.Equal(t, "no cookie", h.says(there, right), "")
	check.Equal(t, "no key", h.says(here, wrong), "REFUSED identity unproven")
	h.random = source(3)
	check.Equal(t, "both", h.says(here, right), "J3 LINKED")
	h.random = nil
	check.Equal(t, "again", h.says(here, right), "J5 LINKED")
}

// Whoever copies the hello of an anonymous client gets a connection of his own, without its keys; the
// client's is where it was (CXS-3).
func TestACopiedHello(t *testing.T) {
	h := newHost(t, open)
	c := confirmed(h, here, 0)
	e := c.entry()
	c.offer.Resume = 0
	copied := newCaller(h, there, 0)
	copied.offer = c.offer
	check.Equal(t, "row", h.says(there, copied.again(there, Key{})), "J3 LINKED")
	check.That(t, h.event.Entry != e && h.event.Entry.ID() != e.ID(), "another one")
	check.Equal(t, "where it is", []any{e.Address(), h.hears(here, c.data("x"))}, []any{here, "J18"})
}

// A refusal of an anonymous connection is a hint, since everybody on the path can make it: LINKED overtakes
// it, and if none comes it stands (I33, I45).
func TestARefusalOfAnAnonymousConnection(t *testing.T) {
	for _, answered := range []bool{true, false} {
		h := newHost(t, open)
		c := confirmed(h, here, 0)
		c.Move(h.now)
		proof := check.Must(Decode(c.challenged()))
		refused := Message{Kind: KindRefused, Version: Version, Reason: ConnectionClosed}
		refused.Nonce = proof.Nonce
		refused.Proof = answerBy(&c.greeting.refused, &c.challenges[0].whole, &refused)
		check.Equal(t, "a hint", c.gets(check.Must(refused.Append(nil))), "I33")
		if answered {
			check.Equal(t, "what comes", c.gets(h.takes(here, c.last)), "I30")
			check.Equal(t, "the hint", c.hint, (*RefusedError)(nil))
			continue
		}
		h.now += RefuseWait - 1
		c.polls()
		check.Equal(t, "before", c.State(), Relinking)
		h.now++
		check.Equal(t, "row", c.polls(), "I45")
		var why *RefusedError
		check.That(t, errors.As(c.Err(), &why) && why.Reason == ConnectionClosed && !why.Proven, "closed, unproven")
	}
}

// With the key of the identity, and all that was sent, nobody has the keys of the connection; with one of
// the private shares he has (CXT-SAFE-9).
func TestTheKeyDoesNotGiveTheKeys(t *testing.T) {
	h := newHost(t, keyed)
	h.keyLog = func(_ uint32, c2s, s2c Key) { h.made.C2S, h.made.S2C = c2s, s2c }
	c := newCaller(h, here, 7)
	private := Key(c.ours.private.Bytes())
	challenge := check.Must(Decode(h.takes(here, c.sends())))
	c.gets(challenge.append(nil))
	proof := check.Must(Decode(c.sends()))
	linked := check.Must(Decode(h.takes(here, c.last)))
	c.gets(linked.append(nil))
	check.That(t, c.State() == Open && c.ours.private == nil && c.greeting == greeting{} && c.meeting == meeting{}, "the client has forgotten")
	for _, guess := range []Key{{}, keyOf(7), {5}, private} {
		w := check.Must(Work(keyOf(7), guess, Key{}, Share{}, &challenge, &proof, &linked, &Message{Kind: KindRefused}))
		check.Equal(t, "he has them", w.Keys.C2S == h.made.C2S || w.Keys.S2C == h.made.S2C, guess == private)
	}
}
