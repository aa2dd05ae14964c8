package session

import (
	"errors"
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

// A client and a server link: a LINK, a PROOF, and both have the same connection.
func TestAClientLinks(t *testing.T) {
	for _, mode := range modes[1:] {
		h := newHost(t, with(keyed, func(c *ServerConfig) { c.Mode, c.Lanes = mode, 3 }))
		c := newCaller(h, here, 7, func(c *ClientConfig) { c.Lanes, c.Timeout = 2, 20*second })
		check.Equal(t, "first row", []any{c.Row(), c.State(), c.Link()}, []any{core.Row(""), Linking, (*Link)(nil)})

		link := c.sends()
		check.Equal(t, "says", []any{text(link), c.Row()}, []any{"LINK", core.Row("I4")})
		challenge := h.takes(here, link)
		check.Equal(t, "answer", []any{text(challenge), h.event.Kind.String(), h.event.Row}, []any{"CHALLENGE", "challenged", core.Row("")})
		check.Equal(t, "row", c.gets(challenge), "I6")
		proof := c.sends()
		check.Equal(t, "says", []any{text(proof), c.Row()}, []any{"PROOF", core.Row("I3")})
		answer := h.takes(here, proof)
		check.Equal(t, "answer", []any{text(answer), h.event.Kind, h.event.Row}, []any{"LINKED", EventMade, core.Row("J3")})
		check.Equal(t, "rows", []string{c.polls(), c.gets(answer), c.polls()}, []string{"I5", "I8", "I17"})

		e := h.event.Entry
		check.Equal(t, "states", []any{c.State(), e.State(), c.Confirmed()}, []any{Open, Unconfirmed, false})
		check.Equal(t, "agreed", c.Link().Agreed(), Agreed{Link: e.ID(), Lanes: 2, Variant: VariantRepair, Timeout: 10 * second})
		check.Equal(t, "of the entry", []any{e.Link().Agreed(), e.Identity(), e.Address()}, []any{c.Link().Agreed(), uint64(7), here})

		check.Equal(t, "first data", []any{h.hears(here, c.data("hello")), h.event.Kind, e.State()}, []any{"J9", EventConfirmed, Confirmed})
		c.hears("welcome")
		check.Equal(t, "row", []any{c.Row(), c.Confirmed(), h.hears(here, c.data("and on"))}, []any{core.Row("I21"), true, "J18"})
		check.Equal(t, "counts", c.Stats(), ClientStats{Links: 1, Proofs: 1})
	}
}

// What is agreed is what both ends offer (CXP-3).
func TestWhatIsAgreed(t *testing.T) {
	for _, c := range []struct {
		client, server Terms
		want           Agreed
	}{
		{Terms{}, Terms{}, Agreed{Timeout: 10 * second}},
		{Terms{Lanes: 16}, Terms{Lanes: 16}, Agreed{Lanes: 16, Variant: VariantRepair, Timeout: 10 * second}},
		{Terms{Lanes: 1, Variants: VariantSlices}, Terms{Lanes: 1}, Agreed{Lanes: 1, Variant: VariantSlices, Timeout: 10 * second}},
		{Terms{Lanes: 5}, Terms{}, Agreed{Timeout: 10 * second}},
		{Terms{}, Terms{Lanes: 5}, Agreed{Timeout: 10 * second}},
		{Terms{Lanes: 1, Variants: 7}, Terms{Lanes: 2, Variants: 3}, Agreed{Lanes: 1, Variant: 2, Timeout: 10 * second}},
		{Terms{Lanes: 1, Variants: 0x80}, Terms{Lanes: 1, Variants: 0xff}, Agreed{Lanes: 1, Variant: 0x80, Timeout: 10 * second}},
		{Terms{Variants: 2}, Terms{Variants: 1, Lanes: 1}, Agreed{Timeout: 10 * second}},
		{Terms{Extensions: 0xf00f}, Terms{Extensions: 0xff00}, Agreed{Extensions: 0xc000, Timeout: 10 * second}},
		{Terms{Timeout: 5 * second}, Terms{Timeout: 3600 * second}, Agreed{Timeout: 5 * second}},
		{Terms{Timeout: 3600 * second}, Terms{Timeout: second}, Agreed{Timeout: second}},
	} {
		h := newHost(t, ServerConfig{Terms: c.server, Anonymous: true})
		x := newCaller(h, here, 0, func(cfg *ClientConfig) { cfg.Terms = c.client })
		x.talks()
		check.Same(t, "error", x.Err(), nil)
		c.want.Link = x.Link().ID()
		check.Equal(t, "agreed", x.Link().Agreed(), c.want)
		check.Equal(t, "at the server", x.entry().Link().Agreed(), c.want)
	}
}

// proofs returns a client that sent a PROOF, the message that it sent, and the server's answer.
func proven(t *testing.T, cfg ServerConfig, identity uint64) (c *caller, proof, answer Message) {
	h := newHost(t, cfg)
	c = newCaller(h, here, identity, func(cfg *ClientConfig) { cfg.Lanes, cfg.Variants, cfg.Extensions = 2, 1, 3 })
	proof = check.Must(Decode(c.challenged()))
	answer = check.Must(Decode(h.takes(here, c.last)))
	return c, proof, answer
}

// LINKED of a challenge that was not proved, or more than 5 s ago, opens nothing (I9).
func TestALinkedForAnotherChallenge(t *testing.T) {
	c, proof, m := proven(t, open, 0)
	c.challenges[0].proved = false
	check.Equal(t, "not proved", c.gets(check.Must(m.Append(nil))), "I9")
	c.challenges[0].proved = true
	last := c.challenges[0]
	c.challenges = []challenge{{takenAt: c.host.now - CookieLife, proved: true}, {takenAt: c.host.now}, last}
	c.host.now += CookieLife
	check.Equal(t, "too old", c.gets(check.Must(m.Append(nil))), "I9")
	c.host.now--
	c.Client.now--
	check.Equal(t, "in time", c.gets(check.Must(m.Append(nil))), "I8")
	check.Equal(t, "all are forgotten", []int{len(c.challenges), int(proof.Stamp - last.stamp)}, []int{0, 0})
}

// A REFUSED that is proven ends the client at once, for its reason; any other does not (I10, I12).
func TestARefusal(t *testing.T) {
	full := with(keyed, func(c *ServerConfig) { c.MaxConnections = 1 })
	for name, change := range map[string]func(m, proof *Message){
		"another nonce":  func(m, _ *Message) { m.Nonce[0]++ },
		"another cookie": func(_, proof *Message) { proof.Cookie[0]++ },
		"another stamp":  func(_, proof *Message) { proof.Stamp++ },
		"another offer":  func(_, proof *Message) { proof.Lanes++ },
		"another share":  func(_, proof *Message) { proof.Share[0]++ },
		"another reason": func(m, _ *Message) { m.Proof, m.Reason = [16]byte{}, Replaced },
	} {
		h := newHost(t, full)
		linked(h, there, 1)
		c := newCaller(h, here, 7)
		proof := check.Must(Decode(c.challenged()))
		m := check.Must(Decode(h.takes(here, c.last)))
		right := check.Must(m.Append(nil))
		proven := m.Proof
		change(&m, &proof)
		if m.Proof == proven {
			_, g, whole := proved(keyOf(7), proof)
			m.Proof = answerBy(&g.refused, &whole, &m)
		}
		check.Equal(t, name, c.gets(check.Must(m.Append(nil))), "I12")
		check.Equal(t, "as it was", []any{c.gets(right), c.State()}, []any{"I10", Closed})
		check.That(t, errors.Is(c.Err(), &RefusedError{Reason: Full}), "full")
		var why *RefusedError
		check.That(t, errors.As(c.Err(), &why) && why.Proven && why.Version == Version, "proven")
		check.Equal(t, "text", why.Error(), "the server has no place left: try again later")
	}
}

// What a server does not like is an error after one round trip (CXS-2).
func TestAMismatchIsAnErrorAtOnce(t *testing.T) {
	for reason, change := range map[Reason]func(*ClientConfig){
		OtherProtocol:   func(c *ClientConfig) { c.Protocol = 1 },
		OtherMode:       func(c *ClientConfig) { c.Mode = MAC },
		OtherFormat:     func(c *ClientConfig) { c.Format[7] = 1 },
		NoCommonVariant: func(c *ClientConfig) { c.Variants = 4 },
	} {
		h := newHost(t, with(keyed, func(c *ServerConfig) { c.Lanes = 1 }))
		c := newCaller(h, here, 7, change)
		c.challenged()
		check.Equal(t, reason.String(), []any{c.gets(h.takes(here, c.last)), c.State()}, []any{"I10", Closed})
		check.That(t, errors.Is(c.Err(), &RefusedError{Reason: reason}), fmt.Sprint(c.Err()))
		check.Equal(t, "counted", []any{h.event.Kind, h.event.Reason, h.event.Entry, refusedFor(h, reason), h.Stats().Living}, []any{EventRefused, reason, (*Entry)(nil), int64(1), 0})
	}
}

func refusedFor(h *host, r Reason) int64 { s := h.Stats(); return s.Refused(r) }

func silentFor(h *host, code string) int64 {
	s := h.Stats()
	for _, c := range codes {
		if string(c) == code {
			return s.Silent(c)
		}
	}
	return -1
}

// A wrong key is an error after a second, if nothing better comes: who does not know the key cannot
// know that the server says so (I2, I11).
func TestAWrongKey(t *testing.T) {
	for _, identity := range []uint64{7, 100} { // known, with another key; unknown
		h := newHost(t, keyed)
		c := newCaller(h, here, identity, func(c *ClientConfig) { c.Key = Key{1} })
		c.challenged()
		refused := h.takes(here, c.last)
		check.Equal(t, "answer", text(refused), "REFUSED identity unproven")
		check.Equal(t, "row", c.gets(refused), "I11")
		start := h.now
		for c.State() == Linking {
			h.now = c.Deadline()
			c.talks()
		}
		check.Equal(t, "ended", []any{h.now - start, c.Row()}, []any{RefuseWait, core.Row("I2")})
		var why *RefusedError
		check.That(t, errors.As(c.Err(), &why) && !why.Proven && why.Reason == UnknownIdentity, "as what it is")
		check.Equal(t, "text", fmt.Sprintf("%v", why), fmt.Sprintf("the server does not know the identity %d, or has another Config.Key for it, or another Config.ServerKey", c.offer.Identity))
		check.Equal(t, "details", fmt.Sprintf("%+v", why), why.Error()+" (session: identity, unproven)")
	}
}

// A hint is forgotten when the client links: what ends the connection later is something else.
func TestAHintIsForgotten(t *testing.T) {
	c, proof, m := proven(t, open, 0)
	hint := Message{Kind: KindRefused, Version: 1, Reason: UnknownIdentity}
	hint.Nonce = proof.Nonce
	check.Equal(t, "rows", c.gets(check.Must(hint.Append(nil)), check.Must(m.Append(nil))), "I11 I8")
	c.Spoke(c.host.now + ms)
	check.Equal(t, "time", c.Client.now, c.host.now+ms)
	c.hear(clientInput{})
	c.Move(c.host.now + 2*ms)
	check.Equal(t, "time", []any{c.Client.now, c.Deadline()}, []any{c.host.now + 2*ms, c.host.now + 2*ms})
	c.host.now += 10*second + ms
	check.Equal(t, "row", c.polls(), "I24")
	check.Same(t, "why", c.Err(), ErrTimeout)
	c.Close(c.host.now + second)
	check.Equal(t, "time", c.Client.now, c.host.now+second)
}

// Errors of refusals are equal if their reasons are.
func TestRefusedErrors(t *testing.T) {
	err := error(&RefusedError{Reason: Full, Proven: true})
	check.Equal(t, "is", []bool{errors.Is(err, &RefusedError{Reason: Full}), errors.Is(err, &RefusedError{Reason: Replaced}), errors.Is(err, ErrTimeout)}, []bool{true, false, false})
}

// A client that moves goes on at its new address: with the same link, keys and counters; and what
// it sends from there before is refused (I22, I30, J15).
func TestAMove(t *testing.T) {
	for _, mode := range modes {
		cfg, identity := keyed, uint64(7)
		if mode == CRC {
			cfg, identity = open, 0
		}
		h := newHost(t, with(cfg, func(c *ServerConfig) { c.Mode = mode }))
		c := confirmed(h, here, identity)
		link, e, sent := c.Link(), c.entry(), c.Link().Sent()
		check.Equal(t, "from there", h.hears(there, c.data("x")), "address")
		c.from = there
		c.Move(h.now)
		check.Equal(t, "row", []any{c.Row(), c.State()}, []any{core.Row("I22"), Relinking})
		check.Equal(t, "says", text(c.sends()), "LINK")
		c.gets(h.takes(there, c.last))
		check.Equal(t, "row", c.Row(), "I28")
		check.Equal(t, "PROOF", []any{h.says(there, c.sends()), c.Row(), h.event.Kind, h.event.Entry}, []any{"J15 LINKED", core.Row("I25"), EventMoved, e}, sameEntries)
		check.Equal(t, "it is there", []any{e.Address(), e.State()}, []any{there, Confirmed})
		check.Equal(t, "row", c.gets(h.takes(there, c.last)), "I30")
		check.Equal(t, "its nonce", h.event.Row, "J14")
		check.That(t, c.Link() == link && c.State() == Open && link.Sent() == sent+1, "the link is the same")
		check.Equal(t, "from there", h.hears(there, c.data("y")), "J18")
		check.Equal(t, "from here", h.hears(here, c.data("z")), "address")
		c.hears("still the same")
	}
}

// A move in the middle of the handshake begins it anew; one in the middle of a move, too (I13, I36).
func TestMovesInMidHandshake(t *testing.T) {
	h := newHost(t, keyed)
	c := newCaller(h, here, 7)
	proof := c.challenged()
	linkedHere := h.takes(here, proof)
	c.from = there
	h.now += ProofSpacing
	nonce, private := c.offer.Nonce, c.ours.private
	c.Move(h.now)
	check.That(t, c.offer.Nonce != nonce && !c.ours.private.Equal(private), "nonce and share are new")
	check.Equal(t, "row", c.Row(), "I13")
	check.Equal(t, "what comes late is of no use", c.gets(linkedHere), "I9")
	c.talks()
	check.Equal(t, "it links there", []any{c.State(), c.entry().Address(), h.event.Row, h.Stats().Living}, []any{Open, there, core.Row("J7"), 1})

	h.now += ProofSpacing
	c.Move(h.now)
	c.sends()
	c.from = elsewhere
	c.Move(h.now)
	check.Equal(t, "row", c.Row(), "I36")
	c.talks()
	check.Equal(t, "it goes on elsewhere", []any{c.State(), c.entry().Address(), h.event.Row, h.Stats().Moved}, []any{Open, elsewhere, core.Row("J6"), int64(1)})
}

// In OPEN messages of the handshake are late or forged (I18 to I20); LINK, PROOF, data and nonsense
// are for no client.
func TestMessagesOfNoUse(t *testing.T) {
	h := newHost(t, open)
	c := linked(h, here, 0)
	late := Message{Kind: KindChallenge, Stamp: 9}
	late.Nonce = c.offer.Nonce // of this client, which would take it if it were not OPEN
	check.Equal(t, "row", c.gets(check.Must(late.Append(nil))), "I18")
	check.Equal(t, "rows", c.gets(unhex(messages[1].hex), unhex(messages[3].hex), unhex(messages[4].hex)), "I18 I19 I20")
	data := c.data("x")
	for _, d := range [][]byte{c.last, unhex(messages[0].hex), unhex(messages[2].hex), data} {
		check.Equal(t, "no row", c.gets(d), "I20")
		check.Same(t, "code", code(c.Receive(h.now, d)), CodeUnexpected)
	}
	check.Equal(t, "no row", c.gets(nil, unhex("99"), unhex("49")), "I20 I20 I20")
	check.Equal(t, "counts", c.Stats(), ClientStats{Links: 1, Proofs: 1, Refused: 3, Unexpected: 12})
	check.Same(t, "no error", c.Err(), nil)
}

// With another time-out agreed, that one counts.
func TestTheAgreedTimeoutCounts(t *testing.T) {
	h := newHost(t, with(open, func(c *ServerConfig) { c.Timeout = 2 * second }))
	c := newCaller(h, here, 0, func(c *ClientConfig) { c.Timeout = 60 * second })
	check.Equal(t, "before", c.Client.end()-h.now, 60*second)
	c.talks()
	c.data("x")
	check.Equal(t, "deadline", c.Deadline()-h.now, 600*ms)
	h.now += 2 * second
	check.Equal(t, "row", c.polls(), "I15")
}

// After LINKED nothing is silent: nothing was sent since.
func TestLinkedIsASignOfLife(t *testing.T) {
	c, _, m := proven(t, open, 0)
	c.Spoke(c.host.now)
	c.gets(check.Must(m.Append(nil)))
	check.Equal(t, "deadline", c.Deadline()-c.host.now, 10*second)
}

// Where there is no Link nothing is heard, and no time goes by with it.
func TestNothingIsHeardWithoutALink(t *testing.T) {
	c := newCaller(newHost(t, open), here, 0)
	c.Heard(c.host.now + 3600*second)
	check.Equal(t, "it links still", text(c.sends()), "LINK")
}
