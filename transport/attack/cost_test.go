package attack

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/chunkwire/chunkwire/internal/check"
	"github.com/chunkwire/chunkwire/session"
)

var rng = rand.New(rand.NewPCG(1, 2))

// forgedKinds are datagrams that an attacker can send at no cost to himself, each by its kind, at a desk with
// living connections.
func forgedKinds(d *desk, g *guest) []forgery {
	f := newFlooder(session.AEAD, 1, g.Link().ID())
	known := func(counter uint32, body int) []byte {
		return dataDatagram(session.AEAD, g.Link().ID(), counter, body)
	}
	return []forgery{
		{"LINK", f.link},
		{"PROOF", f.proof},
		{"CHALLENGE", encode(session.Message{Kind: session.KindChallenge})},
		{"data of an unknown link", f.data},
		{"data of a known link", known(100, 1100)},
		{"a short one of a known link", known(100, 1)},
		{"one of 65,507 bytes of a known link", known(100, 65_507-25)},
		{"an old one of a known link", g.sealed},
		{"garbage", make([]byte, 1200)},
	}
}

// costs makes a desk with so many connections, and what a forged datagram does to it.
func costs(tb testing.TB, connections int) (*desk, *guest, func(f forgery)) {
	d := newDesk(tb, false, func(c *session.ServerConfig) {
		c.MaxConnections, c.MaxPerAddress = connections, connections
		c.Keys = func(identity uint64) (session.Key, bool) { return keys[1], true }
	})
	var g *guest
	for i := range connections {
		g = d.guest("192.0.2.1:9000", uint64(i+1), func(c *session.ClientConfig) { c.Key = keys[1] })
		g.goes(20*msec, nil)
		g.sealed = g.seals()
		check.Same(tb, "data", d.opens(g.at, g.sealed), nil)
	}
	answer, body := make([]byte, 0, 2048), make([]byte, 0, 1<<16)
	from := session.AddressOfText(g.at)
	return d, g, func(f forgery) {
		if len(f.datagram) > 10 {
			binary.LittleEndian.PutUint16(f.datagram[6:], uint16(rng.Uint32())) // a nonce of its own, or a counter
		}
		if e, err := d.Route(from, f.datagram); err == nil {
			if _, err := e.Link().Open(body, f.datagram); err == nil {
				tb.Fatalf("%s is taken", f.name)
			}
			return
		}
		d.Receive(d.now, from, f.datagram, answer)
	}
}

// A forged datagram, whatever it is, allocates nothing.
func TestForgedDatagramsAllocateNothing(t *testing.T) {
	d, g, give := costs(t, 10)
	for _, f := range forgedKinds(d, g) {
		if n := testing.AllocsPerRun(100, func() { give(f) }); n != 0 {
			t.Errorf("%s: %v allocations", f.name, n)
		}
	}
}

// A5: what a forged datagram costs does not depend on how many connections there are.
func BenchmarkForged(b *testing.B) {
	for _, connections := range []int{10, 10_000} {
		d, g, give := costs(b, connections)
		for _, f := range forgedKinds(d, g) {
			b.Run(f.name+" of "+map[int]string{10: "10", 10_000: "10,000"}[connections], func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					give(f)
				}
			})
		}
	}
}
