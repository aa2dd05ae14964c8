package netsim_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chunkwire/chunkwire/netsim"
)

// relayed is a relay in a bubble, on a perfect network, before "server".
type relayed struct {
	*netsim.Relay
	network *netsim.Network
	addr    net.Addr
	server  *netsim.Conn
}

func relayConfig(t *testing.T, n *netsim.Network) netsim.RelayConfig {
	dialed := 0
	listen, err := n.Listen("relay")
	if err != nil {
		t.Fatal(err)
	}
	return netsim.RelayConfig{
		Listen: listen,
		Server: netsim.Addr("server"),
		Dial: func() (net.PacketConn, error) {
			dialed++
			return n.Listen(netsim.Addr(fmt.Sprint("up", dialed)))
		},
		Up:   netsim.Path{Delay: 30 * ms},
		Down: netsim.Path{Delay: 10 * ms},
	}
}

func newRelayed(t *testing.T, change func(*netsim.RelayConfig)) relayed {
	t.Helper()
	n := netsim.NewNetwork(1)
	cfg := relayConfig(t, n)
	change(&cfg)
	r, err := netsim.NewRelay(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return relayed{r, n, cfg.Listen.LocalAddr(), listen(t, n, "server")}
}

func TestRelayForwardsBothWays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRelayed(t, func(*netsim.RelayConfig) {})
		one, two := listen(t, r.network, "one"), listen(t, r.network, "two")
		start := time.Now()

		send(t, one, r.addr, "from one")
		want(t, r.server, netsim.Addr("up1"), "from one")
		wantClock(t, start, 30*ms)
		send(t, two, r.addr, "from two")
		send(t, two, r.addr, "the next")
		want(t, r.server, netsim.Addr("up2"), "from two") // a socket of its own
		want(t, r.server, netsim.Addr("up2"), "the next")
		wantClock(t, start, 60*ms)

		send(t, r.server, netsim.Addr("up2"), "to two")
		send(t, r.server, netsim.Addr("up1"), "to one")
		want(t, two, r.addr, "to two")
		want(t, one, r.addr, "to one")
		wantClock(t, start, 70*ms)

		up, down := r.Stats()
		wantStats(t, up, netsim.LinkStats{Sent: 3, SentBytes: 24, Delivered: 3})
		wantStats(t, down, netsim.LinkStats{Sent: 2, SentBytes: 12, Delivered: 2})
	})
}

func TestRelayFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRelayed(t, func(cfg *netsim.RelayConfig) {
			cfg.Up.Duplicate = 100
			cfg.Down = outage
		})
		one := listen(t, r.network, "one")
		send(t, one, r.addr, "hello")
		want(t, r.server, netsim.Addr("up1"), "hello")
		want(t, r.server, netsim.Addr("up1"), "hello")
		send(t, r.server, netsim.Addr("up1"), "lost")
		wantNothing(t, one)

		up, down := r.Stats()
		wantStats(t, up, netsim.LinkStats{Sent: 1, SentBytes: 5, Delivered: 2, Duplicated: 1})
		wantStats(t, down, netsim.LinkStats{Sent: 1, SentBytes: 4, LostRandom: 1})
	})
}

func TestRelayClientsHaveTheirOwnLinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRelayed(t, func(cfg *netsim.RelayConfig) { cfg.Up = netsim.Path{Rate: 8_000} })
		one, two := listen(t, r.network, "one"), listen(t, r.network, "two")
		start := time.Now()
		send(t, one, r.addr, "1234567890")
		send(t, two, r.addr, "123456789")
		want(t, r.server, netsim.Addr("up2"), "123456789")
		wantClock(t, start, 9*ms) // did not wait for the other client
		want(t, r.server, netsim.Addr("up1"), "1234567890")
		wantClock(t, start, 10*ms)
	})
}

func TestRelayRefusesTooManyClients(t *testing.T) {
	for _, test := range []struct {
		name      string
		max, want int
	}{{"two", 2, 2}, {"default", 0, 64}} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRelayed(t, func(cfg *netsim.RelayConfig) { cfg.MaxClients = test.max })
				for i := range test.want + 3 {
					c := listen(t, r.network, netsim.Addr(fmt.Sprint("client", i)))
					send(t, c, r.addr, "hello")
				}
				for i := range test.want {
					want(t, r.server, netsim.Addr(fmt.Sprint("up", i+1)), "hello")
				}
				wantNothing(t, r.server)
			})
		})
	}
}

func TestRelayGivesUpIdleClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRelayed(t, func(cfg *netsim.RelayConfig) { cfg.MaxClients, cfg.Idle = 2, time.Minute })
		one, two, three := listen(t, r.network, "one"), listen(t, r.network, "two"), listen(t, r.network, "three")
		send(t, one, r.addr, "hello")
		time.Sleep(time.Second)
		send(t, two, r.addr, "hello")
		time.Sleep(58 * time.Second)
		send(t, three, r.addr, "ignored")
		want(t, r.server, netsim.Addr("up1"), "hello")
		want(t, r.server, netsim.Addr("up2"), "hello")
		time.Sleep(time.Second)
		send(t, three, r.addr, "hello")
		want(t, r.server, netsim.Addr("up3"), "hello")
		send(t, r.server, netsim.Addr("up2"), "to two") // which has its place still
		want(t, two, r.addr, "to two")
		send(t, one, r.addr, "ignored")
		wantNothing(t, r.server)
		if got, want := r.Counts(), (netsim.RelayCounts{Clients: 2, Served: 3, Ignored: 2}); got != want {
			t.Errorf("counts are %+v, want %+v", got, want)
		}
		up, _ := r.Stats()
		wantStats(t, up, netsim.LinkStats{Sent: 3, SentBytes: 15, Delivered: 3}) // with those of one
	})
}

func TestRelaySetPaths(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRelayed(t, func(*netsim.RelayConfig) {})
		one, two := listen(t, r.network, "one"), listen(t, r.network, "two")
		send(t, one, r.addr, "hello")
		want(t, r.server, netsim.Addr("up1"), "hello")
		if err := r.SetPaths(netsim.Path{Delay: 50 * ms}, netsim.Path{Delay: -1}); err == nil {
			t.Error("a path that is not valid")
		}
		if err := r.SetPaths(netsim.Path{Delay: 50 * ms}, netsim.Path{Outage: true}); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		send(t, one, r.addr, "hello") // which has a link
		send(t, two, r.addr, "hello") // which gets one
		want(t, r.server, netsim.Addr("up1"), "hello")
		want(t, r.server, netsim.Addr("up2"), "hello")
		wantClock(t, start, 50*ms)
		send(t, r.server, netsim.Addr("up1"), "lost")
		wantNothing(t, one)
		_, down := r.Stats()
		wantStats(t, down, netsim.LinkStats{Sent: 1, SentBytes: 4, LostOutage: 1})
	})
}

func TestRelayCorrupts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRelayed(t, func(cfg *netsim.RelayConfig) { cfg.Up.Corrupt = 100 })
		one := listen(t, r.network, "one")
		send(t, one, r.addr, "hello")
		buf := make([]byte, 100)
		n, _, err := r.server.ReadFrom(buf)
		if err != nil || n != 5 || string(buf[:n]) == "hello" {
			t.Errorf("%q, %v", buf[:n], err)
		}
		send(t, r.server, netsim.Addr("up1"), "answer")
		want(t, one, r.addr, "answer")
	})
}

func TestRelayDialsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fail := true
		r := newRelayed(t, func(cfg *netsim.RelayConfig) {
			dial := cfg.Dial
			cfg.Dial = func() (net.PacketConn, error) {
				if fail {
					fail = false
					return nil, errors.New("no socket")
				}
				return dial()
			}
		})
		one := listen(t, r.network, "one")
		send(t, one, r.addr, "lost")
		send(t, one, r.addr, "hello")
		want(t, r.server, netsim.Addr("up1"), "hello")
		if c := r.Counts(); c.Clients != 1 || c.Served != 1 || c.DialErrors != 1 || c.LastError == nil {
			t.Errorf("counts are %+v", c)
		}
	})
}

func TestRelayClosesWhileDialing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRelayed(t, func(cfg *netsim.RelayConfig) {
			dial := cfg.Dial
			cfg.Dial = func() (net.PacketConn, error) {
				time.Sleep(time.Second)
				return dial()
			}
		})
		one := listen(t, r.network, "one")
		send(t, one, r.addr, "hello")
		synctest.Wait()
		start := time.Now()
		r.Close()
		wantClock(t, start, time.Second)
		listen(t, r.network, "up1") // the late socket is closed
	})
}

func TestRelaySurvivesReadErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var socket net.PacketConn
		r := newRelayed(t, func(cfg *netsim.RelayConfig) { socket = cfg.Listen })
		one := listen(t, r.network, "one")
		socket.SetReadDeadline(time.Unix(1, 0))
		time.Sleep(time.Second)
		socket.SetReadDeadline(time.Time{})
		send(t, one, r.addr, "hello")
		want(t, r.server, netsim.Addr("up1"), "hello")

		socket.SetReadDeadline(time.Unix(1, 0))
		synctest.Wait() // Close finds the relay in a pause
		r.Close()
	})
}

func TestRelayClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRelayed(t, func(*netsim.RelayConfig) {})
		one := listen(t, r.network, "one")
		send(t, one, r.addr, "delivered")
		want(t, r.server, netsim.Addr("up1"), "delivered")
		send(t, one, r.addr, "under way")
		synctest.Wait()

		start := time.Now()
		if err := r.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		wantClock(t, start, 0)
		wantNothing(t, r.server)
		listen(t, r.network, "relay") // both addresses are free
		listen(t, r.network, "up1")
		if err := r.Close(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("second Close: %v", err)
		}
		if up, _ := r.Stats(); up.Sent != 2 {
			t.Errorf("%d datagrams sent, want 2", up.Sent)
		}
		// The bubble ends only if all goroutines of the relay have.
	})
}

func TestRelayConfig(t *testing.T) {
	tests := []struct {
		name   string
		change func(*netsim.RelayConfig)
		good   bool
	}{
		{"good", func(cfg *netsim.RelayConfig) {}, true},
		{"no Listen", func(cfg *netsim.RelayConfig) { cfg.Listen = nil }, false},
		{"no Server", func(cfg *netsim.RelayConfig) { cfg.Server = nil }, false},
		{"no Dial", func(cfg *netsim.RelayConfig) { cfg.Dial = nil }, false},
		{"MaxClients below zero", func(cfg *netsim.RelayConfig) { cfg.MaxClients = -1 }, false},
		{"Idle below zero", func(cfg *netsim.RelayConfig) { cfg.Idle = -1 }, false},
		{"bad Up", func(cfg *netsim.RelayConfig) { cfg.Up.Delay = -1 }, false},
		{"bad Down", func(cfg *netsim.RelayConfig) { cfg.Down.Delay = -1 }, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cfg := relayConfig(t, netsim.NewNetwork(1))
			test.change(&cfg)
			r, err := netsim.NewRelay(cfg)
			if (err == nil) != test.good {
				t.Errorf("NewRelay: %v", err)
			}
			if r != nil {
				r.Close()
			}
		})
	}
}

// TestRelayOverUDP uses real sockets and real time. It repeats what is not
// answered, as a loaded machine may lose datagrams even on loopback.
func TestRelayOverUDP(t *testing.T) {
	server, relay, client := udp(t), udp(t), udp(t)
	go echo(server)
	r, err := netsim.NewRelay(netsim.RelayConfig{
		Listen: relay,
		Server: server.LocalAddr(),
		Dial:   func() (net.PacketConn, error) { return net.ListenPacket("udp", "127.0.0.1:0") },
		Up:     netsim.Path{Delay: 3 * ms},
		Down:   netsim.Path{Delay: 4 * ms},
	})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	answer(t, client, relay.LocalAddr(), "hello")
	if took := time.Since(start); took < 7*ms {
		t.Errorf("round trip of %v, want at least 7ms", took)
	}
	answer(t, client, relay.LocalAddr(), "and again")

	up, down := r.Stats()
	if up.Sent < 2 || up.Delivered != up.Sent || down.Sent < 2 || down.Sent > up.Sent {
		t.Errorf("stats are\n%+v\n%+v", up, down)
	}
	if err := r.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if _, err := relay.WriteTo(nil, client.LocalAddr()); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the relay's socket is still open: %v", err)
	}
}

// udp opens a loopback socket that is closed at the end of the test.
func udp(t *testing.T) net.PacketConn {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Skip("no loopback socket: ", err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// echo answers until the socket is closed.
func echo(c net.PacketConn) {
	buf := make([]byte, 2000)
	for {
		n, from, err := c.ReadFrom(buf)
		if err != nil {
			return
		}
		c.WriteTo(buf[:n], from)
	}
}

// answer sends until the same text comes back.
func answer(t *testing.T, c net.PacketConn, to net.Addr, text string) {
	t.Helper()
	buf := make([]byte, 2000)
	for range 20 {
		send(t, c, to, text)
		c.SetReadDeadline(time.Now().Add(time.Second))
		for {
			n, from, err := c.ReadFrom(buf)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if string(buf[:n]) == text && from.String() == to.String() {
				return
			}
		}
	}
	t.Fatalf("no answer to %q", text)
}
