package session

import (
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
)

var (
	sinkBytes []byte
	sinkEntry *Entry
)

// What the envelope of a datagram costs, at the end that seals it and at the one that opens it; and
// what one costs whose tag is forged, or whose counter came before.
func BenchmarkEnvelope(b *testing.B) {
	for _, mode := range modes {
		for _, size := range []int{60, 1050} {
			x, y := pair(mode, 0)
			body, out, in := make([]byte, size), make([]byte, 0, 2000), make([]byte, 0, 2000)
			name := fmt.Sprint(mode, ", ", size, " bytes")
			b.Run("seal, "+name, func(b *testing.B) {
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for range b.N {
					sinkBytes = x.Seal(out, body)
				}
			})
			b.Run("seal and open, "+name, func(b *testing.B) {
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for range b.N {
					if sinkBytes, sinkErr = y.Open(in, x.Seal(out, body)); sinkErr != nil {
						b.Fatal(sinkErr)
					}
				}
			})
			again := x.Seal(nil, body)
			sinkBytes, sinkErr = y.Open(in, again)
			for what, d := range map[string][]byte{"again": again, "forged": altered(x.Seal(nil, body), 8*(9+size))} {
				b.Run("open "+what+", "+name, func(b *testing.B) {
					b.ReportAllocs()
					for range b.N {
						if sinkBytes, sinkErr = y.Open(in, d); sinkErr == nil {
							b.Fatal("it is opened")
						}
					}
				})
			}
		}
	}
}

// Whole handshakes, both ends together: each makes a client, its connection at the server, and ends
// it. The figure of the server alone is that of its two answers.
func BenchmarkHandshake(b *testing.B) {
	for _, mode := range modes[1:] {
		b.Run(mode.String(), func(b *testing.B) {
			b.ReportAllocs()
			h := newHost(b, with(keyed, func(c *ServerConfig) { c.Mode = mode }))
			random, asked, answered := source(9), 0, 0
			for range b.N {
				c, err := NewClient(h.now, ClientConfig{Terms: h.terms, Identity: 7, Key: keyOf(7), Random: random})
				if err != nil {
					b.Fatal(err)
				}
				for c.State() != Open {
					d, _ := c.Poll(h.now, nil)
					answer, _, err := h.Receive(h.now, here, d, nil)
					if err != nil || c.Receive(h.now, answer) != nil {
						b.Fatal("no answer")
					}
					asked, answered = asked+len(d), answered+len(answer)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "handshakes/s")
			b.ReportMetric(float64(asked)/float64(b.N), "B-client/op")
			b.ReportMetric(float64(answered)/float64(b.N), "B-server/op")
		})
	}
	b.Run("the server alone", func(b *testing.B) {
		b.ReportAllocs()
		h := newHost(b, keyed)
		c := newCaller(h, here, 7)
		out := make([]byte, 0, 200)
		for range b.N {
			b.StopTimer()
			c.offer.Nonce[0]++
			c.offer.Nonce[1] += c.offer.Nonce[0] & 1
			link := newLink(c)
			proof := c.again(here, keyOf(7))
			b.StartTimer()
			sinkBytes, _, _ = h.Receive(h.now, here, link, out)
			sinkBytes, _, sinkErr = h.Receive(h.now, here, proof, out)
			if sinkErr != nil {
				b.Fatal(sinkErr)
			}
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "handshakes/s")
	})
}

// What a server spends on one datagram of who is nobody.
func BenchmarkForgedAtServer(b *testing.B) {
	h := newHost(b, with(keyed, func(c *ServerConfig) { c.Mode = MAC }))
	c := confirmed(h, here, 7)
	foreign := newCaller(h, there, 8)
	link := newLink(foreign)
	good := foreign.again(there, keyOf(9)) // the cookie is right, the proof is not
	out := make([]byte, 0, 200)
	for name, d := range map[string][]byte{
		"LINK": link, "PROOF with a wrong cookie": altered(good, 8*60), "PROOF with a wrong proof": good, "nonsense": []byte("nonsense"),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				sinkBytes, _, sinkErr = h.Receive(h.now, there, d, out)
			}
		})
	}
	data := c.data("sixty bytes of a body, as a player sends them each tick, 60...")
	for name, x := range map[string]struct {
		from     Address
		datagram []byte
	}{"of no link": {here, altered(data, 9)}, "from elsewhere": {there, data}, "with a wrong tag": {here, altered(data, 8*len(data)-1)}} {
		b.Run("data "+name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				if sinkEntry, sinkErr = h.Route(x.from, x.datagram); sinkErr == nil {
					sinkBytes, sinkErr = sinkEntry.Link().Open(out, x.datagram)
				}
				if sinkErr == nil {
					b.Fatal("it is taken")
				}
			}
		})
	}
}

// What a client spends on one: with its nonce, while it has the most challenges that it keeps.
func BenchmarkForgedAtClient(b *testing.B) {
	h := newHost(b, keyed)
	c := newCaller(h, here, 7)
	proof := check.Must(Decode(c.challenged()))
	linked := h.takes(here, c.last)
	for n := range KeptChallenges {
		c.challenges = append(c.challenges[:n], challenge{stamp: uint64(n), takenAt: h.now, proved: true})
	}
	m := Message{Kind: KindRefused, Version: 1, Reason: Full, Proof: [16]byte{1}}
	m.Nonce = proof.Nonce
	for name, d := range map[string][]byte{
		"LINKED": altered(linked, 8*50), "REFUSED": check.Must(m.Append(nil)), "LINKED of another nonce": altered(linked, 8),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				if sinkErr = c.Receive(h.now, d); sinkErr == nil {
					b.Fatal("it is taken")
				}
			}
		})
	}
}
