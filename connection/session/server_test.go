package session

import (
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/logtest"
	"github.com/chunkwire/chunkwire/core"
)

// A LINK of another version is told so, if it is not smaller than one of this; nothing else that
// cannot be decoded is answered (CXH-13, CXS-1, CXS-18).
func TestWhatIsNotAnswered(t *testing.T) {
	h := newHost(t, open)
	c := newCaller(h, here, 0)
	link := c.sends()
	link[1] = 3
	check.Equal(t, "another version", h.says(here, link), "REFUSED version unproven")
	m := check.Must(Decode(h.takes(here, append(link, 1, 2, 3))))
	check.Equal(t, "refusal", []any{m.Nonce, m.Version}, []any{c.offer.Nonce, uint8(2)})
	check.Equal(t, "event", []any{h.event.Kind, h.event.Reason}, []any{EventRefused, OtherVersion})
	for name, c := range map[string]struct {
		datagram []byte
		code     string
	}{
		"shorter":          {link[:63], "version"},
		"its version only": {link[:2], "version"},
		"a PROOF":          {set(2, 1, "01"), "version"},
		"nothing":          {nil, "truncated"},
		"half":             {set(0, 1, "02")[:40], "truncated"},
		"too much":         {append(set(0, 1, "02"), 0), "trailing_data"},
		"another mode":     {set(2, 22, "01"), "mode"},
		"a CHALLENGE":      {set(1, 0, "49"), "unexpected"},
		"a LINKED":         {set(3, 0, "4b"), "unexpected"},
		"a REFUSED":        {set(4, 0, "4c"), "unexpected"},
		"data":             {set(5, 0, "40"), "unexpected"},
		"nonsense":         {[]byte("hello"), "unknown_kind"},
	} {
		before := silentFor(h, c.code)
		check.Equal(t, name, h.says(here, c.datagram), "")
		check.Equal(t, name+": counted", silentFor(h, c.code), before+1)
	}
	check.Equal(t, "nothing is kept", []int{h.Stats().Living, h.Stats().Ended, len(h.links)}, []int{0, 0, 0})
}

// A cookie is good for the address and the offer that it was made for, and for 5 s (CXS-2).
func TestCookies(t *testing.T) {
	h := newHost(t, keyed)
	c := newCaller(h, here, 7)
	proof := c.challenged()
	m := check.Must(Decode(proof))
	for name, change := range map[string]func(m *Message){
		"another stamp":  func(m *Message) { m.Stamp-- },
		"another cookie": func(m *Message) { m.Cookie[15]++ },
		"another LINK":   func(m *Message) { m.Digest[0]++ },
	} {
		changed := m
		change(&changed)
		check.Equal(t, name, h.says(here, prove(keyOf(changed.Identity), changed)), "")
	}
	check.Equal(t, "from there", h.says(there, proof), "")
	port := here
	port[16]++
	check.Equal(t, "from another port", h.says(port, proof), "")
	check.Equal(t, "counted", []int64{silentFor(h, "cookie"), silentFor(h, "stale_cookie"), h.Stats().Made}, []int64{5, 0, 0})
	other := newHost(t, with(keyed, func(c *ServerConfig) { c.Random = source(2) }))
	check.Equal(t, "at another server, or after a restart", other.says(here, proof), "")

	h.now += CookieLife
	check.Equal(t, "5 s later", []any{h.says(here, proof), silentFor(h, "stale_cookie"), h.Stats().Living}, []any{"", int64(1), 0})
	c = newCaller(h, here, 7)
	proof = c.challenged()
	h.now += CookieLife - 1
	check.Equal(t, "a moment before", h.says(here, proof), "J3 LINKED")
}

// Who has no key learns no more than that (CXS-2): unknown, anonymous where nobody is, wrong proof.
func TestUnknownIdentities(t *testing.T) {
	for name, c := range map[string]struct {
		cfg      ServerConfig
		identity uint64
		key      Key
	}{
		"unknown":                 {keyed, 100, keyOf(100)},
		"anonymous":               {keyed, 0, Key{}},
		"known, with another key": {keyed, 7, keyOf(8)},
		"known, without a key":    {keyed, 7, Key{}},
		"no keys at all":          {open, 7, keyOf(7)},
		"no keys, and none given": {open, 7, Key{}},
	} {
		h := newHost(t, c.cfg)
		x := newCaller(h, here, c.identity, func(cfg *ClientConfig) { cfg.Key = Key{} })
		link := x.sends()
		m := check.Must(Decode(h.takes(here, link)))
		m.Offer = x.offer
		m.Offer.Mode = h.terms.Mode
		check.Equal(t, name, h.says(here, prove(c.key, m)), "REFUSED identity unproven")
		check.Equal(t, name, []any{h.event.Kind, h.event.Reason, h.Stats().Living}, []any{EventRefused, UnknownIdentity, 0})
	}
}

// Keys and anonymous clients go together.
func TestKeysAndAnonymousClients(t *testing.T) {
	h := newHost(t, ServerConfig{Keys: keys, Anonymous: true})
	a, b := confirmed(h, here, 0), confirmed(h, there, 7)
	check.Equal(t, "identities", []uint64{a.entry().Identity(), b.entry().Identity()}, []uint64{0, 7})
	check.Equal(t, "mode", a.Link().Mode(), AEAD)
}

// The same PROOF draws the same LINKED, byte for byte, while it is the latest; a newer one of its
// nonce, one of its own (J5, J14). Nothing else is sent before data came (CXS-15).
func TestAProofTwice(t *testing.T) {
	h := newHost(t, keyed)
	c := newCaller(h, here, 7)
	proof := c.challenged()
	first := h.takes(here, proof)
	h.now += second
	check.Equal(t, "again", h.takes(here, proof), first)
	check.Equal(t, "event", []any{h.event.Kind, h.event.Row, h.event.Entry.State()}, []any{EventAnswered, core.Row("J5"), Unconfirmed})
	newer := check.Must(Decode(h.takes(here, newLink(c))))
	newer.Offer = c.offer
	newerProof := prove(keyOf(7), newer)
	second := h.takes(here, newerProof)
	check.Equal(t, "newer", []any{h.event.Row, string(second) == string(first), string(second[:linkedProof]) == string(first[:linkedProof])}, []any{core.Row("J5"), false, true})
	check.Equal(t, "the first again", h.says(here, proof), "J4")
	c.gets(first)
	h.hears(here, c.data("x"))
	check.Equal(t, "confirmed", []string{h.says(here, newerProof), h.says(here, proof)}, []string{"J14 LINKED", "J13"})
	check.Equal(t, "counts", []int64{h.Stats().Made, h.Stats().Linked, silentFor(h, "unexpected")}, []int64{1, 4, 2})
}

// newLink returns the LINK of a client, whether it is due or not.
func newLink(c *caller) []byte {
	c.versions = c.offer.Nonce.offered()
	m := c.firstMessage()
	c.offer.Digest = DigestOf(&m)
	c.greeting = greet(&c.offer, &c.key, new(Share))
	return check.Must(m.Append(nil))
}

// again lets a client draw a new challenge for its offer, from an address, and returns its PROOF by
// a key.
func (c *caller) again(from Address, key Key) []byte {
	c.t.Helper()
	m := check.Must(Decode(c.host.takes(from, newLink(c))))
	m.Offer = c.offer
	return prove(key, m)
}

// A client of the same identity that begins anew replaces its connection (J7, J16).
func TestReplacement(t *testing.T) {
	for _, c := range []struct {
		begin        func(*host, Address, uint64) *caller
		row, refusal string
	}{{linked, "J7 LINKED", "J8 REFUSED replaced"}, {confirmed, "J16 LINKED", "J8 REFUSED replaced"}} {
		h := newHost(t, keyed)
		first := c.begin(h, here, 7)
		e, owner, old := first.entry(), new(int), first.Link().ID()
		e.Owner = owner
		data := first.data("x")
		second := newCaller(h, there, 7)
		check.Equal(t, "row", h.says(there, second.challenged()), c.row)
		check.Equal(t, "event", []any{h.event.Kind, h.event.Ended, h.event.Reason, h.event.Owner == owner, h.event.Entry == e, e.Owner}, []any{EventMade, old, Replaced, true, true, nil})
		check.Equal(t, "it is another", []any{e.State(), e.ID() != old, e.Address(), h.Find(old), h.Find(e.ID()) == e}, []any{Unconfirmed, true, there, (*Entry)(nil), true})
		check.Equal(t, "the old one's data", h.hears(here, data), "unknown_link")
		check.Equal(t, "counts", h.Stats(), ServerStats{Challenges: 2, Linked: 2, Made: 2, Replaced: 1, Living: 1}, ignoreRefusals)
		first.Move(h.now)
		check.Equal(t, "its move", h.says(here, first.challenged()), c.refusal)
		check.Equal(t, "it is told", []any{first.gets(h.takes(here, first.last)), first.State()}, []any{"I32", Closed})
		check.Equal(t, "the new one stays", []any{e.Address(), e.State()}, []any{there, Unconfirmed})
	}
}

// A connection of which no data come is forgotten 5 s after its last PROOF (J10), and its owner is
// told; when data come it stays (J9).
func TestHalfOpenConnections(t *testing.T) {
	h := newHost(t, keyed)
	c := newCaller(h, here, 7)
	proof := c.challenged()
	h.takes(here, proof)
	e, owner := h.event.Entry, new(int)
	e.Owner = owner
	link := e.ID()
	h.now += 3 * second
	check.Equal(t, "deadline", h.Deadline()-h.now, 2*second)
	h.takes(here, proof)
	check.Equal(t, "deadline", h.Deadline()-h.now, HalfOpen)
	h.now += HalfOpen - 1
	check.Equal(t, "not yet", h.polls(), "")
	h.now++
	check.Equal(t, "row", h.polls(), "J10")
	check.Equal(t, "event", []any{h.event.Kind, h.event.Ended, h.event.Owner == owner, h.event.Reason, e.State()}, []any{EventEnded, link, true, ConnectionClosed, Free})
	check.Equal(t, "nothing is left", []any{h.Deadline(), h.Stats().HalfOpen, e.Owner, e.Link(), len(h.links) + len(h.identities) + len(h.prefixes)}, []any{core.Never, int64(1), nil, (*Link)(nil), 0})
	check.Equal(t, "the PROOF is too old", h.says(here, proof), "")
	check.Equal(t, "so what happens to it is nothing", []any{h.Heard(h.now, e).Kind, h.End(h.now, e, Replaced).Kind}, []any{NoEvent, NoEvent})

	c = confirmed(h, here, 7)
	h.now += 100 * second
	check.Equal(t, "it stays", []any{h.polls(), h.Deadline(), c.entry().State()}, []any{"", core.Never, Confirmed})
	c.entry().step(anyEntryPoll, &arrival{})
	check.Equal(t, "row", c.entry().Row(), "J19")
	u := linked(h, there, 8).entry()
	u.step(pollOther, &arrival{})
	check.Equal(t, "row", []any{u.Row(), u.State()}, []any{core.Row("J11"), Unconfirmed})
}

// A connection that ended is remembered for 10 s: no PROOF of before begins it anew (J12, J20 to J29).
func TestAnEndedConnection(t *testing.T) {
	for _, c := range []struct {
		row   string
		state EntryState
	}{{"J12", Unconfirmed}, {"J20", Confirmed}} {
		h := newHost(t, keyed)
		x := newCaller(h, here, 7)
		proof := x.challenged()
		x.gets(h.takes(here, proof))
		e, other := x.entry(), newCaller(h, here, 7)
		between := other.challenged() // a PROOF that did not arrive before the end
		if c.state == Confirmed {
			h.hears(here, x.data("x"))
		}
		e.Owner = x
		ended := h.End(h.now, e, ConnectionClosed)
		check.Equal(t, "event", []any{ended.Row, ended.Kind, ended.Entry == e, ended.Reason, ended.Ended, ended.Owner == x}, []any{core.Row(c.row), EventEnded, true, ConnectionClosed, x.Link().ID(), true})
		check.Equal(t, "state", []any{e.State(), e.Reason(), e.Link(), h.Find(e.ID()), h.Stats().Living, h.Stats().Ended}, []any{Ended, ConnectionClosed, (*Link)(nil), (*Entry)(nil), 0, 1})
		check.Equal(t, "its data", h.hears(here, x.data("y")), "ended_link")
		check.Equal(t, "once more", []any{h.End(h.now, e, Replaced).Row, e.Reason()}, []any{core.Row("J29"), ConnectionClosed})
		check.Equal(t, "data of before", h.Heard(h.now, e).Row, core.Row("J26"))
		e.step(pollOther, &arrival{})
		check.Equal(t, "row", e.Row(), "J28")

		check.Equal(t, "its PROOF", h.says(here, proof), "J21 REFUSED closed")
		check.Equal(t, "one of before the end", h.says(here, between), "J22")
		check.Equal(t, "deadline", h.Deadline()-h.now, Remember)
		h.now += 9 * second
		x.offer.Resume = e.ID()
		x.offer.Nonce[0]++
		check.Equal(t, "a move, by who has no key", []any{h.says(there, x.again(there, keyOf(7))), h.Deadline() - h.now}, []any{"REFUSED identity unproven", second})
		x.offer.Resume++
		check.Equal(t, "of another connection", []any{h.says(there, x.again(there, keyOf(7))), h.Deadline() - h.now}, []any{"J23 REFUSED closed", second})
		x.offer.Resume--
		check.Equal(t, "a move", []any{h.says(there, x.again(there, e.resume)), h.Deadline() - h.now}, []any{"J23 REFUSED closed", Remember})
		x.offer.Nonce[0]--
		x.offer.Resume = 0
		h.now += 9 * second
		check.Equal(t, "its nonce, newer", []any{h.says(here, x.again(here, keyOf(7))), h.Deadline() - h.now}, []any{"J21 REFUSED closed", Remember})
		h.now += Remember
		check.Equal(t, "forgotten", []any{h.polls(), h.event.Kind, e.State(), h.Stats().Ended, len(h.links) + len(h.identities) + len(h.prefixes)}, []any{"J27", NoEvent, Free, 0, 0})
	}
}

// Who begins anew after the end may, at once (J25).
func TestAnEndedConnectionBeginsAnew(t *testing.T) {
	h := newHost(t, keyed)
	c := confirmed(h, here, 7)
	e := c.entry()
	h.End(h.now, e, Replaced)
	c = newCaller(h, there, 7)
	check.Equal(t, "row", h.says(there, c.challenged()), "J25 LINKED")
	check.Equal(t, "event", []any{h.event.Kind, h.event.Entry == e, h.event.Ended, e.State(), e.Reason()}, []any{EventMade, true, uint32(0), Unconfirmed, Reason(0)})
	check.Equal(t, "counts", []int{h.Stats().Living, h.Stats().Ended}, []int{1, 0})
	c.gets(h.takes(there, c.last))
	check.Equal(t, "confirmed", h.hears(there, c.data("x")), "J9")
}

// Anonymous clients are told apart by their first nonce: none replaces another, not even at the same
// address (CXS-3).
func TestAnonymousClients(t *testing.T) {
	h := newHost(t, open)
	a, b := confirmed(h, here, 0), confirmed(h, here, 0)
	c := linked(h, there, 0)
	check.Equal(t, "living", []any{h.Stats().Living, a.entry() != b.entry(), h.hears(here, a.data("x")), h.hears(here, b.data("y"))}, []any{3, true, "J18", "J18"})

	first := a.offer
	a.from = there
	a.Move(h.now)
	a.talks()
	check.Equal(t, "a moves to where c is", []any{a.entry().Address(), c.entry().Address(), h.Stats().Living}, []any{there, there, 3})
	moved := a.offer
	a.offer = first
	check.Equal(t, "its first nonce is old by now, whatever the stamp", h.says(here, a.again(here, Key{})), "J13")
	a.offer = moved
	b.offer.Resume = 12345
	check.Equal(t, "a link of nobody", h.says(here, b.again(here, Key{})), "J1 REFUSED closed")

	h.End(h.now, a.entry(), ConnectionClosed)
	a.offer = first
	check.Equal(t, "its first nonce, ended", h.says(here, a.again(here, Key{})), "J22")
	a.offer = moved
	check.Equal(t, "its last nonce", h.says(there, a.again(there, a.entry().resume)), "J21 REFUSED closed")
	a.offer.Nonce[3]++
	check.Equal(t, "another", h.says(there, a.again(there, a.entry().resume)), "J23 REFUSED closed")
	h.now += Remember
	check.Equal(t, "forgotten, with c", []any{h.polls(), len(h.hellos)}, []any{"J10 J27", 1})
}

// There is room for so many, for so many at one address, and for four times as many that ended;
// nobody who has a connection has to go (J2, J24, CXS-7, CXS-16).
func TestRoom(t *testing.T) {
	at := func(host, port int) Address { return AddressOfText(fmt.Sprintf("192.0.2.%d:%d", host, port)) }
	h := newHost(t, with(open, func(c *ServerConfig) { c.MaxConnections, c.MaxPerAddress = 5, 2 }))
	row := func(from Address) string { return h.says(from, newCaller(h, from, 0).challenged()) }
	check.Equal(t, "two at one address", []string{row(at(1, 1)), row(at(1, 2)), row(at(1, 3))}, []string{"J3 LINKED", "J3 LINKED", "J2 REFUSED full"})
	check.Equal(t, "event", []any{h.event.Kind, h.event.Reason, refusedFor(h, Full)}, []any{EventRefused, Full, int64(1)})
	check.Equal(t, "others", []string{row(at(2, 1)), row(at(3, 1)), row(at(4, 1)), row(at(5, 1))}, []string{"J3 LINKED", "J3 LINKED", "J3 LINKED", "J2 REFUSED full"})
	check.Equal(t, "counts", []int{h.Stats().Living, len(h.prefixes)}, []int{5, 4})
	h.now += HalfOpen
	h.polls()
	check.Equal(t, "all are forgotten", []int{h.Stats().Living, len(h.prefixes), len(h.hellos), len(h.links)}, []int{0, 0, 0, 0})

	end := func(from Address) string {
		c := newCaller(h, from, 0)
		r := h.says(from, c.challenged())
		if h.event.Entry != nil {
			h.End(h.now, h.event.Entry, ConnectionClosed)
		}
		return r
	}
	for range 8 {
		check.Equal(t, "ended ones at one address", end(at(1, 1)), "J3 LINKED")
	}
	check.Equal(t, "no ninth", end(at(1, 1)), "J2 REFUSED full")
	for i := range 12 {
		check.Equal(t, "ended ones", end(at(2+i/8, 1)), "J3 LINKED")
	}
	check.Equal(t, "no more than 20", []any{end(at(9, 1)), h.Stats().Ended}, []any{"J2 REFUSED full", 20})
	h.now += Remember
	h.polls()
	check.Equal(t, "all are forgotten", []any{row(at(9, 1)), h.Stats().Ended}, []any{"J3 LINKED", 0})
}

// An ended connection whose client comes back needs room, too (J24).
func TestRoomForWhoComesBack(t *testing.T) {
	h := newHost(t, with(keyed, func(c *ServerConfig) { c.MaxConnections = 2 }))
	a := confirmed(h, here, 1)
	h.End(h.now, a.entry(), ConnectionClosed)
	b, c := linked(h, here, 2), linked(h, here, 3)
	back := newCaller(h, here, 1)
	proof := back.challenged()
	check.Equal(t, "row", h.says(here, proof), "J24 REFUSED full")
	check.Equal(t, "remembered from its end on", h.Deadline() < h.now+Remember, true)
	h.End(h.now, b.entry(), ConnectionClosed)
	check.Equal(t, "there is room", h.says(here, proof), "J25 LINKED")
	_ = c
}

// Links are drawn until one is free, and are those of the server's shard (CXN-5).
func TestLinksAreDrawn(t *testing.T) {
	random := &script{unhex("00000000" + "05000000" + "05000000" + "06000000" + "ffffffff")}
	h := newHost(t, open)
	h.random = random
	check.Equal(t, "not 0", h.drawLink(), 5)
	h.links[5] = &Entry{}
	check.Equal(t, "not one in use", h.drawLink(), 6)
	check.Equal(t, "the largest", h.drawLink(), 1<<32-1)

	h = newHost(t, with(open, func(c *ServerConfig) { c.Shard, c.Shards = 2, 3 }))
	h.random = &script{unhex("00000000" + "07000000" + "ffffffff" + "fcffffff")}
	check.Equal(t, "the shard", []uint32{h.drawLink(), h.drawLink(), h.drawLink()}, []uint32{2, 8, 1<<32 - 2})
	h = newHost(t, with(open, func(c *ServerConfig) { c.Shard, c.Shards = 1, 3 }))
	h.random = &script{unhex("ffffffff" + "02000000")}
	check.Equal(t, "no link is 2^32", h.drawLink(), 1)
	h = newHost(t, with(open, func(c *ServerConfig) { c.Shard, c.Shards = 0, 3 }))
	for range 50 {
		check.Equal(t, "the shard", h.drawLink()%3, 0)
	}
}

// A client whose nonce is zeros is one like any other.
func TestANonceOfZeros(t *testing.T) {
	h := newHost(t, open)
	c := newCaller(h, here, 0)
	c.offer.Nonce = Nonce{}
	newLink(c)
	check.Equal(t, "row", h.says(here, c.challenged()), "J3 LINKED")
	e := h.event.Entry
	linked(h, there, 0)
	check.That(t, h.hellos[e.first] == e, "it is found")
	check.Equal(t, "row", h.says(here, c.last), "J5 LINKED")
}

// script is randomness that is given.
type script struct{ left []byte }

func (s *script) Read(b []byte) (int, error) {
	n := copy(b, s.left)
	s.left = s.left[n:]
	return n, nil
}

// Data are for the living connection that has their link and their sender's address; all is looked at
// before any cryptography (CXE-20 to CXE-22).
func TestRoute(t *testing.T) {
	h := newHost(t, with(keyed, func(c *ServerConfig) { c.Mode = MAC }))
	c := confirmed(h, here, 7)
	good := c.data("x")
	e, err := h.Route(here, good)
	check.Equal(t, "its entry", []any{e == c.entry(), err}, []any{true, nil})
	for _, want := range []struct {
		name     string
		from     Address
		datagram []byte
		is       string
	}{
		{"from there", there, good, "address"},
		{"another link", there, altered(good, 8), "unknown_link"},
		{"another mode", there, append([]byte{byte(AEAD)}, good[1:]...), "truncated"},
		{"a shorter mode", there, append([]byte{byte(CRC)}, good[1:]...), "mode"},
		{"too short", here, good[:17], "truncated"},
		{"a message", here, unhex(messages[0].hex), "unexpected"},
		{"nothing", here, nil, "truncated"},
		{"a forged tag", here, altered(good, 8*len(good)-1), "tag"},
		{"the server's own", here, e.Link().Seal(nil, []byte("xyz")), "tag"},
		{"its own", here, good, "J18"},
	} {
		before := silentFor(h, want.is)
		check.Equal(t, want.name, h.hears(want.from, want.datagram), want.is)
		if before >= 0 && want.is != "tag" {
			check.Equal(t, want.name+": counted", silentFor(h, want.is), before+1)
		}
	}
	check.Equal(t, "no change", c.entry().Address(), here)
	_, err = h.Route(here, append([]byte{byte(CRC)}, good[1:]...))
	check.Equal(t, "place", []any{err.(*Error).Place(), err.(*Error).Rule()}, []any{0, "CXE-21"})
}

// Lists of entries keep their order, whichever leaves.
func TestListsOfEntries(t *testing.T) {
	var l entryList
	entries := make([]Entry, 4)
	for i := range entries {
		l.append(&entries[i])
	}
	order := func() (list []int) {
		var last *Entry
		for e := l.first; e != nil; last, e = e, e.next {
			check.That(t, e.prev == last && e.list == &l, "the way back")
			for i := range entries {
				if e == &entries[i] {
					list = append(list, i)
				}
			}
		}
		check.That(t, l.last == last, "the last")
		return list
	}
	entries[1].unlist()
	check.Equal(t, "the second leaves", order(), []int{0, 2, 3})
	entries[1].unlist()
	l.append(&entries[0])
	check.Equal(t, "the first goes to the end", order(), []int{2, 3, 0})
	entries[0].unlist()
	check.Equal(t, "the last leaves", order(), []int{2, 3})
	entries[2].unlist()
	entries[3].unlist()
	check.Equal(t, "none", []any{len(order()), l.due()}, []any{0, core.Never})
}

// An entry counts where it was made, wherever it goes: a move makes no room, and needs none
// (CXA-26).
func TestMovingMakesNoRoom(t *testing.T) {
	h := newHost(t, with(open, func(c *ServerConfig) { c.MaxConnections, c.MaxPerAddress = 8, 1 }))
	a, b := confirmed(h, here, 0), confirmed(h, there, 0)
	a.from = there
	a.Move(h.now)
	a.talks()
	check.Equal(t, "it is there", a.entry().Address(), there)
	for _, from := range []Address{here, there} {
		check.Equal(t, "no room", h.says(from, newCaller(h, from, 0).challenged()), "J2 REFUSED full")
	}
	h.End(h.now, b.entry(), ConnectionClosed)
	check.Equal(t, "room there", h.says(there, newCaller(h, there, 0).challenged()), "J3 LINKED")
	h.End(h.now, a.entry(), ConnectionClosed)
	check.Equal(t, "room here", h.says(here, newCaller(h, here, 0).challenged()), "J3 LINKED")
	h.now += Remember
	h.polls()
	check.Equal(t, "nothing is left", []int{len(h.prefixes), h.Stats().Living, h.Stats().Ended}, []int{0, 0, 0})
}

// The log of a server has the rows by which an entry changes its state, and no others.
func TestTheLogOfAServer(t *testing.T) {
	var log logtest.Text
	h := newHost(t, with(open, func(c *ServerConfig) { c.Log = log.Add }))
	c := confirmed(h, here, 0)
	check.Equal(t, "data", h.hears(here, c.data("more")), "J18")
	h.End(h.now, c.entry(), ConnectionClosed)
	link := c.Link().ID()
	check.Equal(t, "log", log.Lines, []string{
		fmt.Sprintf("1000000.000 server %d state machine=session-server from=FREE to=UNCONFIRMED row=J3", link),
		fmt.Sprintf("1000010.000 server %d state machine=session-server from=UNCONFIRMED to=CONFIRMED row=J9", link),
		fmt.Sprintf("1000010.000 server %d state machine=session-server from=CONFIRMED to=ENDED row=J20", link),
	})
}

// A key is needed for a PROOF of an identity whose cookie is good here and now, unless it resumes a connection that
// lives: only for that a server asks elsewhere (CXS-20).
func TestWhatNeedsAKey(t *testing.T) {
	h := newHost(t, anyone(AEAD))
	needs := func(from Address, datagram []byte) string {
		identity, ok := h.NeedsKey(h.now, from, datagram)
		return fmt.Sprint(identity*uint64(map[bool]int{true: 1}[ok]), " ", ok)
	}
	c := newCaller(h, here, 7)
	check.Equal(t, "a LINK", needs(here, c.sends()), "0 false")
	c = newCaller(h, here, 7)
	proof := c.challenged()
	check.Equal(t, "a PROOF", needs(here, proof), "7 true")
	check.Equal(t, "from elsewhere", needs(elsewhere, proof), "0 false")
	check.Equal(t, "cut", needs(here, proof[:len(proof)-1]), "0 false")
	check.Equal(t, "anonymous", needs(here, newCaller(h, here, 0).challenged()), "0 false")

	d := confirmed(h, there, 8)
	d.Move(h.now)
	moved := d.challenged()
	check.Equal(t, "it resumes", needs(there, moved), "0 false")
	check.Equal(t, "the connection ends", h.End(h.now, d.entry(), ConnectionClosed).Kind, EventEnded)
	check.Equal(t, "it resumes what has ended", needs(there, moved), "8 true")
	h.now += CookieLife
	check.Equal(t, "too old", needs(here, proof), "0 false")
}
