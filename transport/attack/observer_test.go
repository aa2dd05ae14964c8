package attack

import (
	"bytes"
	"errors"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
)

// An observer reads everything and can send anything to both ends with any source, but
// has no key and stops nothing. His datagrams are there before the true ones.

// observed lets a client and its server talk until the client is open again or over, at most 12
// s, and gives an observer a turn before each message arrives. It returns how long that took.
func (g *testClient) observed(turn func(datagram []byte)) core.Micros {
	start := g.server.now
	for first := true; first || g.State() == session.Linking || g.State() == session.Relinking; first = false {
		if g.server.now-start > 12*second {
			break
		}
		g.goes(10*msec, func(datagram []byte) []byte {
			turn(datagram)
			return datagram
		})
	}
	return g.server.now - start
}

// attempts are a client that links, and one that goes on at another address.
var attempts = map[string]func(d *testServer) *testClient{
	"linking": func(d *testServer) *testClient { return d.newClient("192.0.2.1:9000", 1, nil) },
	"linking again": func(d *testServer) *testClient {
		g := d.opened("192.0.2.1:9000", 1)
		g.at = "192.0.2.2:9000"
		g.Move(d.now)
		return g
	},
}

// Forged refusals, with every reason and with proofs by other keys, end nothing and delay nothing
// (CXA-23, CXA-30, CXA-32).
func TestForgedRefusals(t *testing.T) {
	for name, begin := range attempts {
		g := begin(newTestServer(t, false, nil))
		forged := 0
		took := g.observed(func(datagram []byte) {
			m := check.Must(session.Decode(datagram))
			challenge := session.Message{Kind: session.KindChallenge, Stamp: m.Stamp, Cookie: m.Cookie}
			challenge.Nonce = m.Nonce
			for reason := session.Full; reason <= session.Replaced; reason++ {
				refused := session.Message{Kind: session.KindRefused, Version: session.Version, Reason: reason}
				refused.Nonce = m.Nonce
				g.receives(encode(refused))
				for _, key := range []session.Key{{}, keys[2]} {
					w, _ := session.Work(key, session.Key{}, session.Key{}, session.Share{}, &challenge, &m, &session.Message{Kind: session.KindLinked}, &refused)
					refused.Proof = w.Refused
					g.receives(encode(refused))
				}
				forged += 3
			}
		})
		t.Logf("%s: %v after %v in spite of %d forged refusals", name, g.State(), took, forged)
		check.Same(t, name, g.State(), session.Open)
		check.That(t, took <= 100*msec, "within 100 ms")
	}
}

// A refusal that the server has proven, of a PROOF of somebody else with another offer: the
// observer has a challenge for his own address, sends it on to the client, so that the client
// proves it, and the server's refusal after it (CXA-35).
func TestARefusalOfAnothersProof(t *testing.T) {
	for name, begin := range attempts {
		d := newTestServer(t, false, nil)
		g := begin(d)
		const own = "198.51.100.1:9000"
		got := 0
		took := g.observed(func(datagram []byte) {
			if session.Kind(datagram[0]) != session.KindLink {
				return
			}
			for _, resume := range []byte{7, 8} {
				link := changed(datagram, func(m *session.Message) { m.Reserved[0] = resume })
				challenge, _ := d.gets(own, link)
				g.receives(challenge)
				g.polls()
				proof := check.Must(session.Decode(challenge))
				proof.Kind, proof.Mode, proof.Timeout, proof.Identity = session.KindProof, session.AEAD, second, 1
				sent := check.Must(session.Decode(link))
				proof.Digest = session.DigestOf(&sent)
				if refused, _ := d.gets(own, encode(proof)); refused != nil {
					got++
					g.receives(refused)
				}
			}
		})
		check.That(t, got > 0, "the server refuses, and so the test tests something")
		check.Same(t, name, g.State(), session.Open)
		check.That(t, took <= 500*msec, "within 500 ms")
	}
}

// Forged challenges before each answer of the server. The largest stamp shuts nothing out; each
// costs the client a PROOF, 100 a second, and so time (CXA-33).
func TestForgedChallenges(t *testing.T) {
	for name, begin := range attempts {
		for _, forged := range []int{1, 7, 40} {
			g := begin(newTestServer(t, false, nil))
			stamp := uint64(1<<62 - 1)
			took := g.observed(func(datagram []byte) {
				m := check.Must(session.Decode(datagram))
				if m.Kind != session.KindLink {
					return
				}
				for range forged {
					challenge := session.Message{Kind: session.KindChallenge, Stamp: stamp, Version: session.Version, Versions: session.Versions{session.Version}}
					challenge.Nonce = m.Nonce
					stamp--
					g.receives(encode(challenge))
				}
			})
			t.Logf("%s: %d forged challenges for each LINK: %v after %v, %d PROOFs", name, forged, g.State(), took, g.Stats().Proofs)
			check.Same(t, name, g.State(), session.Open)
			check.That(t, took <= second, "within a second")
		}
	}
}

// Challenges all the time, over a path with a round trip of 50 ms, from somebody who sees the
// nonce and does not stop sending. A client that keeps only the latest ones does not link at
// 100 a second.
func TestAFloodOfForgedChallenges(t *testing.T) {
	for _, rate := range []int{10, 100, 1000, 10_000} {
		d := newTestServer(t, false, nil)
		g := d.newClient("192.0.2.1:9000", 1, nil)
		var path [2][][]byte // what arrives in 25 ms, 24 ms, …
		var stamp uint64
		start := d.now
		for ; g.State() == session.Linking; d.now += msec {
			ms := int((d.now - start) / msec)
			for range ms*rate/1000 - (ms-1)*rate/1000 {
				if len(g.sent) == 0 {
					break
				}
				stamp++
				challenge := session.Message{Kind: session.KindChallenge, Stamp: stamp, Version: session.Version, Versions: session.Versions{session.Version}}
				challenge.Nonce = check.Must(session.Decode(g.sent[0])).Nonce
				g.receives(encode(challenge))
			}
			up, down := []byte(nil), []byte(nil)
			if all := g.polls(); len(all) > 0 {
				up = bytes.Join(all, nil)
			}
			path[0] = append(path[0], up)
			if ms >= 25 && path[0][ms-25] != nil {
				down, _ = d.gets(g.at, path[0][ms-25])
			}
			path[1] = append(path[1], down)
			if ms >= 25 && path[1][ms-25] != nil {
				g.receives(path[1][ms-25])
			}
		}
		took := d.now - start
		t.Logf("%d forged challenges a second: %v after %v", rate, g.State(), took.Duration())
		if rate <= 1000 {
			check.Same(t, "the client", g.State(), session.Open)
			check.That(t, took <= second, "within a second")
		}
	}
}

// One bit of one message of the handshake is wrong: the handshake is done all the same, some
// tries later, and both ends agree on what the client offered. (No downgrade: CXP-3, CXK-6,
// CXK-7, CXA-38).
func TestEveryBitOfTheHandshake(t *testing.T) {
	changedBits := 0
	for name, begin := range attempts {
		for _, kind := range []session.Kind{session.KindLink, session.KindChallenge, session.KindProof, session.KindLinked} {
			for bit := 0; ; bit++ {
				d := newTestServer(t, false, nil)
				g := begin(d)
				done := false
				g.goes(1500*msec, func(datagram []byte) []byte {
					if done || session.Kind(datagram[0]) != kind || bit/8 >= len(datagram) {
						return datagram
					}
					done = true
					datagram = bytes.Clone(datagram)
					datagram[bit/8] ^= 1 << (bit % 8)
					return datagram
				})
				if !done {
					break
				}
				changedBits++
				if g.State() != session.Open {
					t.Fatalf("%s: bit %d of %v: %v: %v", name, bit, kind, g.State(), g.Err())
				}
				check.Same(t, "data to the server", d.opens(g.at, g.seals()), nil)
				check.Same(t, "data to the client", g.hears(g.entry()), nil)
				check.Equal(t, "agreed", g.Link().Agreed(), session.Agreed{
					Link: g.Link().ID(), Lanes: 1, Variant: session.VariantRepair, Timeout: session.DefaultTimeout,
				})
				check.Equal(t, "agreed at the server", g.entry().Link().Agreed(), g.Link().Agreed())
				check.Same(t, "living", d.Stats().Living, 1)
			}
		}
	}
	t.Logf("%d bits", changedBits)
}

// An observer who sends a message on from an address of his own, both ways, gets the datagrams
// there; that is what he could do with his cable. He opens none of them, and when he
// stops the client is back after SILENCE.
func TestARelayingObserver(t *testing.T) {
	d := newTestServer(t, false, nil)
	g := d.newClient("192.0.2.1:9000", 1, nil)
	const own = "198.51.100.1:9000"
	relayed := *g
	relayed.at = own
	relayed.goes(50*msec, nil)
	check.Same(t, "the client", g.State(), session.Open)
	check.Same(t, "where it is", d.Find(g.Link().ID()).Address(), session.AddressOfText(own))
	check.That(t, errors.Is(d.opens(g.at, g.seals()), session.ErrAddress), "the client's own address is another")
	g.goes(5*second, nil)
	check.Same(t, "where it is", g.entry().Address(), session.AddressOfText(g.at))
	check.Same(t, "the client", g.State(), session.Open)
	check.Same(t, "data", d.opens(g.at, g.seals()), nil)
}
