package transport_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/conform/logtest"
	"github.com/chunkwire/chunkwire/transport"
)

// Nobody listens, and the system says so: Dial does not wait (CXA-6).
func TestNobodyListens(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems need not say so")
	}
	pc, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := pc.LocalAddr().String()
	pc.Close()
	start := time.Now()
	var log logtest.Text
	if _, err := transport.Dial(soon(t), "udp4", address, transport.Config{Log: log.Add}); !errors.Is(err, transport.ErrUnreachable) {
		t.Error(err)
	}
	if len(log.Lines) != 1 || !strings.Contains(log.Lines[0], "client connection_ended why=unreachable text=transport: nobody listens at "+address) {
		t.Errorf("logged %q", log.Lines)
	}
	wantTook(t, "Dial", start, 0, 2*time.Second)
}

// A client that goes on with another port arrives at another socket of the server, and
// the connection does not notice. What the system spreads, the server brings together.
func TestRebindOverSockets(t *testing.T) {
	for _, id := range []uint64{0, identity} {
		for _, sockets := range []int{1, 4} {
			t.Run(fmt.Sprintf("identity %d, %d sockets", id, sockets), func(t *testing.T) {
				t.Parallel()
				server, client := transport.Config{Sockets: sockets}, transport.Config{}
				if id != 0 {
					server.Keys, client.Identity, client.Key = keys, id, key
				}
				s := listen(t, server)
				c, p := connect(t, s, client)
				ctx := soon(t)
				world := content(250_000, 1)
				sent := make(chan error, 1)
				go func() { sent <- p.Chunks().Send(ctx, world) }()
				const moves = 6
				for i := range moves {
					if err := c.Rebind(ctx); err != nil {
						t.Fatal(err)
					}
					word := fmt.Appendf(nil, "from port %d", i)
					c.Channel(1).Send(word)
					if m, err := p.Channel(1).Recv(ctx); !bytes.Equal(m, word) {
						t.Fatalf("%q, %v", m, err)
					}
					p.Channel(2).Send(word)
					if m, err := c.Channel(2).Recv(ctx); !bytes.Equal(m, word) {
						t.Fatalf("%q, %v", m, err)
					}
				}
				if err := <-sent; err != nil {
					t.Fatal(err)
				}
				if got, err := c.Chunks().Recv(ctx); !bytes.Equal(got, world) {
					t.Fatal(err)
				}
				if st := s.Stats(); st.Moved != moves || st.Peers != 1 {
					t.Errorf("%d moves, %d peers", st.Moved, st.Peers)
				}
				if p.RemoteAddr().String() != c.LocalAddr().String() {
					t.Errorf("the server has %v, the client is %v", p.RemoteAddr(), c.LocalAddr())
				}
			})
		}
	}
}

// Many clients at once, and everything is over when the server is: no goroutine is left.
func TestManyClients(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, sockets := range []int{1, 3} {
		s := listen(t, transport.Config{Sockets: sockets, MaxPeers: 300, MaxPerAddress: 300})
		ctx := soon(t)
		const clients = 40
		world := content(30_000, 9)
		go func() {
			for {
				p, err := s.Accept(ctx)
				if err != nil {
					return
				}
				go p.Chunks().Send(ctx, world)
			}
		}()
		var all sync.WaitGroup
		for range clients {
			all.Go(func() {
				c, err := transport.Dial(ctx, "udp4", s.Addr().String(), transport.Config{})
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := c.Chunks().Recv(ctx); !bytes.Equal(got, world) {
					t.Error(err)
				}
				if err := c.Close(0, ""); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	for range 2000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * ms)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

// A chunk that is canceled while it waits is withdrawn; in mid-flight it ends the
// connection, as chunks cannot be taken back.
func TestCancel(t *testing.T) {
	bubble(t, short, transport.Config{}, func(w *world) {
		client, server := w.connect("c", transport.Config{})
		w.setPath("c", outage)
		first, _ := client.Chunks().Enqueue(background, content(2000, 1))
		second, _ := client.Chunks().Enqueue(background, content(2000, 2))
		third, _ := client.Chunks().Enqueue(background, content(2000, 3))
		second.Cancel(nil)
		if err := second.Wait(background); !errors.Is(err, transport.ErrCanceled) {
			t.Error(err)
		}
		w.setPath("c", short)
		for _, seed := range []uint64{1, 3} {
			if got, err := server.Chunks().Recv(background); !bytes.Equal(got, content(2000, seed)) {
				t.Error(err)
			}
		}
		if err := errors.Join(first.Wait(background), third.Wait(background)); err != nil {
			t.Error(err)
		}
		w.setPath("c", outage)
		err := client.Chunks().Send(within(w.t, 100*ms), content(2000, 4))
		if !errors.Is(err, transport.ErrCanceled) || !errors.Is(client.Err(), transport.ErrCanceled) {
			t.Errorf("%v, %v", err, client.Err())
		}
		w.setPath("c", short)
		<-server.Done()
		if !errors.Is(server.Err(), transport.ErrClosedRemotely) {
			t.Error(server.Err())
		}
	})
}
