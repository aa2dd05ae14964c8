package attack

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/transport"
)

// Whoever has seen nothing, but knows a client's address and that of its server, changes nothing
// at the client: while it links, and while it is open.
func TestBlindDatagramsToAClient(t *testing.T) {
	for _, keyed := range []bool{false, true} {
		virtual(t, func(t *testing.T, n network) {
			n.sim.SetDefault(netsim.Path{Delay: 5 * ms})
			s := check.Must(transport.New(n.bind(t, "127.0.0.1:9000"), transport.Config{
				Anonymous: true, Keys: anyKey,
			}))
			defer s.Close()
			go hosts(connectionServer{s})
			r := n.relay(t, s.Addr())
			forged, all := 0, blind()
			r.filter(func(_ direction, _ []byte) bool {
				for range 4 {
					r.send(toClient, all[forged%len(all)].datagram)
					forged++
				}
				return true
			})
			cfg := transport.Config{}
			if keyed {
				cfg = newIdentity()
				cfg.Mode = session.AEAD
			}
			start := time.Now()
			c := check.Must(transport.Over(background, n.bind(t, "127.0.0.5:9000"), r.addr(), cfg))
			defer c.Close(0, "")
			linked := time.Since(start)
			check.Same(t, "Send", c.Chunks().Send(background, []byte("hello")), nil)
			got := check.Must(c.Chunks().Recv(background))
			r.filter(nil)
			t.Logf("keyed %v: linked after %v, %d bytes after %v, beside %d forged datagrams", keyed, linked, len(got), time.Since(start), forged)
			check.That(t, linked <= 50*ms, "linked at once")
			check.Same(t, "the client", c.Err(), nil)
		})
	}
}

// Datagrams with the source of another server, or of the server itself, begin no conversation
// of servers.
func TestServersDoNotTalkToEachOther(t *testing.T) {
	virtual(t, func(t *testing.T, n network) {
		var sent [2]atomic.Int64
		forger := n.station(t, "127.9.0.1:9000", nil)
		var source atomic.Value // what the forger writes into its datagrams
		serve := func(i int, address string) *transport.Server {
			s := check.Must(transport.New(deceived{n.bind(t, address), forger.LocalAddr(), &source, &sent[i]}, transport.Config{}))
			t.Cleanup(func() { s.Close() })
			return s
		}
		a, b := serve(0, "127.0.0.1:9000"), serve(1, "127.0.0.2:9000")
		links := 0
		for _, f := range blind() {
			if kindOf(f.datagram) == "LINK" {
				links++
			}
			for _, of := range []net.Addr{a.Addr(), b.Addr()} {
				source.Store(of)
				forger.says(a.Addr(), f.datagram)
				time.Sleep(10 * ms)
			}
		}
		time.Sleep(20 * time.Second)
		t.Logf("%d datagrams with the source of b, as many with that of a itself: a sends %d, b %d", len(blind()), sent[0].Load(), sent[1].Load())
		check.That(t, sent[0].Load() > 0 && sent[0].Load() <= int64(links), "a answers each LINK of b at most, and nothing else")
		check.Same(t, "what b sent", sent[1].Load(), 0)
	})
}

// deceived is a socket at which datagrams of a forger arrive with the source that he
// writes into them. It counts what is sent.
type deceived struct {
	net.PacketConn
	forger net.Addr
	source *atomic.Value
	sent   *atomic.Int64
}

func (d deceived) ReadFrom(b []byte) (int, net.Addr, error) {
	n, from, err := d.PacketConn.ReadFrom(b)
	if err == nil && from.String() == d.forger.String() {
		from = d.source.Load().(net.Addr)
	}
	return n, from, err
}

func (d deceived) WriteTo(b []byte, to net.Addr) (int, error) {
	d.sent.Add(1)
	return d.PacketConn.WriteTo(b, to)
}

// With several sockets a forged source draws no more, and takes no place.
func TestBlindDatagramsToSeveralSockets(t *testing.T) {
	s, err := transport.Listen("udp4", "127.0.0.1:0", transport.Config{Sockets: 4})
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	check.Same(t, "Listen", err, nil)
	defer s.Close()
	pushes(connectionServer{s}, world, 1)
	all := blind()
	var in, out traffic
	var victims []*station
	for i := range 40 {
		v := network{}.station(t, fmt.Sprintf("127.6.0.%d:0", 1+i), nil)
		victims = append(victims, v)
		for range 20 {
			v.says(s.Addr(), all[rand.IntN(len(all))].datagram)
		}
	}
	answered := func(v *station) bool { in, _ := v.traffic(); return in.datagrams > 0 }
	for began := time.Now(); !slices.ContainsFunc(victims, answered) && time.Since(began) < 20*time.Second; {
		time.Sleep(ms)
	}
	time.Sleep(500 * ms) // for all that comes
	for _, v := range victims {
		received, sent := v.traffic()
		in.bytes, out.bytes = in.bytes+received.bytes, out.bytes+sent.bytes
		in.datagrams, out.datagrams = in.datagrams+received.datagrams, out.datagrams+sent.datagrams
	}
	t.Logf("%d datagrams, %d bytes draw %d datagrams, %d bytes", out.datagrams, out.bytes, in.datagrams, in.bytes)
	check.That(t, in.bytes < out.bytes && in.datagrams > 0, "fewer bytes than were sent")
	check.Same(t, "peers", s.Stats().Peers, 0)
}

// What an end learns of the other one's end: that it closes, that it is gone, that it has
// begun anew at the same address. The chunk protocol says nothing, and an idle client never
// learns it (D4).
func TestWhatAnEndLearns(t *testing.T) {
	for _, c := range []struct {
		name   string
		end    func(s *transport.Server, pc net.PacketConn) // the server's
		again  bool
		within time.Duration
	}{
		{"closes", func(s *transport.Server, _ net.PacketConn) { s.Close() }, false, 20 * ms},
		{"is gone", func(_ *transport.Server, pc net.PacketConn) { pc.Close() }, false, 10*time.Second + 100*ms},
		{"begins anew", func(_ *transport.Server, pc net.PacketConn) { pc.Close() }, true, 5 * time.Second},
	} {
		virtual(t, func(t *testing.T, n network) {
			n.sim.SetDefault(netsim.Path{Delay: 5 * ms})
			cfg := transport.Config{Keys: anyKey}
			pc := n.bind(t, "127.0.0.1:9000")
			s := check.Must(transport.New(pc, cfg))
			client := check.Must(transport.Over(background, n.bind(t, "127.0.0.5:9000"), s.Addr(), newIdentity()))
			check.Must(s.Accept(background))
			time.Sleep(3 * time.Second)
			start := time.Now()
			ended := make(chan bool)
			go func() { c.end(s, pc); close(ended) }()
			if c.again {
				time.Sleep(ms)
				again := check.Must(transport.New(n.bind(t, "127.0.0.1:9000"), cfg))
				defer again.Close()
			}
			<-client.Done()
			took := time.Since(start)
			t.Logf("the server %s: an idle client learns it after %v: %v", c.name, took.Round(ms), client.Err())
			check.That(t, took <= c.within, "in time")
			client.Close(0, "")
			<-ended
			s.Close()
		})
	}
}

// What the other end says when it closes is quoted where an error prints it: it writes no lines
// of a log, and nothing to a terminal (CXA-7).
func TestTheTextOfAClose(t *testing.T) {
	virtual(t, func(t *testing.T, n network) {
		c := connect(t, n, session.AEAD)
		c.client.Close(256, "bye\n\x1b[2Jroot logged in")
		<-c.peer.Done()
		text := c.peer.Err().Error()
		t.Log(text)
		check.That(t, !strings.ContainsAny(text, "\n\x1b"), "no control characters")
		var closed *transport.ClosedError
		check.That(t, errors.As(c.peer.Err(), &closed) && closed.Text == "bye\n\x1b[2Jroot logged in", "the text is there for who wants it")
	})
}
