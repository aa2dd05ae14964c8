package attack

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"net"
	"testing"
	"time"
)

// pair is a client and a server's end of a connection between which there is a relay.
type pair struct {
	relay    *relay
	ear      server
	client   peer // has sent a first chunk
	accepted peer // has received it
}

// mustDial is the protocol's dial where it must not fail.
func mustDial(t *testing.T, p protocol, pc net.PacketConn, to net.Addr) peer {
	t.Helper()
	c, err := p.dial(t, pc, to)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// meet makes a pair.
func meet(t *testing.T, n network, p protocol) pair {
	t.Helper()
	s := p.serve(t, n.bind(t, "127.0.0.1:0"))
	r := n.relay(t, s.Addr())
	c := mustDial(t, p, n.bind(t, "127.0.0.5:0"), r.addr())
	sent := make(chan error)
	go func() { sent <- c.Send(background, []byte("join")) }()
	accepted, err := s.Accept(background)
	if err == nil {
		_, err = accepted.Recv(background)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	return pair{r, s, c, accepted}
}

// carries sends a chunk to the server and returns what is received in its place.
func (a pair) carries(t *testing.T, chunk []byte) []byte {
	t.Helper()
	sent := make(chan error, 1)
	go func() { sent <- a.client.Send(background, chunk) }()
	got, err := a.accepted.Recv(background)
	if err != nil {
		t.Fatal(err)
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	return got
}

// D2: a recorded datagram, kept until the chunk ids have gone round. All that was recorded of the first chunk is repeated,
// and also on the way: when more than half of the numbers of packets have been used, its own count as new again (CXA-28).
func TestD2(t *testing.T) {
	if slowdown > 1 {
		t.Skip("196,608 chunks take a minute with the race detector; TestD4 sends some")
	}
	t.Parallel()
	figures := inVirtualTime(t, func(t *testing.T, n network, p protocol) (old int) {
		a := meet(t, n, p)
		before := len(a.relay.recorded(toServer))
		first, last := bytes.Repeat([]byte("A"), 500), bytes.Repeat([]byte("B"), 500)
		a.carries(t, first)
		kept := a.relay.recorded(toServer)[before:]
		repeats := func() {
			time.Sleep(time.Second)
			for _, datagram := range kept {
				a.relay.send(toServer, datagram)
			}
			time.Sleep(ms)
		}
		for i := range 1<<16 - 1 {
			if a.carries(t, []byte("something else")); i%(1<<13) == 0 {
				repeats()
			}
		}
		repeats()
		if got := a.carries(t, last); !bytes.Equal(got, last) {
			old++
		}
		t.Logf("%s: after 65,536 chunks %d repeated datagrams of the first make %d chunks wrong that was reported as delivered",
			p.name, len(kept), old)
		return old
	})
	if figures[0] != 1 {
		t.Error("plain: the test tests nothing")
	}
	for _, old := range figures[1:] {
		if old > 0 {
			t.Error("an old chunk was delivered again")
		}
	}
}

// D3: a client that dials an echo service, over the system's sockets; and of connections, whose handshake no echo can do,
// one whose server is an echo service from some time on (CXA-31).
func TestD3(t *testing.T) {
	t.Parallel()
	figures := onEach(t, network{}, func(t *testing.T, n network, p protocol) (delivered bool) {
		echo := n.echo(t, "127.0.0.1:0")
		start := time.Now()
		c, err := p.dial(t, n.bind(t, "127.0.0.1:0"), echo.LocalAddr())
		if err == nil {
			err = c.Send(background, world)
		}
		took := time.Since(start)
		received := 0
		if err == nil {
			got, _ := c.Recv(background)
			received = len(got)
		}
		t.Logf("%s: Send: %v after %v; %d bytes received", p.name, err, took.Round(ms), received)
		return err == nil
	})
	if !figures[0] {
		t.Error("plain: the test tests nothing")
	}
	for _, delivered := range figures[1:] {
		if delivered {
			t.Error("an echo service has got a chunk")
		}
	}
	for _, p := range protocols[1:] {
		virtual(t, func(t *testing.T, n network) {
			a := meet(t, n, p)
			go a.accepted.Send(background, []byte("as many as came"))
			if _, err := a.client.Recv(background); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			a.relay.filter(func(d direction, datagram []byte) bool {
				if d == toServer {
					go a.relay.send(toClient, bytes.Clone(datagram))
				}
				return false
			})
			err := a.client.Send(background, world)
			ctx, cancel := context.WithTimeout(background, time.Second)
			defer cancel()
			got, _ := a.client.Recv(ctx)
			t.Logf("%s: to an echo in the middle: Send: %v; %d bytes received", p.name, err, len(got))
			if err == nil || got != nil {
				t.Error("an echo service has got a chunk")
			}
		})
	}
}

// D4: both ends are gone, and begin again at the same addresses; then an old datagram comes late, one in each of
// several runs. Connections have the same link each time, as one in 2^32 has, so that it is the keys that tell them
// apart.
func TestD4(t *testing.T) {
	random := rand.Reader
	rand.Reader = sameLinks{random}
	defer func() { rand.Reader = random }()
	figures := inVirtualTime(t, func(t *testing.T, n network, p protocol) (mixed int) {
		old, chunk := bytes.Repeat([]byte("A"), 2000), bytes.Repeat([]byte("B"), 2000)
		var r *relay
		var kept [][]byte
		for run := 0; run <= len(kept); run++ {
			here, there := n.bind(t, "127.0.0.1:9000"), n.bind(t, "127.0.0.5:9000")
			s := p.serve(t, here)
			if r == nil {
				r = n.relay(t, s.Addr())
			}
			sending := old
			if run > 0 {
				sending = chunk
				r.send(toServer, kept[run-1])
				time.Sleep(ms)
			}
			c := mustDial(t, p, there, r.addr())
			if run > 0 && p.name != chunksAlone.name {
				r.send(toServer, kept[run-1]) // there is a connection now
				time.Sleep(ms)
			}
			sent := make(chan error, 1)
			go func() { sent <- c.Send(background, sending) }()
			if accepted, err := s.Accept(background); err != nil {
				t.Fatal(err)
			} else if got, err := accepted.Recv(background); err != nil {
				t.Fatal(err)
			} else if !bytes.Equal(got, sending) {
				mixed++
				t.Logf("%s: after datagram %d %d bytes of the old chunk and %d of the new one are received; Send: %v",
					p.name, run-1, bytes.Count(got, old[:1]), bytes.Count(got, chunk[:1]), <-sent)
			}
			if run == 0 {
				kept = r.recorded(toServer)
			}
			here.Close()
			there.Close()
			time.Sleep(time.Second)
		}
		t.Logf("%s: %d of %d old datagrams mix two chunks", p.name, mixed, len(kept))
		return mixed
	})
	if figures[0] == 0 {
		t.Error("plain: the test tests nothing")
	}
	for _, mixed := range figures[1:] {
		if mixed > 0 {
			t.Error("a chunk of two connections was delivered")
		}
	}
}

// sameLinks is what is random, but for links, which are drawn as four bytes.
type sameLinks struct{ io.Reader }

func (r sameLinks) Read(b []byte) (int, error) {
	if len(b) == 4 {
		return copy(b, "link"), nil
	}
	return r.Reader.Read(b)
}
