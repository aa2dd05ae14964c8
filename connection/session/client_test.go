package session

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

// A client and a server link: a LINK, a PROOF, and both have the same connection.
func TestAClientLinks(t *testing.T) {
	for _, mode := range modes {
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
		{Terms{Extensions: 0xf00f}, Terms{Extensions: 0xff00}, Agreed{Extensions: 0xf000, Timeout: 10 * second}},
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

// LINK is repeated each 250 ms for 2 s, then each second, until the time-out (CXC-4, I1).
func TestNobodyAnswers(t *testing.T) {
	h := newHost(t, open)
	c := newCaller(h, here, 0)
	start := h.now
	var at []core.Micros
	for c.State() == Linking {
		if c.sends() != nil {
			at = append(at, (h.now-start)/ms)
			continue
		}
		if c.State() == Linking {
			check.That(t, c.Deadline() > h.now, "the deadline is later")
			h.now = c.Deadline()
		}
	}
	check.Equal(t, "LINKs, in ms", at, []core.Micros{0, 250, 500, 750, 1000, 1250, 1500, 1750, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000})
	check.Equal(t, "ended", []any{h.now - start, c.Row(), c.Deadline()}, []any{10 * second, core.Row("I1"), core.Never})
	check.Same(t, "why", c.Err(), ErrTimeout)
	check.Equal(t, "rows", []string{c.polls(), c.gets(unhex(messages[1].hex), unhex(messages[3].hex), unhex(messages[4].hex))}, []string{"I38", "I39 I40 I41"})
	c.Move(h.now)
	check.Equal(t, "row", c.Row(), "I43")
	c.Close(h.now)
	check.Equal(t, "row", []any{c.Row(), c.State()}, []any{core.Row("I44"), Closed})
}

// A PROOF that is not answered is repeated like a LINK, and so is the LINK, as long as its cookie is
// young: 4 s (CXC-6).
func TestNobodyAnswersAProof(t *testing.T) {
	h := newHost(t, open)
	c := newCaller(h, here, 0)
	start := h.now
	c.challenged()
	at := map[string][]core.Micros{}
	for c.State() == Linking {
		if d := c.sends(); d != nil {
			at[text(d)] = append(at[text(d)], (h.now-start)/ms)
			continue
		}
		check.That(t, c.Deadline() > h.now, "the deadline is later")
		h.now = c.Deadline()
	}
	check.Equal(t, "PROOFs, in ms", at["PROOF"], []core.Micros{250, 500, 750, 1000, 1250, 1500, 1750, 2750, 3750})
	check.Equal(t, "LINKs, in ms", at["LINK"], []core.Micros{250, 500, 750, 1000, 1250, 1500, 1750, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000})
	check.Same(t, "why", c.Err(), ErrTimeout)
}

// Each challenge is proved once, the oldest first, 10 ms apart; those that are 4 s old are not; and
// then the latest is proved again (CXC-6).
func TestChallengesAreProvedInOrder(t *testing.T) {
	h := newHost(t, open)
	c := newCaller(h, here, 0)
	link := c.sends()
	var stamps []uint64
	for range 3 {
		answer := h.takes(here, link)
		stamps = append(stamps, check.Must(Decode(answer)).Stamp)
		check.Equal(t, "row", c.gets(answer), "I6")
	}
	stampOf := func() uint64 { return check.Must(Decode(c.sends())).Stamp }
	check.Equal(t, "first", stampOf(), stamps[0])
	check.Equal(t, "not at once", []any{c.polls(), c.Deadline() - h.now}, []any{"I5", ProofSpacing})
	h.now += ProofSpacing - 1
	check.Equal(t, "nor a moment before", c.polls(), "I5")
	h.now++
	check.Equal(t, "second", stampOf(), stamps[1])
	h.now += ProofSpacing
	check.Equal(t, "third", stampOf(), stamps[2])
	h.now += LinkInterval - ProofSpacing*2
	check.Equal(t, "a LINK", text(c.sends()), "LINK")
	check.Equal(t, "then", []any{c.polls(), c.Deadline() - h.now}, []any{"I5", 2 * ProofSpacing})
	h.now = c.Deadline()
	check.Equal(t, "the latest again", stampOf(), stamps[2])

	c = newCaller(h, here, 0)
	old := h.takes(here, c.sends())
	c.gets(old)
	h.now += CookieUse
	check.Equal(t, "it is too old now", c.polls(), "I4 I5")
	check.Equal(t, "a new one is not", c.gets(h.takes(here, c.last)), "I6")
	check.Equal(t, "it is proved", []any{stampOf() > check.Must(Decode(old)).Stamp, c.polls()}, []any{true, "I5"})
}

// A challenge that is kept already is of no use, nor is one of another nonce (I7).
func TestChallengesOfNoUse(t *testing.T) {
	h := newHost(t, open)
	c := newCaller(h, here, 0)
	challenge := h.takes(here, c.sends())
	check.Equal(t, "of another nonce", c.gets(altered(challenge, 8)), "I7")
	check.Equal(t, "first and again", c.gets(challenge, challenge), "I6 I7")
	check.Equal(t, "another stamp", c.gets(altered(challenge, 8*17)), "I6")
	check.Equal(t, "another cookie", c.gets(altered(challenge, 8*40)), "I6")
	check.Equal(t, "and once more", c.gets(altered(challenge, 8*40)), "I7")
	check.Equal(t, "counts", c.Stats().Unexpected, 3)
}

// A client keeps 32 challenges. What was proved stays as long as another can go (CXC-5).
func TestAClientKeeps32Challenges(t *testing.T) {
	h := newHost(t, open)
	c := newCaller(h, here, 0)
	m := check.Must(Decode(h.takes(here, c.sends())))
	challenge := func(stamp uint64) []byte {
		m.Stamp = stamp
		return check.Must(m.Append(nil))
	}
	kept := func() (list []uint64) {
		for _, k := range c.challenges {
			list = append(list, k.stamp)
		}
		return list
	}
	var want []uint64
	for n := range uint64(KeptChallenges) {
		c.gets(challenge(n))
		want = append(want, n)
	}
	c.sends() // proves 0
	c.gets(challenge(100))
	want = append(slices.Delete(want, 1, 2), 100)
	check.Equal(t, "kept", kept(), want)
	for i := range c.challenges {
		c.challenges[i].proved = true
	}
	c.gets(challenge(101))
	check.Equal(t, "kept", kept(), append(want[1:], 101))
	check.Equal(t, "what was dropped is new again", c.gets(challenge(0)), "I6")
}

// On a path with a long round trip the LINKED of an early PROOF comes when later ones are on their
// way: it counts. That of a PROOF which is 5 s old does not.
func TestALongRoundTrip(t *testing.T) {
	for _, c := range []struct {
		trip core.Micros
		want core.Micros // from the first LINK on; 0: never
	}{{300 * ms, 600 * ms}, {900 * ms, 1800 * ms}, {3 * second, 6 * second}, {4900 * ms, 9800 * ms}, {5100 * ms, 0}} {
		h := newHost(t, open)
		x := newCaller(h, here, 0)
		start := h.now
		type delivery struct {
			at       core.Micros
			datagram []byte
		}
		var way []delivery
		for x.State() == Linking {
			if d := x.sends(); d != nil {
				if answer := h.takes(here, d); answer != nil { // the way to the server takes no time
					way = append(way, delivery{h.now + c.trip, answer})
				}
				continue
			}
			if h.now = x.Deadline(); len(way) > 0 && way[0].at <= h.now {
				h.now = way[0].at
				x.gets(way[0].datagram)
				way = way[1:]
			}
		}
		if c.want == 0 {
			check.Same(t, "why", x.Err(), ErrTimeout)
			continue
		}
		check.Equal(t, fmt.Sprint("open after, with ", c.trip), []any{x.State(), h.now - start}, []any{Open, c.want})
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

// A LINKED is right only if each of its values is, however it is proven (I9, CXC-3, CXC-17).
func TestALinkedThatIsNotRight(t *testing.T) {
	cfg := with(keyed, func(c *ServerConfig) { c.Lanes, c.Extensions = 4, 1 })
	for name, change := range map[string]func(m, proof *Message){
		"another nonce":                func(m, _ *Message) { m.Nonce[0]++ },
		"another cookie":               func(_, proof *Message) { proof.Cookie[0]++ },
		"another stamp":                func(_, proof *Message) { proof.Stamp++ },
		"more lanes than offered":      func(m, _ *Message) { m.Agreed.Lanes = 3 },
		"a variant that was not":       func(m, _ *Message) { m.Agreed.Variant = 2 },
		"an extension that was not":    func(m, _ *Message) { m.Agreed.Extensions = 4 },
		"a longer time-out":            func(m, _ *Message) { m.Agreed.Timeout += 100 * ms },
		"more lanes, and another link": func(m, _ *Message) { m.Agreed.Lanes, m.Agreed.Link = 3, 9 },
	} {
		c, proof, m := proven(t, cfg, 7)
		change(&m, &proof)
		m.Proof = ProofOf(keyOf(7), &m, &proof)
		check.Equal(t, name, c.gets(check.Must(m.Append(nil))), "I9")
	}
	c, proof, m := proven(t, cfg, 7)
	for bit := 8; bit < 8*linkedSize; bit++ {
		sinkErr = c.Receive(c.host.now, altered(check.Must(m.Append(nil)), bit))
		check.Equal(t, fmt.Sprint("bit ", bit), []any{sinkErr != nil, c.State()}, []any{true, Linking})
	}
	m.Proof = ProofOf(keyOf(8), &m, &proof)
	check.Equal(t, "by another key", c.gets(check.Must(m.Append(nil))), "I9")
	m.Agreed.Lanes = 1
	m.Proof = ProofOf(keyOf(7), &m, &proof)
	check.Equal(t, "less than was offered", c.gets(check.Must(m.Append(nil))), "I8")
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
		"another offer":  func(_, proof *Message) { proof.Resume++ },
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
			m.Proof = ProofOf(keyOf(7), &m, &proof)
		}
		check.Equal(t, name, c.gets(check.Must(m.Append(nil))), "I12")
		check.Equal(t, "as it was", []any{c.gets(right), c.State()}, []any{"I10", Closed})
		check.That(t, errors.Is(c.Err(), &RefusedError{Reason: Full}), "full")
		var why *RefusedError
		check.That(t, errors.As(c.Err(), &why) && why.Proven && why.Version == Version, "proven")
		check.Equal(t, "text", why.Error(), "session: refused: full")
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
		check.Equal(t, "text", why.Error(), "session: refused: identity (unproven)")
	}
}

// A server of another version is an error after a second, too, but a challenge says more: then the
// hint is forgotten (CXC-5, I2).
func TestAnotherVersion(t *testing.T) {
	h := newHost(t, open)
	c := newCaller(h, here, 0)
	m := Message{Kind: KindRefused, Version: 2, Reason: OtherVersion}
	m.Nonce = c.offer.Nonce
	refused := check.Must(m.Append(nil))
	c.polls()
	check.Equal(t, "row", []any{c.gets(refused), c.Deadline() - h.now}, []any{"I11", LinkInterval})
	h.now += 999 * ms
	c.polls()
	check.Equal(t, "again", []any{c.gets(refused), c.Deadline() - h.now}, []any{"I11", ms})
	again := newCaller(h, here, 0)
	again.polls()
	again.gets(refused)
	h.now += ms
	check.Equal(t, "the first one counts", []any{c.polls(), c.State()}, []any{"I2", Closed})
	check.That(t, errors.Is(c.Err(), &RefusedError{Reason: OtherVersion}), "version")

	c = newCaller(h, here, 0)
	m.Nonce = c.offer.Nonce
	link := c.sends()
	check.Equal(t, "rows", c.gets(check.Must(m.Append(nil)), h.takes(here, link), check.Must(m.Append(nil))), "I11 I6 I12")
	h.now += RefuseWait
	c.talks()
	check.Equal(t, "state", c.State(), Open)
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

// After LINKED nothing is silent: nothing was sent since.
func TestLinkedIsASignOfLife(t *testing.T) {
	c, _, m := proven(t, open, 0)
	c.Spoke(c.host.now)
	c.gets(check.Must(m.Append(nil)))
	check.Equal(t, "deadline", c.Deadline()-c.host.now, 10*second)
}

// A new attempt knows no challenge of the one before (CXC-9).
func TestANewAttemptForgetsChallenges(t *testing.T) {
	h := newHost(t, open)
	c := newCaller(h, here, 0)
	c.gets(h.takes(here, c.sends()))
	c.Move(h.now)
	check.Equal(t, "it asks, and proves nothing", []string{c.polls(), text(c.last)}, []string{"I4 I5", "LINK"})
}

// Errors of refusals are equal if their reasons are.
func TestRefusedErrors(t *testing.T) {
	err := error(&RefusedError{Reason: Full, Proven: true})
	check.Equal(t, "is", []bool{errors.Is(err, &RefusedError{Reason: Full}), errors.Is(err, &RefusedError{Reason: Replaced}), errors.Is(err, ErrTimeout)}, []bool{true, false, false})
}

// Hints that cannot be: of identity before a PROOF, of version behind a challenge, of any other
// reason, and of another nonce (I12).
func TestHintsThatCannotBe(t *testing.T) {
	h := newHost(t, open)
	c := newCaller(h, here, 0)
	hint := func(reason Reason, nonce Nonce) []byte {
		m := Message{Kind: KindRefused, Version: 1, Reason: reason}
		m.Nonce = nonce
		return check.Must(m.Append(nil))
	}
	ours := c.offer.Nonce
	link := c.sends()
	for r := Full; r <= Replaced; r++ {
		if r != OtherVersion {
			check.Equal(t, "before a challenge: "+r.String(), c.gets(hint(r, ours)), "I12")
		}
	}
	check.Equal(t, "of another", c.gets(hint(OtherVersion, Nonce{})), "I12")
	c.gets(h.takes(here, link))
	check.Equal(t, "before a PROOF", c.gets(hint(UnknownIdentity, ours)), "I12")
	c.sends()
	for r := Full; r <= Replaced; r++ {
		if r != UnknownIdentity {
			check.Equal(t, "behind a PROOF: "+r.String(), c.gets(hint(r, ours)), "I12")
		}
	}
	check.Equal(t, "of another", c.gets(hint(UnknownIdentity, Nonce{})), "I12")
	check.Equal(t, "no hint", c.hint, nil)
	check.Equal(t, "one", c.gets(hint(UnknownIdentity, ours)), "I11")
	check.Equal(t, "with a proof that is not right", c.gets(altered(hint(UnknownIdentity, ours), 8*34)), "I12")
}

// A hint is told at the time-out, too (CXC-12); forged during a connection it ends nothing (I33).
func TestAHintDuringAConnection(t *testing.T) {
	h := newHost(t, keyed)
	c := confirmed(h, here, 7)
	c.data("x")
	h.now += 3 * second
	check.Equal(t, "rows", c.polls(), "I16")
	c.gets(h.takes(here, c.sends()))
	c.sends()
	m := Message{Kind: KindRefused, Version: 1, Reason: UnknownIdentity}
	m.Nonce = c.offer.Nonce
	refused := check.Must(m.Append(nil))
	check.Equal(t, "row", c.gets(refused, refused), "I33 I33")
	h.now += 2 * RefuseWait
	check.Equal(t, "it goes on to ask", c.polls(), "I25 I26 I27")
	check.Equal(t, "state", c.State(), Relinking)
	h.now = c.heardAt + 10*second
	check.Equal(t, "row", c.polls(), "I24")
	check.That(t, errors.Is(c.Err(), ErrTimeout) && errors.Is(c.Err(), &RefusedError{Reason: UnknownIdentity}), fmt.Sprint(c.Err()))
}

// A connection that is silent is linked again, if anything was sent: with 10 s after 3 s; and ends
// 10 s after the last sign of life (I15, I16, I24, CXC-3).
func TestSilence(t *testing.T) {
	h := newHost(t, open)
	c := confirmed(h, here, 0)
	heard := h.now
	check.Equal(t, "nothing was sent", []any{c.polls(), c.Deadline() - heard}, []any{"I17", 10 * second})
	h.now += 10*second - 1
	check.Equal(t, "so it is not silent", c.polls(), "I17")
	h.now++
	check.Equal(t, "but timed out", []any{c.polls(), c.Err()}, []any{"I15", ErrTimeout}, sameErrors)

	c = confirmed(h, here, 0)
	heard = h.now
	h.now += second
	c.data("anybody?")
	check.Equal(t, "deadline", c.Deadline()-heard, 3*second)
	h.now = heard + 3*second - 1
	check.Equal(t, "not yet", c.polls(), "I17")
	h.now++
	before := c.offer
	check.Equal(t, "silent", []any{c.polls(), c.State(), c.Deadline()}, []any{"I16", Relinking, h.now})
	check.Equal(t, "then", c.polls(), "I26 I27")
	m := check.Must(Decode(c.last))
	check.That(t, m.Nonce != before.Nonce, "another nonce")
	before.Nonce, before.Resume = m.Nonce, c.Link().ID()
	check.Equal(t, "offer", m.Offer, before)
	h.now = heard + 10*second - 1
	c.polls()
	check.Equal(t, "state", c.State(), Relinking)
	h.now++
	check.Equal(t, "timed out", []any{c.polls(), c.Err()}, []any{"I24", ErrTimeout}, sameErrors)
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

// A sign of life ends silence; while the client links again it counts as well, and data go on
// (I21, I35).
func TestSignsOfLife(t *testing.T) {
	h := newHost(t, open)
	c := confirmed(h, here, 0)
	c.data("x")
	h.now += 2 * second
	c.hears("y")
	check.Equal(t, "deadline", []any{c.Row(), c.Deadline() - h.now}, []any{core.Row("I21"), 10 * second})
	c.data("z")
	h.now += 3 * second
	c.polls()
	h.now += 6 * second
	c.hears("still here")
	check.Equal(t, "row", []any{c.Row(), c.State()}, []any{core.Row("I35"), Relinking})
	h.now += 9 * second
	c.talks()
	check.Equal(t, "state", c.State(), Open)
}

// A client that moves goes on at its new address: with the same link, keys and counters; and what
// it sends from there before is refused (I22, I30, J15).
func TestAMove(t *testing.T) {
	for _, mode := range modes {
		h := newHost(t, with(keyed, func(c *ServerConfig) { c.Mode = mode }))
		c := confirmed(h, here, 7)
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
	c.Move(h.now)
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

// LINKED of a move is right only if it is of the same connection (I31).
func TestALinkedOfAnotherConnection(t *testing.T) {
	for name, change := range map[string]func(m *Message){
		"another link":         func(m *Message) { m.Agreed.Link++ },
		"another server nonce": func(m *Message) { m.ServerNonce[0]++ },
		"another time-out":     func(m *Message) { m.Agreed.Timeout -= second },
		"other lanes":          func(m *Message) { m.Agreed.Lanes, m.Agreed.Variant = 0, 0 },
	} {
		h := newHost(t, with(open, func(c *ServerConfig) { c.Lanes = 1 }))
		c := confirmed(h, here, 0)
		c.Move(h.now)
		proof := check.Must(Decode(c.challenged()))
		m := check.Must(Decode(h.takes(here, c.last)))
		right := check.Must(m.Append(nil))
		change(&m)
		m.Proof = ProofOf(c.entry().resume, &m, &proof)
		check.Equal(t, name, c.gets(check.Must(m.Append(nil)), right), "I31 I30")
	}
}

// A refusal of a move ends the connection if it is proven: nothing of it can go on (I32). Other
// ones do not (I34).
func TestARefusalOfAMove(t *testing.T) {
	h := newHost(t, keyed)
	c := confirmed(h, here, 7)
	h.End(h.now, c.entry(), ConnectionClosed)
	c.Move(h.now)
	c.challenged()
	refused := h.takes(here, c.last)
	check.Equal(t, "answer", []any{text(refused), h.event.Row}, []any{"REFUSED closed", core.Row("J23")})
	check.Equal(t, "rows", []any{c.gets(altered(refused, 8*34), refused), c.State()}, []any{"I34 I32", Closed})
	check.That(t, errors.Is(c.Err(), &RefusedError{Reason: ConnectionClosed}), fmt.Sprint(c.Err()))
}

// In OPEN messages of the handshake are late or forged (I18 to I20); LINK, PROOF, data and nonsense
// are for no client.
func TestMessagesOfNoUse(t *testing.T) {
	h := newHost(t, open)
	c := linked(h, here, 0)
	check.Equal(t, "rows", c.gets(unhex(messages[1].hex), unhex(messages[3].hex), unhex(messages[4].hex)), "I18 I19 I20")
	data := c.data("x")
	for _, d := range [][]byte{c.last, unhex(messages[0].hex), unhex(messages[2].hex), data} {
		check.Equal(t, "no row", c.gets(d), "I20")
		check.Same(t, "code", code(c.Receive(h.now, d)), CodeUnexpected)
	}
	check.Equal(t, "no row", c.gets(nil, unhex("99"), unhex("49")), "I20 I20 I20")
	check.Equal(t, "counts", c.Stats(), ClientStats{Links: 1, Proofs: 1, Refused: 3, Unexpected: 11})
	check.Same(t, "no error", c.Err(), nil)
}

// A client can be closed in every state (I14, I23, I37, I44).
func TestClose(t *testing.T) {
	h := newHost(t, open)
	for row, c := range map[core.Row]*caller{"I14": newCaller(h, here, 0), "I23": linked(h, there, 0), "I37": linked(h, elsewhere, 0)} {
		if row == "I37" {
			c.Move(h.now)
		}
		c.Close(h.now)
		check.Equal(t, "row", []any{c.Row(), c.State(), c.Err()}, []any{row, Closed, nil})
		c.Close(h.now)
		check.Equal(t, "again", c.Row(), "I44")
		if c.Link() != nil {
			c.Heard(h.now)
			check.Equal(t, "data", c.Row(), "I42")
		}
	}
}

// Time does not go back (CXN-3), and data before there is a link mean nothing.
func TestTimesOfAClient(t *testing.T) {
	h := newHost(t, open)
	c := newCaller(h, here, 0)
	c.Heard(h.now)
	check.Equal(t, "no row", []any{c.Row(), c.Confirmed()}, []any{core.Row(""), false})
	c.polls()
	h.now -= second
	c.polls()
	check.Equal(t, "LINK is not due", c.Row(), "I5")
	check.Equal(t, "deadline", c.Deadline()-h.now, second+LinkInterval)
	c.Move(h.now)
	check.Equal(t, "a new attempt begins at the latest time", c.Deadline()-h.now, second)
	negative, err := NewClient(-5, ClientConfig{Random: source(1)})
	check.Same(t, "error", err, nil)
	check.Equal(t, "before the first time", negative.Deadline(), 0)
}
