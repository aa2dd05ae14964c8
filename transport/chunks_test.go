package transport_test

import (
	"bytes"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/transport"
)

// Enqueue waits while the queue is full, as long as its context lasts; chunks arrive in
// the order in which they were put in line.
func TestEnqueueWaits(t *testing.T) {
	bubble(t, short, transport.Config{}, func(w *world) {
		cfg := transport.Config{SendQueue: 2, Lanes: 1}
		client, server := w.connect("c", cfg)
		w.setPath("c", outage)
		var all []*transport.Delivery
		for i := range 3 { // one in flight, two behind it
			d, err := client.Chunks().Enqueue(within(w.t, ms), content(2000, uint64(i)))
			if err != nil {
				t.Fatal(i, err)
			}
			all = append(all, d)
		}
		if _, err := client.Chunks().Enqueue(within(w.t, time.Second), []byte("x")); !errors.Is(err, transport.ErrCanceled) {
			t.Errorf("a fourth is taken: %v", err)
		}
		if st := client.Stats(); st.Sending != 3 || all[0].Err() != nil {
			t.Errorf("%d are sent, %v", st.Sending, all[0].Err())
		}
		w.setPath("c", short)
		last, err := client.Chunks().Enqueue(background, content(2000, 3))
		if err != nil {
			t.Fatal(err)
		}
		var buf []byte
		for i, d := range append(all, last) {
			buf, err = server.Chunks().RecvAppend(background, buf[:0])
			if err != nil || !bytes.Equal(buf, content(2000, uint64(i))) {
				t.Fatalf("chunk %d: %d bytes, %v", i, len(buf), err)
			}
			<-d.Done()
		}
		c := client.Chunks()
		if c.Lanes() != 1 || c.SenderStats().Chunks != 4 || server.Chunks().ReceiverStats().Chunks != 4 || server.Chunks().Receiving().ChunkID != 4 {
			t.Errorf("%d lanes, %+v", c.Lanes(), c.SenderStats())
		}
		if c.RemoteAddr().String() != "s" || client.RemoteAddr().String() != "s" || server.Chunks().RemoteAddr().String() != "c" {
			t.Errorf("%v and %v", c.RemoteAddr(), server.RemoteAddr())
		}
		if _, err := server.Chunks().RecvAppend(within(w.t, ms), buf); !errors.Is(err, transport.ErrCanceled) {
			t.Error(err)
		}
	})
}

// Flush of chunks waits until the socket has what is due, and not for the other end.
func TestFlushOfChunks(t *testing.T) {
	bubble(t, netsim.Path{Delay: time.Second}, transport.Config{}, func(w *world) {
		client, server := w.connect("c", transport.Config{})
		d, err := client.Chunks().Enqueue(background, []byte("a chunk"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := server.Chunks().Recv(background); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if err := server.Chunks().Flush(background); err != nil {
			t.Error(err)
		}
		wantTook(t, "Flush", start, 0, 100*ms)
		w.setPath("c", outage) // what is on its way arrives
		if err := d.Wait(within(w.t, 2*time.Second)); err != nil {
			t.Errorf("the ack was not sent: %v", err)
		}
	})
}

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

// What cannot be sent at all is an error at once.
func TestChunksThatCannotBe(t *testing.T) {
	bubble(t, short, transport.Config{}, func(w *world) {
		client, _ := w.connect("c", transport.Config{})
		for _, size := range []int{0, transport.MaxChunkSize + 1} {
			if err := client.Chunks().Send(background, make([]byte, size)); !errors.Is(err, statemachine.ErrChunkSize) {
				t.Errorf("%d bytes: %v", size, err)
			}
		}
		none, _ := w.connect("d", transport.Config{Lanes: transport.NoLanes})
		if err := none.Chunks().Send(background, []byte("x")); !errors.Is(err, connection.ErrNoLanes) {
			t.Error(err)
		}
		if client.Err() != nil || none.Err() != nil {
			t.Error(client.Err(), none.Err())
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
		link := session.Message{Kind: session.KindLink, Offer: session.Offer{
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
