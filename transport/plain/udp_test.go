package plain_test

import (
	"bytes"
	"context"
	"net"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// These tests use real sockets on the loopback interface, and real time.

// loopback connects two endpoints and returns both ends' connections, after a
// first chunk.
func loopback(t testing.TB, cfg plain.Config) (client, server *plain.Conn) {
	t.Helper()
	ctx, cancel := context.WithTimeout(background, 10*time.Second)
	defer cancel()
	e, err := plain.Listen("udp", "127.0.0.1:0", cfg)
	if err != nil {
		t.Skipf("no loopback: %v", err)
	}
	t.Cleanup(func() { e.Close() })
	client, err = plain.Dial(ctx, "udp", e.Addr().String(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	if err := client.Send(ctx, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	server, err = e.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := server.Recv(ctx); err != nil {
		t.Fatal(err)
	}
	return client, server
}

func TestUDP(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		client, server := loopback(t, v.with(nil))
		ctx, cancel := context.WithTimeout(background, 20*time.Second)
		defer cancel()
		for i := range 4 {
			chunk := content(262_144-i, uint64(i))
			sent := during(func() error { return client.Send(ctx, chunk) })
			got, err := server.Recv(ctx)
			wantErr(t, "Recv", err, nil)
			wantErr(t, "Send", <-sent, nil)
			if !bytes.Equal(got, chunk) {
				t.Error("the chunk is not what was sent")
			}
		}
		if got, want := server.RemoteAddr().String(), client.LocalAddr().String(); got != want {
			t.Errorf("the peer is %v, and says it is %v", got, want)
		}
	})
}

// Buffers are asked for, and what the system gave is reported.
func TestSocketBuffers(t *testing.T) {
	client, _ := loopback(t, with(func(cfg *plain.Config) { cfg.SocketBuffer = 100_000 }))
	st := client.Endpoint().Stats()
	if st.BufferWanted != 100_000 {
		t.Errorf("%d bytes wanted", st.BufferWanted)
	}
	if runtime.GOOS == "linux" && (st.ReadBuffer != 100_000 || st.WriteBuffer != 100_000) {
		t.Errorf("buffers of %d and %d bytes, want what was asked for", st.ReadBuffer, st.WriteBuffer)
	}
	// The default holds a burst of a whole chunk.
	client, _ = loopback(t, with(nil))
	if st := client.Endpoint().Stats(); st.BufferWanted != 2*codec.MaxChunkSize {
		t.Errorf("%d bytes wanted by default", st.BufferWanted)
	}
}

// The socket of a connection that was dialed on its own goes with it, however it
// ends.
func TestDialedSocketClosesWithItsConnection(t *testing.T) {
	for name, end := range map[string]func(*plain.Conn){
		"close": func(c *plain.Conn) { c.Close() },
		"cancel": func(c *plain.Conn) {
			if d, err := c.Enqueue(background, content(262_144, 1)); err == nil {
				d.Cancel(nil)
			}
		},
	} {
		client, _ := loopback(t, with(nil))
		addr := client.LocalAddr().(*net.UDPAddr)
		end(client)
		<-client.Endpoint().Done()
		client.Close()
		again, err := net.ListenUDP("udp4", addr)
		if err != nil {
			t.Errorf("after %s: %v", name, err)
			continue
		}
		again.Close()
	}
}

// Nobody listens: the system says so, and that ends the connection at once.
func TestUDPNobodyThere(t *testing.T) {
	pc, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Skip(err)
	}
	pc.Close()
	for name, call := range map[string]func(*plain.Conn) error{
		"Send": func(c *plain.Conn) error { return c.Send(background, content(262_144, 1)) },
		"Recv": func(c *plain.Conn) error {
			c.Enqueue(background, []byte("anyone?"))
			_, err := c.Recv(background)
			return err
		},
	} {
		c, err := plain.Dial(background, "udp", pc.LocalAddr().String(), with(nil))
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		err = call(c)
		if runtime.GOOS != "linux" {
			continue
		}
		wantErr(t, name, err, plain.ErrRefused, syscall.ECONNREFUSED)
		wantErr(t, "the connection", c.Err(), plain.ErrRefused)
		wantErr(t, "the endpoint", c.Endpoint().Err(), plain.ErrRefused)
		wantTook(t, name, start, 0, 5*time.Second) // half the time to give up
		wantErr(t, "Close", c.Close(), nil)
	}
}

// A peer that goes away is noticed as well, when something is sent to it.
func TestUDPPeerThatLeaves(t *testing.T) {
	client, server := loopback(t, with(nil))
	wantErr(t, "Close", server.Endpoint().Close(), nil)
	if err := client.Send(background, []byte("still there?")); runtime.GOOS == "linux" {
		wantErr(t, "Send", err, plain.ErrRefused)
	}
}

// A socket for both versions of IP sees IPv4 peers in IPv6 clothes. They are the
// same peers.
func TestUDPBothVersions(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		e, err := plain.Listen("udp", ":0", v.with(nil))
		if err != nil {
			t.Skip(err)
		}
		defer e.Close()
		_, port, _ := net.SplitHostPort(e.Addr().String())
		ctx, cancel := context.WithTimeout(background, 10*time.Second)
		defer cancel()
		c, err := plain.Dial(ctx, "udp4", net.JoinHostPort("127.0.0.1", port), v.with(nil))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.Send(ctx, []byte("hello")); err != nil {
			t.Fatal(err)
		}
		server, err := e.Accept(ctx)
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.Dial(server.RemoteAddr())
		wantErr(t, "dialing the same peer", err, plain.ErrExists)
		for _, addr := range []net.Addr{nil, (*net.UDPAddr)(nil), &net.UDPAddr{}} {
			if _, err := e.Dial(addr); err == nil {
				t.Errorf("dialing %v succeeded", addr)
			}
		}
	})
}

func TestDialErrors(t *testing.T) {
	if _, err := plain.Dial(background, "tcp", "127.0.0.1:1", with(nil)); err == nil {
		t.Error("a network that is none was dialed")
	}
	if _, err := plain.Listen("unixgram", "/x", with(nil)); err == nil {
		t.Error("a network that is none was listened on")
	}
	if _, err := plain.Dial(background, "udp", "127.0.0.1", with(nil)); err == nil {
		t.Error("an address without port was dialed")
	}
	_, err := plain.Dial(background, "udp", "127.0.0.1:1", plain.Config{SendQueue: -1})
	wantErr(t, "Dial", err, core.ErrConfig)
	_, err = plain.Listen("udp", "127.0.0.1:0", plain.Config{SendQueue: -1})
	wantErr(t, "Listen", err, core.ErrConfig)
	ctx, cancel := context.WithCancel(background)
	cancel()
	if _, err := plain.Dial(ctx, "udp", "localhost:1", with(nil)); err == nil {
		t.Error("Dial did not heed its context")
	}
}

// The endpoint of Dial has one connection, whoever else sends to its socket, and
// whatever Admit says.
func TestDialedEndpointAcceptsNobody(t *testing.T) {
	client, server := loopback(t, with(func(cfg *plain.Config) { cfg.Admit = func(net.Addr) bool { return true } }))
	other, err := net.Dial("udp4", client.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	other.Write(beginning())
	sent := during(func() error { return server.Send(background, []byte("after that")) })
	mustRecv(t, client, []byte("after that"))
	wantErr(t, "Send", <-sent, nil)
	if st := client.Endpoint().Stats(); st.Peers != 1 {
		t.Errorf("%d peers, want 1", st.Peers)
	}
	if _, err := client.Endpoint().Dial(other.LocalAddr()); err == nil {
		t.Error("a connected socket reaches another peer")
	}
}
