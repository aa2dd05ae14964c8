package transport_test

import (
	"bytes"
	"context"
	"net"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/transport"
)

// These tests use real sockets on the loopback interface, and real time.

// loopback connects two endpoints and returns both ends' connections, after a
// first chunk.
func loopback(t testing.TB, cfg transport.Config) (client, server *transport.Conn) {
	t.Helper()
	ctx, cancel := context.WithTimeout(background, 10*time.Second)
	defer cancel()
	e, err := transport.Listen("udp", "127.0.0.1:0", cfg)
	if err != nil {
		t.Skipf("no loopback: %v", err)
	}
	t.Cleanup(func() { e.Close() })
	client, err = transport.Dial(ctx, "udp", e.Addr().String(), cfg)
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
	client, server := loopback(t, with(nil))
	ctx, cancel := context.WithTimeout(background, 20*time.Second)
	defer cancel()
	file := content(1_000_000, 1)
	info := describe(t, file)
	sent := during(func() error { return transport.SendFile(ctx, client, info, bytes.NewReader(file), nil) })
	var got sink
	_, err := transport.RecvFile(ctx, server, got.open, nil)
	wantErr(t, "RecvFile", err, nil)
	wantErr(t, "SendFile", <-sent, nil)
	if !bytes.Equal(got.Bytes(), file) {
		t.Error("the file is not what was sent")
	}
	from, err := netip.ParseAddrPort(server.RemoteAddr().String())
	_, port, _ := net.SplitHostPort(client.LocalAddr().String())
	if err != nil || net.JoinHostPort(from.Addr().String(), port) != from.String() {
		t.Errorf("the peer is %v, and says it is %v", from, client.LocalAddr())
	}
}

// Field note 21: buffers are asked for, and what came of it is told.
func TestSocketBuffers(t *testing.T) {
	client, _ := loopback(t, with(func(cfg *transport.Config) { cfg.SocketBuffer = 100_000 }))
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
	for name, end := range map[string]func(*transport.Conn){
		"close": func(c *transport.Conn) { c.Close() },
		"cancel": func(c *transport.Conn) {
			ctx, cancel := context.WithCancel(background)
			cancel()
			if d, err := c.Enqueue(background, content(262_144, 1)); err == nil {
				d.Wait(ctx)
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

// Nobody listens: the system may say so, and the connection lives until it
// gives up.
func TestUDPNobodyThere(t *testing.T) {
	pc, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Skip(err)
	}
	pc.Close()
	c, err := transport.Dial(background, "udp", pc.LocalAddr().String(), with(func(cfg *transport.Config) { cfg.GiveUp = 200 * ms }))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	wantErr(t, "Send", c.Send(background, []byte("anyone?")), transport.ErrGaveUp)
}

// A socket for both versions of IP sees IPv4 peers in IPv6 clothes. They are the
// same peers.
func TestUDPBothVersions(t *testing.T) {
	e, err := transport.Listen("udp", ":0", with(nil))
	if err != nil {
		t.Skip(err)
	}
	defer e.Close()
	_, port, _ := net.SplitHostPort(e.Addr().String())
	ctx, cancel := context.WithTimeout(background, 10*time.Second)
	defer cancel()
	c, err := transport.Dial(ctx, "udp4", net.JoinHostPort("127.0.0.1", port), with(nil))
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
	wantErr(t, "dialing the same peer", err, transport.ErrExists)
	for _, addr := range []net.Addr{nil, (*net.UDPAddr)(nil), &net.UDPAddr{}} {
		if _, err := e.Dial(addr); err == nil {
			t.Errorf("dialing %v succeeded", addr)
		}
	}
}

func TestDialErrors(t *testing.T) {
	if _, err := transport.Dial(background, "tcp", "127.0.0.1:1", with(nil)); err == nil {
		t.Error("a network that is none was dialed")
	}
	if _, err := transport.Listen("unixgram", "/x", with(nil)); err == nil {
		t.Error("a network that is none was listened on")
	}
	if _, err := transport.Dial(background, "udp", "127.0.0.1", with(nil)); err == nil {
		t.Error("an address without port was dialed")
	}
	_, err := transport.Dial(background, "udp", "127.0.0.1:1", transport.Config{SendQueue: -1})
	wantErr(t, "Dial", err, transport.ErrConfig)
	_, err = transport.Listen("udp", "127.0.0.1:0", transport.Config{SendQueue: -1})
	wantErr(t, "Listen", err, transport.ErrConfig)
	ctx, cancel := context.WithCancel(background)
	cancel()
	if _, err := transport.Dial(ctx, "udp", "localhost:1", with(nil)); err == nil {
		t.Error("Dial did not heed its context")
	}
}

// An endpoint made by Dial takes no connections, unless asked to.
func TestDialedEndpointAcceptsNobody(t *testing.T) {
	client, _ := loopback(t, with(nil))
	other, err := net.Dial("udp4", client.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	other.Write(beginning())
	for start := time.Now(); client.Endpoint().Stats().Strangers == 0; time.Sleep(ms) {
		if time.Since(start) > 5*time.Second {
			t.Fatal("the stranger was not counted")
		}
	}
	if n := client.Endpoint().Stats().Peers; n != 1 {
		t.Errorf("%d peers, want 1", n)
	}
}
