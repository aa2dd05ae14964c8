package attack

import (
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection/session"
)

// What somebody can hold who owns addresses, and has no key or needs none.

// knocks makes an anonymous client at an address link, and returns whether it is open.
func (d *testServer) knocks(at string) (g *testClient, open bool) {
	g = d.newClient(at, 0, nil)
	return g, g.knocks()
}

// knocks lets a client link, without any time, and returns whether it is open.
func (g *testClient) knocks() (open bool) {
	d, at := g.server, g.at
	for _, link := range g.polls() {
		challenge, _ := d.gets(at, link)
		g.receives(challenge)
	}
	for _, proof := range g.polls() {
		if answer, _ := d.gets(at, proof); answer != nil {
			g.receives(answer)
		}
	}
	return g.State() == session.Open
}

// small is a server with room for 64 connections, 16 of them at one address.
func small(c *session.ServerConfig) { c.MaxConnections, c.MaxPerAddress = 64, 16 }

// at returns an address of the i-th prefix.
func at(prefix, port int) string { return fmt.Sprintf("192.0.2.%d:%d", prefix, port) }

// One address holds its share and no more, half-open or not; half-open ones for 5 s (CXS-7, J10,
// CXA-26).
func TestOneAddressHoldsItsShare(t *testing.T) {
	d := newTestServer(t, true, small)
	for i := range 100 {
		d.knocks(at(1, 1000+i))
	}
	check.Same(t, "living", d.Stats().Living, 16)
	if _, open := d.knocks(at(2, 1)); !open {
		t.Error("another address finds no room")
	}
	d.passes(session.HalfOpen)
	check.Same(t, "living after 5 s", d.Stats().Living, 0)
	for i := range 100 {
		if g, open := d.knocks(at(1, 3000+i)); open {
			check.Same(t, "data", d.opens(g.at, g.seals()), nil)
		}
	}
	d.passes(session.HalfOpen)
	check.Same(t, "living", d.Stats().Living, 16)
	if _, open := d.knocks(at(2, 1)); !open {
		t.Error("another address finds no room")
	}
	// Of IPv6 it is the first 64 bits that one holds alone, and a mapped address is that of IPv4.
	for i := range 100 {
		d.knocks(fmt.Sprintf("[2001:db8:1:1::%x]:9000", i+1))
		d.knocks(fmt.Sprintf("[::ffff:192.0.2.1]:%d", 7000+i))
	}
	check.Same(t, "living", d.Stats().Living, 16+1+16)
}

// Who owns two addresses cannot move connections to one to make room at the other (CXS-7,
// CXA-26).
func TestMovingMakesNoRoom(t *testing.T) {
	d := newTestServer(t, true, small)
	for i := range 100 {
		g, open := d.knocks(at(1, 1000+i))
		if !open {
			continue
		}
		check.Same(t, "data", d.opens(g.at, g.seals()), nil)
		g.at = at(2, 1000+i)
		g.Move(d.now)
		g.goes(100*msec, nil)
		check.Same(t, "where it is", g.entry().Address(), session.AddressOfText(g.at))
	}
	check.Same(t, "living", d.Stats().Living, 16)
}

// Connections that begin and end all the time, 1,000 a second from one address, shut nobody else
// (CXA-27).
// out, although each is remembered for 10 s (CXS-7).
func TestEndedConnectionsShutNobodyOut(t *testing.T) {
	d := newTestServer(t, true, small)
	most := 0
	for i := range 15_000 {
		if g, open := d.knocks(at(1, 1+i)); open {
			check.Same(t, "data", d.opens(g.at, g.seals()), nil)
			d.End(d.now, g.entry(), session.ConnectionClosed)
		}
		if i%10 == 0 {
			d.passes(10 * msec)
		}
		most = max(most, d.Stats().Ended)
	}
	t.Logf("at most %d entries of ended connections", most)
	check.That(t, most <= 4*16, "four for each connection that the address may have")
	if _, open := d.knocks(at(2, 1)); !open {
		t.Error("another address finds no room")
	}
}

// Who has no key does not make a server remember an ended connection for longer, and learns
// nothing of a key's holder but that the identity exists.
func TestNoKeyProlongsNothing(t *testing.T) {
	d := newTestServer(t, false, nil)
	g := d.opened("192.0.2.1:9000", 1)
	d.End(d.now, g.entry(), session.ConnectionClosed)
	for range 30 {
		x := d.newClient("198.51.100.1:9000", 1, func(c *session.ClientConfig) { c.Key = session.Key{66} })
		for _, link := range x.polls() {
			m := session.Message{Kind: session.KindProof}
			m.Nonce, m.Mode, m.Timeout = check.Must(session.Decode(link)).Nonce, session.AEAD, session.DefaultTimeout
			m.Identity, m.Resume = 1, 7
			d.gets(x.at, d.proved(x.at, session.Key{66}, session.Key{66}, m))
		}
		d.passes(second)
	}
	check.Equal(t, "living, ended", []int{d.Stats().Living, d.Stats().Ended}, []int{0, 0})
}

// An identity that the server does not know, and one with another key, get the same answer.
func TestAnIdentityIsNotRevealed(t *testing.T) {
	answer := func(identity uint64) []byte {
		d := newTestServer(t, false, nil)
		x := d.newClient("198.51.100.1:9000", identity, func(c *session.ClientConfig) { c.Key = session.Key{66} })
		x.goes(100*msec, nil)
		return last(t, x.got, session.KindRefused)
	}
	check.Equal(t, "to a known identity with another key", answer(1), answer(99))
}

// A flood of forged LINKs, PROOFs and data from 100,000 addresses: no entry, no key asked for, no
// memory.
func TestAFloodKeepsNothing(t *testing.T) {
	d := newTestServer(t, false, nil)
	g := d.opened("192.0.2.1:9000", 1)
	asked := d.asked
	f := newFlooder(session.AEAD, 1, g.Link().ID())
	var before, after runtime.MemStats
	answer := make([]byte, 0, 2048)
	runtime.GC()
	runtime.ReadMemStats(&before)
	const n = 100_000
	for i := range n {
		from := session.AddressOfText("192.0.2.1:9000")
		from[15], from[14], from[16] = byte(i), byte(i>>8), byte(i>>16)
		datagram := f.next(rng)
		d.Receive(d.now, from, datagram, answer)
		d.Route(from, datagram)
	}
	runtime.ReadMemStats(&after)
	allocated := after.TotalAlloc - before.TotalAlloc
	runtime.GC()
	runtime.ReadMemStats(&after)
	st := d.Stats()
	t.Logf("%d forged datagrams: %d CHALLENGEs, %d B allocated for each (the forger's included), heap grew by %d B",
		n, st.Challenges, allocated/n, max(0, int64(after.HeapAlloc)-int64(before.HeapAlloc)))
	check.Equal(t, "living, ended, keys asked for", []int{st.Living, st.Ended, d.asked - asked}, []int{1, 0, 0})
	check.Same(t, "data", d.opens(g.at, g.seals()), nil)
}

// What is left to who owns addresses: four of them fill a server without keys, for as long as
// they say something within the time-out, and a newcomer is refused at once. With keys each
// identity has one place.
func TestFourAddressesFillAServer(t *testing.T) {
	d := newTestServer(t, true, small)
	for i := range 100 {
		for prefix := range 4 {
			if g, open := d.knocks(at(1+prefix, 1000+i)); open {
				check.Same(t, "data", d.opens(g.at, g.seals()), nil)
			}
		}
	}
	check.Same(t, "living", d.Stats().Living, 64)
	newcomer, open := d.knocks(at(9, 1))
	check.That(t, !open, "there is no room")
	check.That(t, errors.Is(newcomer.Err(), &session.RefusedError{Reason: session.Full}), "the newcomer is refused")
	keyed := newTestServer(t, false, small)
	for i := range 100 {
		g := keyed.newClient(at(1+i%4, 1000+i), 1, nil)
		check.That(t, g.knocks(), "the client is open")
		check.Same(t, "data", keyed.opens(g.at, g.seals()), nil)
		keyed.passes(10 * msec)
	}
	check.Same(t, "living with one identity", keyed.Stats().Living, 1)
}
