package plain_test

import (
	"maps"
	"net"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// server is an endpoint "b" and the means to send it anything from anywhere.
type server struct {
	*world
	senders map[netsim.Addr]net.PacketConn
}

func serve(t *testing.T, cfg plain.Config) *server {
	t.Helper()
	s := &server{&world{t: t, net: netsim.NewNetwork(1)}, map[netsim.Addr]net.PacketConn{}}
	s.tapB, s.b = s.open("b", cfg)
	return s
}

// says sends a datagram from an address and waits until it has been handled.
func (s *server) says(from netsim.Addr, datagram []byte) {
	s.t.Helper()
	if s.senders[from] == nil {
		pc, err := s.net.Listen(from)
		if err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(func() { pc.Close() })
		s.senders[from] = pc
	}
	s.senders[from].WriteTo(datagram, netsim.Addr("b"))
	time.Sleep(ms)
	synctest.Wait()
}

// beginning is a valid first slice.
func beginning() []byte { return sliceDatagram(codec.Slice{NumSlices: 2, Data: content(1024, 1)}) }

func sliceDatagram(s codec.Slice) []byte {
	datagram, err := framer.AppendSlice(nil, s)
	if err != nil {
		panic(err)
	}
	return datagram
}

func ackDatagram(a codec.Ack) []byte {
	datagram, err := framer.AppendAck(nil, a)
	if err != nil {
		panic(err)
	}
	return datagram
}

// change returns a datagram with one bit changed.
func change(datagram []byte, at int) []byte {
	datagram[at] ^= 1
	return datagram
}

// From an unknown address everything but a valid first slice
// costs one counter, no state, and no answer (CON-4, SEC-2, FRM-5).
// Another address is another connection (CON-8).
func TestUnknownPeers(t *testing.T) {
	other := codec.NewFramer(protocolID + 1)
	wrongID, _ := other.AppendSlice(nil, codec.Slice{NumSlices: 1, Data: []byte("x")})
	undecodable, unknown := plain.EndpointStats{Undecodable: 1}, plain.EndpointStats{UnknownPeers: 1}
	for _, c := range []struct {
		name     string
		datagram []byte
		want     plain.EndpointStats
	}{
		{"a good beginning", beginning(), plain.EndpointStats{Peers: 1}},
		{"an empty datagram", nil, undecodable},
		{"noise", content(200, 1), undecodable},
		{"a changed bit", change(beginning(), 500), undecodable},
		{"a changed checksum", change(beginning(), 0), undecodable},
		{"cut short", beginning()[:900], undecodable},
		{"too long", append(beginning(), 0), undecodable},
		{"far too long", append(beginning(), make([]byte, 5000)...), undecodable},
		{"another protocol", wrongID, undecodable},
		{"an ack", ackDatagram(codec.Ack{NumSlices: 1, Acked: core.FirstN(1)}), unknown},
		{"a later chunk", sliceDatagram(codec.Slice{ChunkID: 1, NumSlices: 1, Data: []byte("x")}), unknown},
		{"the chunk before", sliceDatagram(codec.Slice{ChunkID: 65535, NumSlices: 1, Data: []byte("x")}), unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := serve(t, with(nil))
				s.says("x", c.datagram)
				st := s.b.Stats()
				if st.Undecodable != c.want.Undecodable || st.UnknownPeers != c.want.UnknownPeers || st.Peers != c.want.Peers {
					t.Errorf("%d undecodable, %d from unknown peers, %d peers", st.Undecodable, st.UnknownPeers, st.Peers)
				}
				if st.DatagramsIn != 1 || st.DatagramsOut != int64(st.Peers) {
					t.Errorf("%d datagrams in, %d out", st.DatagramsIn, st.DatagramsOut)
				}
			})
		})
	}
}

// What does not decode does nothing from a known peer either (CON-4).
func TestUndecodableInTheMiddle(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, with(nil))
		sent := during(func() error { return w.toB.Send(background, content(262_144, 1)) })
		for i := range 100 {
			w.tapA.PacketConn.WriteTo(content(i*11, uint64(i)), netsim.Addr("b"))
			time.Sleep(ms / 10)
		}
		mustRecv(t, w.toA, content(262_144, 1))
		wantErr(t, "Send", <-sent, nil)
		if st := w.b.Stats(); st.Undecodable != 100 {
			t.Errorf("%d undecodable, want 100", st.Undecodable)
		}
	})
}

// Whoever forges a source makes it get little more than was sent, and
// nothing on its own (BND-2).
func TestNoAmplification(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := serve(t, with(nil))
		smallest := sliceDatagram(codec.Slice{SliceID: 255, NumSlices: 256, Data: []byte("x")})
		s.says("victim", smallest)
		time.Sleep(time.Minute)
		st := s.b.Stats()
		if st.DatagramsOut != 1 || st.BytesOut+28 > 2*(st.BytesIn+28) {
			t.Errorf("%d bytes in, %d out in %d datagrams", st.BytesIn, st.BytesOut, st.DatagramsOut)
		}
		if st.Peers != 0 {
			t.Error("the half chunk is still kept")
		}
	})
}

// Admit is called before there is any state (SEC-2).
func TestAdmit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var asked []string
		var s *server
		s = serve(t, with(func(cfg *plain.Config) {
			cfg.Admit = func(addr net.Addr) bool {
				asked = append(asked, addr.String())
				s.b.Stats() // no lock is held
				return addr.String() == "friend"
			}
		}))
		s.says("foe", beginning())
		s.says("foe", beginning())
		s.says("friend", beginning())
		s.says("friend", beginning()) // known by now
		s.says("x", content(30, 1))   // not worth a question
		if st := s.b.Stats(); st.Refused != 2 || st.Peers != 1 || len(asked) != 3 {
			t.Errorf("asked for %v: %d refused, %d peers", asked, st.Refused, st.Peers)
		}
		c, err := s.b.Accept(background)
		if err != nil || c.RemoteAddr().String() != "friend" || c.LocalAddr().String() != "b" {
			t.Errorf("accepted %v, %v", c, err)
		}
	})
}

// Admit is called without locks, so it may even dial.
func TestAdmitThatDials(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var s *server
		var dialed *plain.Conn
		s = serve(t, with(func(cfg *plain.Config) {
			cfg.MaxPeers = 1
			cfg.Admit = func(net.Addr) bool {
				if dialed == nil {
					dialed = s.dial(s.b, "friend")
				}
				return true
			}
		}))
		s.says("other", beginning()) // the hook takes the only place meanwhile
		s.says("friend", beginning())
		if st := s.b.Stats(); st.Full != 1 || st.Peers != 1 || dialed.Stats().DatagramsIn != 1 {
			t.Errorf("%d too many, %d peers, %+v", st.Full, st.Peers, dialed.Stats().Traffic)
		}
		dialed.Close()
		dialed = nil
		s.says("friend", beginning()) // the slice goes to the connection that the hook made
		if st := dialed.Stats(); st.Receiving.NumSlices != 2 {
			t.Errorf("receiving %+v", st.Receiving)
		}
	})
}

// A connection with much to send does not keep the others waiting.
func TestFairness(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, with(func(cfg *plain.Config) {
			cfg.NewScheduler = func() (statemachine.Scheduler, error) { return base.New(base.Fixed(0)) }
		}))
		other := w.dial(w.a, "c")
		started := make(chan bool, 1000)
		w.tapA.DropIf(func(packet) bool {
			if len(started) == 0 {
				started <- true
				time.Sleep(ms)
			}
			return false
		})
		w.toB.Enqueue(background, content(262_144, 1))
		<-started
		other.Enqueue(background, []byte("me too"))
		started <- true
		time.Sleep(5 * ms)
		w.mu.Lock()
		defer w.mu.Unlock()
		if i := slices.Index(w.tapA.To, net.Addr(netsim.Addr("c"))); i < 0 || i > 128 {
			t.Errorf("the other connection's datagram was number %d", i)
		}
	})
}

// The number of connections is bounded, and ended ones make room (SEC-3).
func TestMaxPeers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		asked := 0
		s := serve(t, with(func(cfg *plain.Config) {
			cfg.MaxPeers = 2
			cfg.Admit = func(net.Addr) bool { asked++; return true }
		}))
		s.says("one", beginning())
		c, err := s.b.Accept(background)
		wantErr(t, "Accept", err, nil)
		s.says("two", beginning())
		s.says("three", beginning())
		_, err = s.b.Dial(netsim.Addr("four"))
		wantErr(t, "Dial", err, plain.ErrTooManyPeers)
		if st := s.b.Stats(); st.Full != 1 || st.Peers != 2 || asked != 2 {
			t.Errorf("%d too many, %d peers, asked %d times", st.Full, st.Peers, asked)
		}
		c.Close()
		s.says("three", beginning())
		if st := s.b.Stats(); st.Full != 1 || st.Peers != 2 {
			t.Errorf("after a place was free: %d too many, %d peers", st.Full, st.Peers)
		}
	})
}

// wholeChunk is a chunk of one slice: one datagram leaves a connection that
// waits for the next.
func wholeChunk() []byte { return sliceDatagram(codec.Slice{NumSlices: 1, Data: []byte("x")}) }

// acceptAll accepts every connection, and reads what comes, until the end.
func acceptAll(e *plain.Endpoint) (all func() map[string]*plain.Conn) {
	var mu sync.Mutex
	accepted := map[string]*plain.Conn{}
	go func() {
		for {
			c, err := e.Accept(background)
			if err != nil {
				return
			}
			mu.Lock()
			accepted[c.RemoteAddr().String()] = c
			mu.Unlock()
			go func() {
				for err := error(nil); err == nil; {
					_, err = c.Recv(background)
				}
			}()
		}
	}()
	return func() map[string]*plain.Conn {
		mu.Lock()
		defer mu.Unlock()
		return maps.Clone(accepted)
	}
}

// A datagram from each of many forged sources takes all places, but
// only for a time.
func TestFloodOfPeers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := serve(t, with(nil))
		accepted := acceptAll(s.b)
		for i := range 1024 {
			s.says(netsim.Addr(strconv.Itoa(i)), wholeChunk())
		}
		s.says("too early", wholeChunk())
		if st := s.b.Stats(); st.Peers != 1024 || st.Full != 1 {
			t.Errorf("%d peers, %d too many: the test tests nothing", st.Peers, st.Full)
		}
		time.Sleep(10 * time.Second)
		_, e := s.open("genuine", with(nil))
		mustSend(t, s.dial(e, "b"), content(3000, 1))
		if st := s.b.Stats(); st.Peers != 1024 || st.Evicted != 1 {
			t.Errorf("%d peers, %d evicted", st.Peers, st.Evicted)
		}
		for name, c := range accepted() {
			want := error(nil)
			if name == "0" {
				want = plain.ErrEvicted
			}
			wantErr(t, name, c.Err(), want)
		}
	})
}

// Only a connection that its peer began, that has been silent for GiveUp, and
// that has nothing to do makes room: the one that was silent for longest first.
func TestWhoIsEvicted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		asked := 0
		s := serve(t, with(func(cfg *plain.Config) {
			cfg.MaxPeers = 5
			cfg.Admit = func(addr net.Addr) bool { asked++; return addr.String() != "unwanted" }
		}))
		wantPeers := func(asks int, full, evicted int64) {
			t.Helper()
			if st := s.b.Stats(); st.Peers != 5 || st.Full != full || st.Evicted != evicted || asked != asks {
				t.Errorf("%d peers, %d too many, %d evicted, asked %d times", st.Peers, st.Full, st.Evicted, asked)
			}
		}
		dialed := s.dial(s.b, "dialed")
		for _, from := range []netsim.Addr{"busy", "two", "one", "late"} {
			s.says(from, wholeChunk())
		}
		peers := map[string]*plain.Conn{}
		for range 4 {
			c, err := s.b.Accept(background)
			wantErr(t, "Accept", err, nil)
			peers[c.RemoteAddr().String()] = c
		}
		time.Sleep(100 * ms)
		s.says("two", wholeChunk()) // a duplicate is a sign of life
		time.Sleep(5 * time.Second)
		s.says("late", sliceDatagram(codec.Slice{ChunkID: 1, NumSlices: 1, Data: []byte("y")}))
		time.Sleep(4500 * ms)
		s.says("new", wholeChunk())
		wantPeers(4, 1, 0) // nobody was silent for long enough
		peers["busy"].Enqueue(background, []byte("is anybody there?"))
		time.Sleep(600 * ms)

		s.says("unwanted", wholeChunk())
		wantPeers(5, 1, 0)
		s.says("new", wholeChunk())
		wantPeers(6, 1, 1)
		wantErr(t, "one", peers["one"].Err(), plain.ErrEvicted)
		s.says("newer", wholeChunk())
		wantPeers(7, 1, 2)
		wantErr(t, "two", peers["two"].Err(), plain.ErrEvicted)
		s.says("newest", wholeChunk())
		wantPeers(7, 2, 2)
		for name, c := range map[string]*plain.Conn{"dialed": dialed, "busy": peers["busy"], "late": peers["late"]} {
			wantErr(t, name, c.Err(), nil)
		}

		mustRecv(t, peers["one"], []byte("x")) // it was here before the end
		_, err := peers["one"].Recv(background)
		wantErr(t, "Recv", err, plain.ErrEvicted)
		_, err = s.b.Dial(netsim.Addr("another"))
		wantErr(t, "Dial", err, plain.ErrTooManyPeers)
	})
}

// Connections that nobody accepts are bounded. Those that have ended keep no
// place, and are not handed out, unless there is something to receive.
func TestBacklog(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := serve(t, with(func(cfg *plain.Config) { cfg.MaxPeers = 3; cfg.IdleTimeout = time.Second }))
		for _, from := range []netsim.Addr{"one", "two", "three"} {
			s.says(from, beginning())
		}
		s.says("four", beginning())
		if st := s.b.Stats(); st.Peers != 3 || st.Full != 1 {
			t.Errorf("%d peers, %d too many", st.Peers, st.Full)
		}
		time.Sleep(2 * time.Second) // they end with half a chunk
		s.says("four", wholeChunk())
		s.says("five", wholeChunk())
		time.Sleep(2 * time.Second) // these with a whole one
		s.says("six", beginning())
		s.says("seven", beginning())
		if st := s.b.Stats(); st.Peers != 1 || st.Full != 2 {
			t.Errorf("%d peers, %d too many", st.Peers, st.Full)
		}
		for _, want := range []string{"four", "five", "six"} {
			c, err := s.b.Accept(background)
			if err != nil || c.RemoteAddr().String() != want {
				t.Fatalf("accepted %v, %v, want %s", c, err, want)
			}
			if want == "six" {
				break
			}
			wantErr(t, want, c.Err(), plain.ErrIdle)
			mustRecv(t, c, []byte("x"))
		}
	})
}

// 128 peers that came and went do not keep a genuine one out.
func TestBacklogOfEndedConnections(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := serve(t, with(nil))
		for i := range 128 {
			s.says(netsim.Addr(strconv.Itoa(i)), beginning())
		}
		time.Sleep(11 * time.Second) // they give up
		_, e := s.open("genuine", with(nil))
		mustSend(t, s.dial(e, "b"), []byte("hello"))
		c, err := s.b.Accept(background)
		if err != nil || c.RemoteAddr().String() != "genuine" {
			t.Fatalf("accepted %v, %v", c, err)
		}
		mustRecv(t, c, []byte("hello"))
	})
}

// Every call of Accept that waits gets its connection.
func TestAcceptFromManySides(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := serve(t, with(nil))
		var calls []<-chan error
		for range 10 {
			calls = append(calls, during(func() error { _, err := s.b.Accept(background); return err }))
		}
		synctest.Wait()
		for i := range 10 {
			s.says(netsim.Addr(strconv.Itoa(i)), wholeChunk())
		}
		for _, call := range calls {
			wantErr(t, "Accept", <-call, nil)
		}
	})
}

// A closed endpoint hands out nothing, whoever waits.
func TestAcceptAfterClose(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := serve(t, with(nil))
		for i := range 20 {
			s.says(netsim.Addr(strconv.Itoa(i)), wholeChunk())
		}
		wantErr(t, "Close", s.b.Close(), nil)
		for range 20 {
			_, err := s.b.Accept(background)
			wantErr(t, "Accept", err, plain.ErrClosed)
		}
	})
}

func TestDialTwice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, with(nil))
		_, err := w.a.Dial(netsim.Addr("b"))
		wantErr(t, "Dial", err, plain.ErrExists)
		w.toB.Close()
		w.dial(w.a, "b")
	})
}

// Many peers on one socket do not disturb each other, and none starves.
func TestManyPeers(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		bubble(t, func(t *testing.T) {
			const peers = 40
			s := serve(t, v.with(nil))
			s.net.SetDefault(netsim.Path{Delay: 10 * ms, Loss: 2})
			var sent []<-chan error
			for i := range peers {
				_, e := s.open(netsim.Addr(strconv.Itoa(i)), v.with(nil))
				c := s.dial(e, "b")
				sent = append(sent, during(func() error { return c.Send(background, content(30_000+i, uint64(i))) }))
			}
			seen := map[string]bool{}
			for range peers {
				c, err := s.b.Accept(background)
				if err != nil {
					t.Fatal(err)
				}
				i, _ := strconv.Atoi(c.RemoteAddr().String())
				mustRecv(t, c, content(30_000+i, uint64(i)))
				seen[c.RemoteAddr().String()] = true
				back := content(40_000+i, uint64(i))
				sent = append(sent, during(func() error { return c.Send(background, back) }))
			}
			for _, result := range sent {
				wantErr(t, "Send", <-result, nil)
			}
			if len(seen) != peers {
				t.Errorf("%d different peers, want %d", len(seen), peers)
			}
		})
	})
}
