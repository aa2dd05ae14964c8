package attack

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/packet"
	"github.com/chunkwire/chunkwire/transport"
)

// An attacker on the path: what he repeats, sends back and invents changes nothing
// that either end delivers.

// connected is a client and a server of connections with a relay between them.
type connected struct {
	relay        *relay
	server       *transport.Server
	client, peer *transport.Peer
}

// keysFor returns the keys of a server: there are none where nothing is protected.
func keysFor(mode session.Mode) func(context.Context, uint64) (session.Key, error) {
	if mode == session.CRC {
		return nil
	}
	return anyKey
}

func connect(t *testing.T, n network, mode session.Mode) connected {
	t.Helper()
	s := check.Must(transport.New(n.bind(t, "127.0.0.1:9000"), transport.Config{
		Mode: mode, Keys: keysFor(mode),
	}))
	t.Cleanup(func() { s.Close() })
	r := n.relay(t, s.Addr())
	cfg := newIdentity()
	if cfg.Mode = mode; mode == session.CRC {
		cfg.Identity, cfg.Key = 0, session.Key{}
	}
	c := check.Must(transport.Over(background, n.bind(t, "127.0.0.5:9000"), r.addr(), cfg))
	t.Cleanup(func() { c.Close(0, "") })
	return connected{r, s, c, check.Must(s.Accept(background))}
}

// talks sends a chunk and messages both ways, and checks that each arrives once and in order. It
// returns how long that took.
func (c connected) talks(t *testing.T) time.Duration {
	t.Helper()
	const messages = 200
	start := time.Now()
	done := make(chan error, 4)
	for _, way := range [][2]*transport.Peer{{c.client, c.peer}, {c.peer, c.client}} {
		from, to := way[0], way[1]
		chunk := bytes.Repeat([]byte("chunk"), 50_000)
		go func() {
			for i := range messages {
				if err := from.Channel(1).SendWait(background, fmt.Append(nil, "message ", i)); err != nil {
					done <- err
					return
				}
			}
			done <- from.Chunks().Send(background, chunk)
		}()
		go func() {
			for i := range messages {
				got, err := to.Channel(1).Recv(background)
				if err != nil || string(got) != fmt.Sprint("message ", i) {
					done <- fmt.Errorf("message %d is %q: %w", i, got, err)
					return
				}
			}
			got, err := to.Chunks().Recv(background)
			if err == nil && !bytes.Equal(got, chunk) {
				err = fmt.Errorf("another chunk")
			}
			done <- err
		}()
	}
	for range 4 {
		check.Same(t, "the transfer", <-done, nil)
	}
	took := time.Since(start)
	for _, p := range []*transport.Peer{c.client, c.peer} {
		if message, ok := p.Channel(1).TryRecv(); ok {
			t.Errorf("%q came again", message)
		}
	}
	return took
}

// Everything is repeated, at once and a second later, and sent back to where it came from.
func TestEverythingRepeatedAndSentBack(t *testing.T) {
	for _, mode := range modes {
		var took [2]time.Duration
		for i := range took {
			virtual(t, func(t *testing.T, n network) {
				n.sim.SetDefault(netsim.Path{Delay: 5 * ms})
				c := connect(t, n, mode)
				if i == 1 {
					c.relay.filter(func(d direction, datagram []byte) bool {
						copied := bytes.Clone(datagram)
						c.relay.send(d, copied)
						c.relay.send(1-d, copied)
						time.AfterFunc(time.Second, func() {
							c.relay.send(d, copied)
							c.relay.send(1-d, copied)
						})
						return true
					})
				}
				took[i] = c.talks(t)
				time.Sleep(5 * time.Second)
				check.Same(t, "client", c.client.Err(), nil)
				check.Same(t, "server", c.peer.Err(), nil)
			})
		}
		t.Logf("%v: %v undisturbed, %v with three copies of everything and three sent back", mode, took[0], took[1])
		check.That(t, took[1] < 2*took[0], "within twice the time")
	}
}

// Whoever sees everything, but has no key, writes everything that he can into the stream:
// messages of the handshake with the nonces that he saw, data with the link and the next
// counters.
func TestEverythingForged(t *testing.T) {
	for _, mode := range modes[1:] { // a checksum protects from nobody who can read
		virtual(t, func(t *testing.T, n network) {
			n.sim.SetDefault(netsim.Path{Delay: 5 * ms})
			c := connect(t, n, mode)
			forged := 0
			c.relay.filter(func(d direction, datagram []byte) bool {
				for _, f := range forgeriesOf(datagram, c.relay.recorded(1-d)) {
					forged++
					c.relay.send(d, f)
				}
				return true
			})
			took := c.talks(t)
			c.relay.filter(nil)
			t.Logf("%v: %v with %d forged datagrams", mode, took, forged)
			time.Sleep(5 * time.Second)
			check.Same(t, "client", c.client.Err(), nil)
			check.Same(t, "server", c.peer.Err(), nil)
		})
	}
}

// forgeriesOf returns what an observer makes of a datagram: bits changed at every place that
// means something, other counters, all messages of the handshake with nonces of the record.
func forgeriesOf(datagram []byte, other [][]byte) (all [][]byte) {
	for _, at := range []int{0, 1, 5, 6, 8, 9, 10, len(datagram) / 2, len(datagram) - 1} {
		if at < len(datagram) {
			b := bytes.Clone(datagram)
			b[at] ^= 1 << (len(datagram) % 8)
			all = append(all, b)
		}
	}
	all = append(all, datagram[:len(datagram)-1], append(bytes.Clone(datagram), 0))
	if len(other) > 0 {
		first := other[0] // a CHALLENGE, or a LINK
		m, err := session.Decode(first)
		if err == nil {
			for _, kind := range []session.Kind{session.KindChallenge, session.KindLinked, session.KindRefused} {
				answer := session.Message{Kind: kind, Stamp: 1 << 61, Reason: session.ConnectionClosed, Agreed: session.Agreed{
					Link: 1, Lanes: 1, Variant: 1, Timeout: session.DefaultTimeout,
				}}
				answer.Nonce = m.Nonce
				all = append(all, encode(answer))
			}
		}
	}
	return all
}

// manualClient is a client at a station, whose datagrams go by hand.
type manualClient struct {
	*station
	*testClient
	to      net.Addr
	answer  []byte // the latest
	answers map[string]int
	data    [][]byte // that came
}

var manualClients atomic.Uint64

// manualClient returns an anonymous one of a mode and variants of chunks that has a cookie.
func (n network) manualClient(t testing.TB, server net.Addr, address string, mode session.Mode, variants uint8) *manualClient {
	t.Helper()
	v := &manualClient{to: server, answers: map[string]int{}}
	d := newTestServer(t, true, nil)
	var seed [32]byte
	binary.LittleEndian.PutUint64(seed[:], manualClients.Add(1))
	d.random.Seed(seed) // each has a nonce of its own
	v.testClient = d.newClient(address, 0, func(c *session.ClientConfig) {
		c.Format, c.Mode, c.Variants = check.Must(connection.Config{}.Complete()).Format, mode, variants
	})
	v.station = n.station(t, address, func(datagram []byte, _ net.Addr) {
		v.answer = bytes.Clone(datagram)
		v.answers[kindOf(v.answer)]++
		if session.Kind(datagram[0]) == session.KindMAC {
			v.data = append(v.data, v.answer)
		}
	})
	v.asks()
	v.receives(v.answer)
	return v
}

// asks sends what the client sends now.
func (v *manualClient) asks() {
	for _, datagram := range v.polls() {
		v.says(v.to, datagram)
		synctest.Wait()
	}
}

// waits lets time pass, here and there.
func (v *manualClient) waits(seconds int) {
	time.Sleep(time.Duration(seconds) * time.Second)
	synctest.Wait()
	v.server.now += core.Micros(seconds) * second
}

// A connection that began but sends no data gets LINKED, once for each PROOF, and nothing
// else; and no server accepts it (CXS-15).
func TestAHandshakeWithoutData(t *testing.T) {
	virtual(t, func(t *testing.T, n network) {
		s := check.Must(transport.New(n.bind(t, "127.0.0.1:9000"), transport.Config{}))
		defer s.Close()
		delivered := pushes(connectionServer{s}, world, 1)
		v := n.manualClient(t, s.Addr(), "127.0.0.2:9000", session.AEAD, 0)
		for range 5 {
			v.asks()
			v.waits(1)
		}
		v.waits(20)
		in, out := v.traffic()
		t.Logf("%d datagrams, %d bytes draw %d datagrams, %d bytes: %v", out.datagrams, out.bytes, in.datagrams, in.bytes, v.answers)
		check.That(t, v.answers["LINKED"] > 1 && v.answers["LINKED"]+v.answers["CHALLENGE"] == in.datagrams, "LINKED, and nothing else")
		check.That(t, in.bytes < out.bytes, "fewer bytes than were sent")
		check.Same(t, "delivered", delivered.Load(), 0)
		check.Same(t, "peers", s.Stats().Peers, 0)
	})
}

// What is left: a client that can read at its address, sends one datagram of data, and goes. A
// server that pushes sends to that address until the connection times out, or until its first
// chunk does; who has the address then gets that.
func TestAClientThatGoes(t *testing.T) {
	for _, timeout := range []time.Duration{time.Second, 10 * time.Second} {
		virtual(t, func(t *testing.T, n network) {
			s := check.Must(transport.New(n.bind(t, "127.0.0.1:9000"), transport.Config{Timeout: timeout}))
			defer s.Close()
			pushes(connectionServer{s}, world, 1)
			v := n.manualClient(t, s.Addr(), "127.0.0.2:9000", session.AEAD, 0)
			v.asks()
			v.receives(v.answer)
			check.Same(t, "the client", v.State(), session.Open)
			pad := check.Must(packet.Format{}.WithDefaults().Append(nil, &packet.Packet{Data: []byte{0}}))
			v.says(s.Addr(), v.Link().Seal(nil, pad))
			v.waits(20)
			in, out := v.traffic()
			t.Logf("time-out %v: %d datagrams, %d bytes draw %d datagrams, %d bytes", timeout, out.datagrams, out.bytes, in.datagrams, in.bytes)
			check.Same(t, "peers", s.Stats().Peers, 0)
			check.That(t, in.bytes <= 200_000, "no more than without a connection")
		})
	}
}

// A client over a socket of its own hears the server alone: genuine datagrams that come from elsewhere are none of its
// connection, and do not keep it alive.
func TestOnlyTheServerIsHeard(t *testing.T) {
	virtual(t, func(t *testing.T, n network) {
		a := meet(t, n, anonymous)
		elsewhere := n.station(t, "127.0.0.9:9000", nil)
		a.relay.filter(func(d direction, datagram []byte) bool {
			if d == toClient {
				a.relay.mu.Lock()
				client := a.relay.client
				a.relay.mu.Unlock()
				elsewhere.says(client, bytes.Clone(datagram))
			}
			return d == toServer
		})
		time.Sleep(11 * time.Second)
		if _, out := elsewhere.traffic(); out.datagrams == 0 {
			t.Error("nothing was sent: the test tests nothing")
		}
		if err := a.client.Err(); !errors.Is(err, transport.ErrTimeout) {
			t.Errorf("the client heard another: %v", err)
		}
	})
}
