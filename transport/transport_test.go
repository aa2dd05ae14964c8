package transport_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/transport"
)

var background = context.Background()

// soon bounds a test that hangs.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(background, 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

var key = session.Key{1, 2, 3}

const identity = 77

// keys knows one identity.
func keys(_ context.Context, id uint64) (k session.Key, err error) {
	if id == identity {
		k = key
	}
	return k, nil
}

// listen returns a server on this machine.
func listen(t testing.TB, cfg transport.Config) *transport.Server {
	t.Helper()
	s, err := transport.Listen("udp4", "127.0.0.1:0", cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// connect dials a server and accepts there.
func connect(t testing.TB, s *transport.Server, cfg transport.Config) (client, server *transport.Peer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(background, 20*time.Second)
	defer cancel()
	client, err := transport.Dial(ctx, "udp4", s.Addr().String(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(0, "") })
	server, err = s.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return client, server
}

func content(n int, seed uint64) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{byte(seed)}).Read(b)
	return b
}

// Three services beside each other, both ways.
func TestConversation(t *testing.T) {
	for name, c := range map[string]struct{ server, client transport.Config }{
		"anonymous": {},
		"aead":      {transport.Config{Keys: keys}, transport.Config{Identity: identity, Key: key}},
		"mac": {transport.Config{Keys: keys, Mode: session.MAC},
			transport.Config{Identity: identity, Key: key, Mode: session.MAC}},
		"lanes":   {transport.Config{Lanes: 8}, transport.Config{Lanes: 4}},
		"sockets": {transport.Config{Sockets: 3, Keys: keys}, transport.Config{Identity: identity, Key: key}},
	} {
		t.Run(name, func(t *testing.T) {
			s := listen(t, c.server)
			client, server := connect(t, s, c.client)
			if server.Identity() != c.client.Identity {
				t.Errorf("identity %d", server.Identity())
			}
			talk(t, client, server)
			talk(t, server, client)
			if err := client.Close(300, "bye"); err != nil {
				t.Error(err)
			}
			<-server.Done()
			var closed *transport.ClosedError
			if err := server.Err(); !errors.As(err, &closed) || closed.Code != 300 || closed.Text != "bye" || !closed.Remote {
				t.Errorf("the server's end: %v", err)
			}
			if err := client.Err(); !errors.Is(err, transport.ErrClosed) {
				t.Errorf("the client's end: %v", err)
			}
		})
	}
}

// talk uses every service from one end to the other.
func talk(t *testing.T, from, to *transport.Peer) {
	t.Helper()
	ctx := soon(t)
	world := content(200_000, 1)
	sent := make(chan error, 1)
	go func() { sent <- from.Chunks().Send(ctx, world) }()
	for i := range 20 {
		if err := from.Channel(1).Send(fmt.Appendf(nil, "message %d", i)); err != nil {
			t.Fatal(err)
		}
		if err := from.Channel(2).Send(fmt.Appendf(nil, "item %d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := from.Unreliable().Send([]byte("position")); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if m, err := to.Channel(1).Recv(ctx); err != nil || string(m) != fmt.Sprint("message ", i) {
			t.Fatalf("%q, %v", m, err)
		}
	}
	seen := map[string]bool{}
	for range 20 {
		m, err := to.Channel(2).Recv(ctx)
		if err != nil {
			t.Fatal(err)
		}
		seen[string(m)] = true
	}
	if len(seen) != 20 {
		t.Errorf("%d items", len(seen))
	}
	if m, err := to.Unreliable().Recv(ctx); err != nil || string(m) != "position" {
		t.Fatalf("%q, %v", m, err)
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	if got, err := to.Chunks().Recv(ctx); err != nil || !bytes.Equal(got, world) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	if err := from.Flush(ctx); err != nil {
		t.Fatal(err)
	}
}
