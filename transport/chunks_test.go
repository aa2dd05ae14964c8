package transport_test

import (
	"errors"
	"net"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/transport"
)

// A chunk that makes no progress ends the connection, although the other end is there.
func TestAChunkFails(t *testing.T) {
	bubble(t, short, transport.Config{RecvLimit: 1}, func(w *world) {
		client, server := w.connect("c", transport.Config{GiveUp: 2 * time.Second})
		if err := client.Chunks().Send(background, []byte("the only one")); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		err := client.Chunks().Send(background, []byte("one too many"))
		if !errors.Is(err, transport.ErrFailed) || !errors.Is(client.Err(), transport.ErrFailed) {
			t.Errorf("%v, %v", err, client.Err())
		}
		wantTook(t, "Send", start, 2*time.Second, 2100*ms)
		<-server.Done()
		var closed *transport.ClosedError
		if !errors.As(server.Err(), &closed) || closed.Code != connection.CodeFailed {
			t.Error(server.Err())
		}
	})
}

// A channel that gets no room fails: who waits at it, and who uses it later, learns why. The connection
// goes on (CXL-17).
func TestAChannelFails(t *testing.T) {
	bubble(t, short, transport.Config{}, func(w *world) {
		channels := connection.DefaultChannels()
		channels[1].GiveUp = 2 * core.Second
		client, server := w.connect("c", transport.Config{Channels: channels, MessageRate: 64_000})
		waited := make(chan error, 1)
		go func() {
			_, err := client.Channel(1).Recv(background)
			waited <- err
		}()
		for start := time.Now(); time.Since(start) < 3*time.Second; time.Sleep(50 * ms) {
			_ = client.Channel(1).Send([]byte("behind the others"))
			_ = client.Unreliable().Send(make([]byte, 1150)) // of a higher priority, and more than the rate
		}
		for name, err := range map[string]error{
			"Recv before": <-waited, "Send": client.Channel(1).Send([]byte("x")), "Err": client.Channel(1).Err(), "Flush": client.Flush(background),
		} {
			if !errors.Is(err, transport.ErrFailed) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := client.Channel(2).Send([]byte("of another channel")); err != nil || client.Err() != nil {
			t.Error(err, client.Err())
		}
		if got, err := server.Channel(2).Recv(background); string(got) != "of another channel" {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// Ends that agreed on no lanes have no chunks.
func TestNoLanes(t *testing.T) {
	bubble(t, short, transport.Config{}, func(w *world) {
		none, _ := w.connect("d", transport.Config{Lanes: transport.NoLanes})
		if err := none.Chunks().Send(background, []byte("x")); !errors.Is(err, connection.ErrNoLanes) {
			t.Error(err)
		}
		if none.Err() != nil {
			t.Error(none.Err())
		}
	})
}

// What a server remembers of those who came is forgotten, and that costs it nothing
// meanwhile.
func TestAServerForgets(t *testing.T) {
	bubble(t, short, transport.Config{}, func(w *world) {
		// Half a handshake: who was challenged does not answer.
		half := w.listen("half")
		defer half.Close()
		link := session.Message{Kind: session.KindLink, Versions: session.Versions{session.Version}, Offer: session.Offer{
			Mode: session.CRC, Lanes: 1, Variants: 1, Timeout: 10 * core.Second, Nonce: session.Nonce{1},
		}}
		datagram, err := link.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		half.WriteTo(datagram, netsim.Addr("s"))
		half.WriteTo([]byte("nonsense"), netsim.Addr("s"))
		client, _ := w.connect("c", transport.Config{})
		client.Close(0, "")
		time.Sleep(time.Minute)
		st := w.server.Stats()
		if st.Peers != 0 || st.Challenges != 2 || st.Undecodable[session.CodeUnknownKind] != 1 {
			t.Errorf("%d peers, %d challenges, %v", st.Peers, st.Challenges, st.Undecodable)
		}
		if from := st.UndecodableFrom[session.CodeUnknownKind]; from == nil || from.String() != "half" {
			t.Errorf("nonsense came from %v", from)
		}
	})
}

// Sockets that cannot be used are errors, and are closed.
func TestSocketsThatCannotBeUsed(t *testing.T) {
	open := func() *net.UDPConn {
		conn, err := net.DialUDP("udp4", nil, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9})
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	closed := func(conn *net.UDPConn) {
		t.Helper()
		if _, err := conn.Write(nil); !errors.Is(err, net.ErrClosed) {
			t.Errorf("the socket is open: %v", err)
		}
	}
	conn := open()
	if _, err := transport.New(conn, transport.Config{}); !errors.Is(err, core.ErrConfig) {
		t.Errorf("New on a connected socket: %v", err)
	}
	closed(conn)
	conn = open()
	if _, err := transport.Over(background, conn, conn.RemoteAddr(), transport.Config{}); !errors.Is(err, core.ErrConfig) {
		t.Errorf("Over a connected socket: %v", err)
	}
	closed(conn)
	pc, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	var wrong *net.AddrError
	if _, err := transport.Over(background, pc, &net.UDPAddr{}, transport.Config{}); !errors.As(err, &wrong) {
		t.Errorf("Over to no address: %v", err)
	}
	closed(pc)
	if pc, err = net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}); err != nil {
		t.Fatal(err)
	}
	if _, err := transport.New(pc, transport.Config{Sockets: 2}); !errors.Is(err, core.ErrConfig) {
		t.Errorf("New with two sockets: %v", err)
	}
	closed(pc)
}

// Who cannot move is told so.
func TestRebindErrors(t *testing.T) {
	bubble(t, short, transport.Config{}, func(w *world) {
		client, server := w.connect("c", transport.Config{})
		for _, p := range []*transport.Peer{client, server} {
			if err := p.Rebind(background); !errors.Is(err, core.ErrConfig) {
				t.Error(err)
			}
		}
		if err := server.RebindOver(w.listen("d")); !errors.Is(err, core.ErrConfig) {
			t.Error(err)
		}
		client.Close(0, "")
		if err := client.RebindOver(w.listen("d")); !errors.Is(err, transport.ErrClosed) {
			t.Error(err)
		}
		w.listen("d").Close() // so it was closed each time
		sent, _ := server.Channel(1).Stats()
		if sent.Messages != 0 || w.server.Config().RecvQueue == 0 {
			t.Errorf("%+v", sent)
		}
	})
}

// With what a Config has by default, chunks fill a long path (L8: 19 of 200 Mbit/s with one lane, 158 with 8).
func TestChunksFillALongPath(t *testing.T) {
	const rate, opening, measured = 200_000_000, 3 * time.Second, time.Second
	bubble(t, netsim.Path{Delay: 50 * ms, Rate: rate, Overhead: 28}, transport.Config{RecvQueue: 16}, func(w *world) {
		client, server := w.connect("c", transport.Config{})
		ctx := within(t, opening+measured)
		go func() {
			for {
				if _, err := client.Chunks().Enqueue(ctx, worldChunk); err != nil {
					return
				}
			}
		}()
		var received int64
		buf := make([]byte, 0, len(worldChunk))
		for start := time.Now(); ; {
			if _, err := server.Chunks().RecvAppend(ctx, buf); err != nil {
				break
			}
			if time.Since(start) >= opening {
				received += int64(len(worldChunk)) / 1024 * (1024 + 26 + 28) * 8 // with headers
			}
		}
		if use := float64(received) / measured.Seconds() / rate; use < 0.95 || use > 1.05 {
			t.Errorf("%.3f of the path", use)
		} else {
			t.Logf("%.3f of the path", use)
		}
	})
}
