package attack

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
)

const (
	msec   = core.Millisecond
	second = core.Second
)

// Whatever somebody sends who has seen nothing: the answer is smaller, there is at most one, and
// nothing is kept (CXS-1, CXS-18, CXA-20, CXA-21).
func TestBlindDatagrams(t *testing.T) {
	for _, anonymous := range []bool{true, false} {
		d := newTestServer(t, anonymous, nil)
		answers := map[string]int{}
		for _, f := range blind() {
			if answer, _ := d.gets("192.0.2.1:9000", f.datagram); answer != nil {
				answers[fmt.Sprintf("%s draws %s of %d bytes", kindOf(f.datagram), kindOf(answer), len(answer))]++
			}
			check.Same(t, "why data was refused", d.opens("192.0.2.1:9000", f.datagram) == nil, false)
		}
		t.Logf("anonymous %v: of %d datagrams: %v", anonymous, len(blind()), answers)
		st := d.Stats()
		check.Equal(t, "living, ended, keys asked for", []int{st.Living, st.Ended, d.asked}, []int{0, 0, 0})
	}
}

// Whoever owns an address draws no more than that either, whatever is wrong in what he says.
func TestAnAddressOwnerDrawsLess(t *testing.T) {
	worst := map[string]float64{}
	for _, anonymous := range []bool{true, false} {
		for _, wrong := range []struct {
			name   string
			change func(*session.ClientConfig)
		}{
			{"nothing", nil},
			{"key", func(c *session.ClientConfig) { c.Key[5] ^= 1 }},
			{"identity", func(c *session.ClientConfig) { c.Identity = 77 }},
			{"protocol", func(c *session.ClientConfig) { c.Protocol = 5 }},
			{"mode", func(c *session.ClientConfig) { c.Mode = session.MAC }},
			{"format", func(c *session.ClientConfig) { c.Format[0] = 1 }},
			{"variants", func(c *session.ClientConfig) { c.Variants = 2 }},
		} {
			if anonymous && (wrong.name == "key" || wrong.name == "identity") {
				continue
			}
			d := newTestServer(t, anonymous, nil)
			identity := uint64(1)
			if anonymous {
				identity = 0
			}
			g := d.newClient("192.0.2.1:9000", identity, wrong.change)
			asked := 0
			g.goes(3*second, func(datagram []byte) []byte { // of both directions in turn
				if k := session.Kind(datagram[0]); k == session.KindLink || k == session.KindProof {
					asked = len(datagram)
				} else {
					worst[k.String()] = max(worst[k.String()], float64(len(datagram))/float64(asked))
				}
				return datagram
			})
		}
	}
	t.Logf("bytes of the answer to each that was sent, at most: %v", worst)
	for kind, factor := range worst {
		if factor >= 1 {
			t.Errorf("%s: %.2f times as much", kind, factor)
		}
	}
	if len(worst) != 3 {
		t.Error("some kind of answer did not come: the test tests nothing")
	}
}

// A cookie is for one address, one LINK and one server, for 5 s (CXK-4); and who changes another part of a
// PROOF is not let in (CXK-6).
func TestACookieOfAnother(t *testing.T) {
	d := newTestServer(t, true, nil)
	g := d.newClient("192.0.2.1:9000", 0, nil)
	g.goes(10*msec, nil)
	g.polls()
	proof := last(t, g.sent, session.KindProof)
	for _, at := range []string{"192.0.2.2:9000", "192.0.2.1:9001", "[2001:db8::1]:9000", "elsewhere"} {
		if answer, _ := d.gets(at, proof); answer != nil {
			t.Errorf("a PROOF from %s draws %d bytes", at, len(answer))
		}
	}
	for name, change := range map[string]func(m *session.Message){
		"resume":   func(m *session.Message) { m.Resume = 9 },
		"identity": func(m *session.Message) { m.Identity = 1 },
		"lanes":    func(m *session.Message) { m.Lanes = 0 },
		"stamp":    func(m *session.Message) { m.Stamp++ },
		"digest":   func(m *session.Message) { m.Digest[0]++ },
		"share":    func(m *session.Message) { m.Share[0]++ },
		"nonce":    func(m *session.Message) { m.Nonce[0] ^= 1 },
	} {
		answer, event := d.gets(g.at, changed(proof, change))
		silent := name == "stamp" || name == "digest"
		if event.Kind == session.EventMade || silent && answer != nil {
			t.Errorf("a PROOF with another %s draws %d bytes, %v", name, len(answer), event.Kind)
		}
	}
	other := newTestServer(t, true, func(c *session.ServerConfig) { d.random.Uint64(); c.Random = d.random })
	if answer, _ := other.gets(g.at, proof); answer != nil {
		t.Error("another server takes the cookie")
	}
	d.passes(session.CookieLife)
	if answer, _ := d.gets(g.at, proof); answer != nil {
		t.Error("a cookie of 5 s is taken")
	}
	check.Same(t, "living", d.Stats().Living, 0)
}

// A PROOF that an observer repeats, at any time and in any state, makes, moves, ends and revives
// nothing (CXS-6, CXA-29).
func TestRepeatedProofs(t *testing.T) {
	for _, identity := range []uint64{0, 1} {
		d := newTestServer(t, identity == 0, nil)
		g := d.opened("192.0.2.1:9000", identity)
		first := last(t, g.sent, session.KindProof)
		g.at = "192.0.2.2:9000" // a NAT gives it another address
		g.Move(d.now)
		g.goes(50*msec, nil)
		check.Same(t, "the client", g.State(), session.Open)
		moving := last(t, g.sent, session.KindProof)
		repeat := func(when string) {
			t.Helper()
			before := d.Stats()
			for _, proof := range [][]byte{first, moving} {
				for _, at := range []string{"192.0.2.1:9000", "192.0.2.2:9000", "192.0.2.3:9000"} {
					_, event := d.gets(at, proof)
					if k := event.Kind; k == session.EventMade || k == session.EventMoved || k == session.EventEnded {
						t.Errorf("identity %d, %s: a repeated PROOF at %s: %v", identity, when, at, k)
					}
				}
			}
			after := d.Stats()
			check.Equal(t, when+": living, ended", []int{after.Living, after.Ended}, []int{before.Living, before.Ended})
		}
		repeat("while it lives")
		check.Same(t, "where it is", g.entry().Address(), session.AddressOfText("192.0.2.2:9000"))
		d.End(d.now, g.entry(), session.ConnectionClosed)
		repeat("after its end")
		for range 16 { // the cookies live for 5 s, and what a PROOF asked for is remembered for 10 s then
			d.passes(second)
			repeat("later")
		}
		check.Equal(t, "living, ended", []int{d.Stats().Living, d.Stats().Ended}, []int{0, 0})
	}
}

// A PROOF that an observer holds back until its connection, or the one before, has ended, begins
// nothing. (CXS-12)
func TestAProofAfterTheEnd(t *testing.T) {
	d := newTestServer(t, false, nil)
	first := d.opened("192.0.2.1:9000", 1)
	d.passes(second)
	again := d.newClient("192.0.2.1:9000", 1, nil) // the same client has begun anew
	challenge, _ := d.gets(again.at, again.polls1())
	again.receives(challenge)
	held := again.polls1()
	d.passes(100 * msec)
	d.End(d.now, first.entry(), session.ConnectionClosed)
	_, event := d.gets(again.at, held)
	check.Same(t, "what the PROOF does", event.Kind, session.NoEvent)
	check.Same(t, "living", d.Stats().Living, 0)
	again.goes(second, nil)
	check.Same(t, "the client that tries again", again.State(), session.Open)
}

// Whoever knows a link and a nonce, and has an address of his own, does not get the connection
// there, whatever he claims to resume (CXA-34).
func TestHijackByResume(t *testing.T) {
	for _, identity := range []uint64{0, 1} {
		d := newTestServer(t, identity == 0, nil)
		g := d.opened("192.0.2.1:9000", identity)
		seen := check.Must(session.Decode(last(t, g.sent, session.KindProof)))
		const own = "198.51.100.1:9000"
		for _, resume := range []uint32{g.Link().ID(), 7, g.Link().ID() + 1} {
			for _, nonce := range []session.Nonce{seen.Nonce, {9}} {
				for _, key := range []session.Key{{}, {66}} {
					m := session.Message{Kind: session.KindProof, Offer: seen.Offer}
					m.Resume, m.Nonce = resume, nonce
					_, event := d.gets(own, d.proved(own, key, key, m))
					refused := event.Kind == session.EventRefused
					// Whoever is anonymous may begin with a hello that he saw: a connection of his own, to
					// which nobody has the keys.
					check.That(t, refused || identity == 0 && resume == 0 && event.Kind == session.EventMade, event.Kind.String())
				}
			}
		}
		if identity != 0 { // somebody with another key claims the link as his own
			x := d.newClient(own, 2, nil)
			m := session.Message{Kind: session.KindProof, Offer: seen.Offer}
			m.Nonce, m.Identity, m.Resume = check.Must(session.Decode(x.polls1())).Nonce, 2, g.Link().ID()
			_, event := d.gets(own, d.proved(own, keys[2], keys[2], m))
			check.Same(t, "what the PROOF of another identity does", event.Kind, session.EventRefused)
		}
		check.Same(t, "where it is", g.entry().Address(), session.AddressOfText(g.at))
		check.Same(t, "data", d.opens(g.at, g.seals()), nil)
	}
}

// proved draws a CHALLENGE for an address, and returns a PROOF that answers it, by the key of an identity
// and that of the connection that it resumes.
func (d *testServer) proved(at string, key, resume session.Key, m session.Message) []byte {
	link := session.Message{Kind: session.KindLink, Versions: session.Versions{session.Version}}
	link.Nonce = m.Nonce
	challenge, _ := d.gets(at, encode(link))
	c := check.Must(session.Decode(challenge))
	m.Stamp, m.Cookie, m.Digest = c.Stamp, c.Cookie, session.DigestOf(&link)
	w, _ := session.Work(key, session.Key{}, resume, session.Share{}, &c, &m, &session.Message{Kind: session.KindLinked}, &session.Message{Kind: session.KindRefused})
	m.Move, m.Proof = w.Move, w.Proof
	return encode(m)
}

// polls1 returns the one datagram that is due.
func (g *testClient) polls1() []byte {
	all := g.polls()
	if len(all) == 0 {
		g.Move(g.server.now)
		all = g.polls()
	}
	return all[0]
}

// Data of a connection from any other address is refused, and moves nothing.
func TestDataFromAnotherAddress(t *testing.T) {
	d := newTestServer(t, false, nil)
	g := d.opened("192.0.2.1:9000", 1)
	datagram := g.seals()
	for _, at := range []string{"192.0.2.2:9000", "192.0.2.1:9001"} {
		if err := d.opens(at, datagram); !errors.Is(err, session.ErrAddress) {
			t.Errorf("from %s: %v", at, err)
		}
	}
	check.Same(t, "from its own", d.opens(g.at, datagram), nil)
	check.Same(t, "again", errors.Is(d.opens(g.at, datagram), session.ErrDuplicate), true)
}

// Both directions of a connection, and two connections with the same key, have nothing in
// (CXA-31).
// common: what is sent back, or recorded in one and sent in the other, is refused. (D3, D4)
func TestDatagramsOfAnother(t *testing.T) {
	for _, mode := range modes[1:] {
		d := newTestServer(t, false, func(c *session.ServerConfig) { c.Mode = mode })
		dial := func() *testClient {
			g := d.newClient("192.0.2.1:9000", 1, func(c *session.ClientConfig) { c.Mode = mode })
			g.goes(20*msec, nil)
			check.Same(t, "the client", g.State(), session.Open)
			check.Same(t, "data", d.opens(g.at, g.seals()), nil)
			return g
		}
		old := dial()
		var mine, yours [][]byte
		for range 50 {
			mine = append(mine, old.seals())
			yours = append(yours, old.entry().Link().Seal(nil, []byte("data")))
		}
		for i := range mine {
			if _, err := old.Link().Open(nil, mine[i]); err == nil {
				t.Fatalf("%v: the client opens its own datagram", mode)
			}
			if err := d.opens(old.at, yours[i]); err == nil {
				t.Fatalf("%v: the server opens its own datagram", mode)
			}
		}
		for _, message := range append(old.sent, dataDatagram(mode, 7, 0, 5)) {
			if old.Receive(d.now, message) == nil {
				t.Fatalf("%v: the client takes its own %s", mode, kindOf(message))
			}
		}
		now := dial() // in place of the old one
		for i := range mine {
			for _, link := range []uint32{old.Link().ID(), now.Link().ID()} { // also with the new link written into it
				put := func(b []byte) []byte {
					b = bytes.Clone(b)
					b[1], b[2], b[3], b[4] = byte(link), byte(link>>8), byte(link>>16), byte(link>>24)
					return b
				}
				if d.opens(now.at, put(mine[i])) == nil {
					t.Fatalf("%v: the server opens a datagram of an old connection", mode)
				}
				if _, err := now.Link().Open(nil, put(yours[i])); err == nil {
					t.Fatalf("%v: the client opens a datagram of an old connection", mode)
				}
			}
		}
	}
}

// A server with the same keys takes nothing of another one's connections (CXK-10).
func TestTwoServersWithTheSameKeys(t *testing.T) {
	here, there := newTestServer(t, false, nil), newTestServer(t, false, nil)
	there.random.Uint64()
	there.Server = check.Must(session.NewServer(session.ServerConfig{
		Terms: session.Terms{Lanes: 1}, Random: there.random,
		Keys: func(identity uint64) (session.Key, bool) { key, ok := keys[identity]; return key, ok },
	}))
	g := here.opened("192.0.2.1:9000", 1)
	for _, datagram := range append(g.sent, g.seals()) {
		answer, event := there.gets(g.at, datagram)
		if event.Kind != session.NoEvent && event.Kind != session.EventChallenged {
			t.Errorf("%s draws %d bytes: %v", kindOf(datagram), len(answer), event.Kind)
		}
		if there.opens(g.at, datagram) == nil {
			t.Errorf("%s is opened", kindOf(datagram))
		}
	}
}
