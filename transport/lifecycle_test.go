package transport_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/transport"
)

func withKey(id uint64, k session.Key) transport.Config {
	return transport.Config{Identity: id, Key: k}
}

// refusals are in the words of who made the client.
var refusals = map[string]string{
	"another key":         "the server does not know the identity 77, or has another Config.Key for it, or another Config.ServerKey",
	"an unknown identity": "the server does not know the identity 5, or has another Config.Key for it, or another Config.ServerKey",
	"anonymous":           "the server lets in only clients with Config.Identity and Config.Key, or has another Config.ServerKey",
	"another protocol":    "the server has another Config.ProtocolID: both ends need the same",
	"another mode":        "the server has another Config.Mode: both ends need the same",
	"other channels":      "the server has other Config.Channels: both ends need the same",
}

// A handshake that cannot succeed is an error: at once if the server proves that it
// refuses, after a second if anyone could have said it, by the time-out if nobody
// answers.
func TestDialFails(t *testing.T) {
	other := []channel.Config{{ID: 3, Kind: channel.Ordered}}
	for name, c := range map[string]struct {
		server, client transport.Config
		path           netsim.Path
		want           error
		reason         session.Reason
		least, most    time.Duration
	}{
		"another key":         {transport.Config{Keys: keys}, withKey(identity, session.Key{9}), short, transport.ErrRefused, session.UnknownIdentity, time.Second, 1200 * ms},
		"an unknown identity": {transport.Config{Keys: keys}, withKey(5, key), short, transport.ErrRefused, session.UnknownIdentity, time.Second, 1200 * ms},
		"anonymous":           {transport.Config{Keys: keys}, transport.Config{}, short, transport.ErrRefused, session.UnknownIdentity, time.Second, 1200 * ms},
		"another protocol":    {transport.Config{}, transport.Config{ProtocolID: 7}, short, transport.ErrRefused, session.OtherProtocol, 0, 100 * ms},
		"another mode":        {transport.Config{Keys: keys}, transport.Config{Identity: identity, Key: key, Mode: session.MAC}, short, transport.ErrRefused, session.OtherMode, 0, 100 * ms},
		"other channels":      {transport.Config{}, transport.Config{Channels: other}, short, transport.ErrRefused, session.OtherFormat, 0, 100 * ms},
		"nobody":              {transport.Config{}, transport.Config{}, outage, transport.ErrTimeout, 0, 10 * time.Second, 10100 * ms},
		"nobody, sooner":      {transport.Config{}, transport.Config{Timeout: 2 * time.Second}, outage, os.ErrDeadlineExceeded, 0, 2 * time.Second, 2100 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, c.path, c.server, func(w *world) {
				start := time.Now()
				_, err := w.dial("c", c.client)
				if !errors.Is(err, c.want) {
					t.Fatalf("the error is %v, want %v", err, c.want)
				}
				if says := refusals[name]; says != "" && err.Error() != "transport: connection refused by s: "+says {
					t.Errorf("the error is %v, want %s", err, says)
				}
				wantTook(t, "Dial", start, c.least, c.most)
				var refused *session.RefusedError
				if errors.As(err, &refused) != (c.reason != 0) || refused != nil && refused.Reason != c.reason {
					t.Errorf("the error is %v, want the reason %v", err, c.reason)
				}
				if c.reason != 0 && w.server.Stats().Refused[c.reason] == 0 {
					t.Errorf("the server counted %v", w.server.Stats().Refused)
				}
			})
		})
	}
}

// A server that is full refuses who comes, and serves who is there; a place that was
// left is free.
func TestFull(t *testing.T) {
	bubble(t, short, transport.Config{MaxPeers: 1}, func(w *world) {
		client, server := w.connect("c", transport.Config{})
		_, err := w.dial("d", transport.Config{})
		if !errors.Is(err, &session.RefusedError{Reason: session.Full}) {
			t.Fatalf("the second is told %v", err)
		}
		client.Channel(1).Send([]byte("x"))
		if m, err := server.Channel(1).Recv(background); string(m) != "x" {
			t.Fatal(err)
		}
		client.Close(0, "")
		w.connect("e", transport.Config{})
	})
}

// Who waits in vain for a reply is told so when its context ends, and leaves nothing.
func TestDialIsCanceled(t *testing.T) {
	bubble(t, outage, transport.Config{}, func(w *world) {
		_, err := transport.Over(within(w.t, time.Second), w.listen("c"), netsim.Addr("s"), transport.Config{})
		if !errors.Is(err, transport.ErrCanceled) {
			t.Errorf("Over: %v", err)
		}
		if pc, err := w.net.Listen("c"); err != nil {
			t.Error("the socket is open: ", err)
		} else {
			pc.Close()
		}
	})
}

// A client with the key of a server connects to that server alone, and a server with a key has no client
// without it (CXT-SAFE-10).
func TestTheKeyOfAServer(t *testing.T) {
	private := session.Key{1, 2, 3}
	bubble(t, short, transport.Config{PrivateKey: private}, func(w *world) {
		w.connect("c", transport.Config{ServerKey: session.ServerKey(private)})
		for _, other := range []session.Share{{}, session.ServerKey(session.Key{4})} {
			_, err := transport.Over(within(w.t, 5*time.Second), w.listen("o"), netsim.Addr("s"), transport.Config{ServerKey: other})
			var refused *session.RefusedError
			check.That(w.t, errors.As(err, &refused) && refused.Reason == session.UnknownIdentity, "it is refused")
		}
	})
}

// A second connection of an identity replaces the first, at both ends.
func TestReplaced(t *testing.T) {
	bubble(t, short, transport.Config{Keys: keys}, func(w *world) {
		client1, server1 := w.connect("c", withKey(identity, key))
		start := time.Now()
		client2, server2 := w.connect("d", withKey(identity, key))
		<-server1.Done()
		if !errors.Is(server1.Err(), transport.ErrReplaced) {
			t.Errorf("the server's end: %v", server1.Err())
		}
		<-client1.Done()
		if !errors.Is(client1.Err(), transport.ErrReplaced) {
			t.Errorf("the first client's end: %v", client1.Err())
		}
		wantTook(t, "learning of it", start, 0, 5*time.Second)
		client2.Channel(1).Send([]byte("x"))
		if m, err := server2.Channel(1).Recv(background); string(m) != "x" {
			t.Error(err)
		}
		if st := w.server.Stats(); st.Replaced != 1 || st.Peers != 1 {
			t.Errorf("%d replaced, %d peers", st.Replaced, st.Peers)
		}
	})
}

// An idle connection lives as long as the path; both ends notice when it is gone.
func TestTimeout(t *testing.T) {
	bubble(t, short, transport.Config{}, func(w *world) {
		client, server := w.connect("c", transport.Config{})
		time.Sleep(5 * time.Minute)
		if client.Err() != nil || server.Err() != nil {
			t.Fatal(client.Err(), server.Err())
		}
		w.setPath("c", outage)
		start := time.Now()
		for _, p := range []*transport.Peer{client, server} {
			_, err := p.Chunks().Recv(background)
			if !errors.Is(err, transport.ErrTimeout) || !errors.Is(p.Err(), transport.ErrTimeout) {
				t.Errorf("%v, %v", err, p.Err())
			}
		}
		wantTook(t, "noticing", start, 8*time.Second, 11*time.Second)
		if n := w.server.Stats().Peers; n != 0 {
			t.Errorf("%d peers", n)
		}
	})
}

// An outage shorter than the time-out delays, and nothing else.
func TestOutage(t *testing.T) {
	bubble(t, short, transport.Config{}, func(w *world) {
		client, server := w.connect("c", transport.Config{})
		w.setPath("c", outage)
		world := content(100_000, 1)
		d, err := server.Chunks().Enqueue(background, world)
		if err != nil {
			t.Fatal(err)
		}
		client.Channel(1).Send([]byte("still here"))
		time.Sleep(7 * time.Second)
		w.setPath("c", short)
		if m, err := server.Channel(1).Recv(within(w.t, 5*time.Second)); string(m) != "still here" {
			t.Error(err)
		}
		if got, err := client.Chunks().Recv(within(w.t, 5*time.Second)); !bytes.Equal(got, world) {
			t.Error(err)
		}
		if err := d.Wait(background); err != nil {
			t.Error(err)
		}
	})
}

// Close is heard by the other end, with its reason; the data that have arrived can still be read
// there, and an ack that is due goes out before.
func TestClose(t *testing.T) {
	for _, closer := range []string{"client", "server"} {
		t.Run(closer, func(t *testing.T) {
			bubble(t, short, transport.Config{}, func(w *world) {
				client, server := w.connect("c", transport.Config{})
				here, there := client, server
				if closer == "server" {
					here, there = server, client
				}
				if err := here.Close(7, ""); err == nil || here.Err() != nil {
					t.Fatalf("a code that is not the application's: %v, %v", err, here.Err())
				}
				here.Channel(1).Send([]byte("last words"))
				if err := here.Flush(background); err != nil {
					t.Fatal(err)
				}
				d, _ := there.Chunks().Enqueue(background, content(2000, 1))
				here.Chunks().Recv(background)
				start := time.Now()
				if err := here.Close(256, "done"); err != nil {
					t.Fatal(err)
				}
				if err := d.Wait(background); err != nil {
					t.Errorf("the chunk was received, but its sender has %v", err)
				}
				_, err := there.Chunks().Recv(background)
				var closed *transport.ClosedError
				if !errors.Is(err, transport.ErrClosedRemotely) || !errors.As(err, &closed) || closed.Code != 256 || closed.Text != "done" {
					t.Errorf("there: %v", err)
				}
				wantTook(t, "hearing it", start, 0, 50*ms)
				if m, err := there.Channel(1).Recv(background); string(m) != "last words" {
					t.Errorf("%q, %v", m, err)
				}
				if _, err := there.Channel(1).Recv(background); !errors.Is(err, transport.ErrClosedRemotely) {
					t.Error(err)
				}
				for _, err := range []error{here.Err(), here.Channel(1).Send([]byte("x")), here.Chunks().Send(background, []byte("x")), here.Flush(background)} {
					if !errors.Is(err, transport.ErrClosed) || !errors.Is(err, net.ErrClosed) {
						t.Errorf("here: %v", err)
					}
				}
				if err := here.Close(0, ""); err != nil {
					t.Error("again: ", err)
				}
			})
		})
	}
}

// A server that closes informs all its clients.
func TestServerClose(t *testing.T) {
	bubble(t, short, transport.Config{}, func(w *world) {
		var clients []*transport.Peer
		for i := range 20 {
			c, _ := w.connect(netsim.Addr(fmt.Sprint("c", i)), transport.Config{})
			clients = append(clients, c)
		}
		accepted := make(chan error)
		go func() { _, err := w.server.Accept(background); accepted <- err }()
		start := time.Now()
		if err := w.server.Close(); err != nil {
			t.Error(err)
		}
		wantTook(t, "Close", start, 20*ms, 100*ms)
		for _, c := range clients {
			if _, err := c.Channel(1).Recv(background); !errors.Is(err, transport.ErrClosedRemotely) {
				t.Error(err)
			}
		}
		if err := <-accepted; !errors.Is(err, transport.ErrClosed) || !errors.Is(w.server.Err(), transport.ErrClosed) {
			t.Error(err)
		}
		<-w.server.Done()
	})
}

// A server whose clients are gone does not wait for them without end.
func TestServerCloseAlone(t *testing.T) {
	bubble(t, short, transport.Config{}, func(w *world) {
		w.connect("c", transport.Config{})
		w.setPath("c", outage)
		start := time.Now()
		w.server.Close()
		wantTook(t, "Close", start, time.Second, 1100*ms)
	})
}

// A client that comes from another address goes on, in mid-transfer, and nothing is
// lost or comes twice.
func TestRebind(t *testing.T) {
	bubble(t, netsim.Path{Delay: 10 * ms, Loss: 2}, transport.Config{Keys: keys}, func(w *world) {
		client, server := w.connect("c0", withKey(identity, key))
		world := content(250_000, 3)
		sent := make(chan error, 1)
		go func() { sent <- server.Chunks().Send(background, world) }()
		go func() {
			for i := range 200 {
				client.Channel(1).Send(fmt.Appendf(nil, "message %d", i))
				time.Sleep(5 * ms)
			}
		}()
		for i := range 5 {
			time.Sleep(50 * ms)
			to := netsim.Addr(fmt.Sprint("c", i+1))
			if err := client.RebindOver(w.listen(to)); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 200 {
			if m, err := server.Channel(1).Recv(within(w.t, 10*time.Second)); string(m) != fmt.Sprint("message ", i) {
				t.Fatalf("%q, %v", m, err)
			}
		}
		if err := <-sent; err != nil {
			t.Fatal(err)
		}
		if got, err := client.Chunks().Recv(background); !bytes.Equal(got, world) {
			t.Fatal(err)
		}
		if got := server.RemoteAddr().String(); got != "c5" || w.server.Stats().Moved < 3 {
			t.Errorf("the client is at %s, after %d moves", got, w.server.Stats().Moved)
		}
		select {
		case <-client.Chunks().RecvReady():
			t.Error("something came twice")
		default:
		}
		if _, ok := server.Channel(1).TryRecv(); ok {
			t.Error("a message came twice")
		}
	})
}

// What is not allowed is an error before anything happens.
func TestConfigErrors(t *testing.T) {
	for name, cfg := range map[string]transport.Config{
		"RecvQueue":    {RecvQueue: -1},
		"SocketBuffer": {SocketBuffer: -1},
		"Sockets":      {Sockets: 257},
		"Lanes":        {Lanes: 17},
		"Variants":     {Variants: 4},
		"Profile":      {Profile: 4},
		"MaxRate":      {Profile: transport.Fixed},
		"Timeout":      {Timeout: 10 * ms},
		"Tick":         {Tick: time.Second},
		"MessageRate":  {MessageRate: 1},
		"MaxPeers":     {MaxPeers: -1, Sockets: 4},
		"Mode":         {Mode: session.CRC, Identity: identity, Key: key, Keys: keys},
		"Key":          {Identity: identity},
		"Channels":     {Channels: []channel.Config{{ID: 64}}},
	} {
		if s, err := transport.Listen("udp4", "127.0.0.1:0", cfg); !errors.Is(err, core.ErrConfig) {
			t.Errorf("%s: Listen returns %v, %v", name, s, err)
		}
		if name == "Sockets" || name == "MaxPeers" {
			continue
		}
		if _, err := transport.Dial(background, "udp4", "127.0.0.1:9", cfg); !errors.Is(err, core.ErrConfig) {
			t.Errorf("%s: Dial returns %v", name, err)
		}
	}
	for _, c := range []struct {
		cfg  transport.Config
		says string
	}{
		{transport.Config{Timeout: time.Millisecond}, "Config.Timeout is 1ms, allowed is 1 s to 1 hour, in units of 100 ms"},
		{transport.Config{Tick: time.Second}, "Config.Tick is 1s, allowed is 5 to 100 ms"},
		{transport.Config{Lanes: 17}, "Config.Lanes is 17, allowed is NoLanes, or 0 to 16"},
		{transport.Config{RecvLimit: -1}, "Config.RecvLimit is -1, allowed is 0 and more"},
		{transport.Config{MaxRate: 1}, "Config.MaxRate is 1, allowed is 8528 bit/s to 8 Gbit/s, or 0 for no limit"},
		{transport.Config{Profile: transport.Fixed}, "Config.MaxRate is 0, allowed is a rate for the profile fixed"},
		{transport.Config{Mode: session.CRC, ServerKey: session.Share{9}, PrivateKey: session.Key{9}}, "Config.Mode is crc, allowed is MAC or AEAD with "},
		{transport.Config{Channels: []channel.Config{{Format: channel.Format{Window: 33}}}}, "Config.Channels: Window is 33, allowed is a power of two, 32 to 16384"},
	} {
		_, err := transport.Listen("udp4", "127.0.0.1:0", c.cfg)
		_, err2 := transport.Dial(background, "udp4", "127.0.0.1:9", c.cfg)
		for _, err := range []error{err, err2} {
			if err == nil || !strings.HasPrefix(err.Error(), "bad configuration: "+c.says) {
				t.Errorf("%v, want %s", err, c.says)
			}
		}
	}
	var unknown net.UnknownNetworkError
	if _, err := transport.Listen("tcp", "127.0.0.1:0", transport.Config{}); !errors.As(err, &unknown) {
		t.Error(err)
	}
	if _, err := transport.Dial(background, "tcp", "127.0.0.1:9", transport.Config{}); !errors.As(err, &unknown) {
		t.Error(err)
	}
}

// A socket that fails ends everything with the reason, and nothing is left.
func TestTheSocketFails(t *testing.T) {
	bubble(t, short, transport.Config{}, func(w *world) {
		pc := w.listen("s2")
		s, err := transport.New(pc, transport.Config{})
		if err != nil {
			t.Fatal(err)
		}
		client, err := transport.Over(background, w.listen("c"), netsim.Addr("s2"), transport.Config{})
		if err != nil {
			t.Fatal(err)
		}
		server, err := s.Accept(background)
		if err != nil {
			t.Fatal(err)
		}
		pc.Close()
		<-server.Done()
		<-s.Done()
		if _, err := s.Accept(background); !errors.Is(err, net.ErrClosed) || !errors.Is(server.Err(), net.ErrClosed) {
			t.Errorf("%v, %v", err, server.Err())
		}
		if n := s.Stats().Peers; n != 0 {
			t.Errorf("%d peers", n)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if <-client.Done(); !errors.Is(client.Err(), transport.ErrTimeout) {
			t.Error(client.Err())
		}
		client.Close(0, "")
	})
}

// Who is in the middle of the handshake when the server closes is told as well, if its
// handshake ends before the server has told all others.
func TestServerClosesInMidHandshake(t *testing.T) {
	bubble(t, netsim.Path{Delay: 100 * ms}, transport.Config{}, func(w *world) {
		w.connect("gone", transport.Config{})
		w.setPath("gone", outage)
		dialed := make(chan error)
		go func() {
			p, err := w.dial("c", transport.Config{Timeout: 3 * time.Second})
			if err == nil {
				<-p.Done()
				err = p.Err()
			}
			dialed <- err
		}()
		time.Sleep(450 * ms) // LINKED is on its way
		start := time.Now()
		w.server.Close()
		wantTook(t, "Close", start, time.Second, 1100*ms)
		if err := <-dialed; !errors.Is(err, transport.ErrClosedRemotely) {
			t.Error(err)
		}
	})
}

// What came with the last datagrams of a connection that has ended before Accept is not
// lost.
func TestAcceptAfterTheEnd(t *testing.T) {
	bubble(t, short, transport.Config{}, func(w *world) {
		for i, send := range []func(p *transport.Peer) error{
			func(p *transport.Peer) error { return p.Channel(1).Send([]byte("a message")) },
			func(p *transport.Peer) error { return p.Chunks().Send(background, []byte("a chunk")) },
			func(p *transport.Peer) error { return nil },
		} {
			client, err := w.dial(netsim.Addr(fmt.Sprint("c", i)), transport.Config{})
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(send(client), client.Flush(background), client.Close(0, "")); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Second)
		}
		first, err := w.server.Accept(background)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := first.Channel(1).Recv(background); string(m) != "a message" {
			t.Error(err)
		}
		second, err := w.server.Accept(background)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := second.Chunks().Recv(background); string(m) != "a chunk" {
			t.Error(err)
		}
		if p, err := w.server.Accept(within(w.t, time.Second)); !errors.Is(err, transport.ErrCanceled) {
			t.Error(p, err)
		}
	})
}

// Who comes, leaves something and goes does not fill the memory of a server that does not
// accept: they wait in the places of those that can live, and one that lives always has room.
func TestEndedConnectionsDoNotPileUp(t *testing.T) {
	bubble(t, short, transport.Config{MaxPeers: 2}, func(w *world) {
		dial := func(name string) *transport.Peer {
			client, err := w.dial(netsim.Addr(name), transport.Config{})
			if err == nil {
				err = errors.Join(client.Channel(1).Send([]byte(name)), client.Flush(background))
			}
			if err != nil {
				t.Fatal(err)
			}
			return client
		}
		for i := range 5 {
			dial(fmt.Sprint("c", i)).Close(0, "")
			time.Sleep(2 * time.Second)
		}
		dial("living")
		for _, want := range []string{"c0", "living"} {
			p, err := w.server.Accept(within(w.t, time.Second))
			if err != nil {
				t.Fatal(want, err)
			}
			if m, err := p.Channel(1).Recv(background); string(m) != want {
				t.Errorf("%q, %v, want %q", m, err, want)
			}
		}
		if p, err := w.server.Accept(within(w.t, time.Second)); !errors.Is(err, transport.ErrCanceled) {
			t.Error(p, err)
		}
	})
}
