package transport_test

import (
	"net"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/transport"
)

// server is an endpoint "b" and the means to send it anything from anywhere.
type server struct {
	*world
	senders map[netsim.Addr]net.PacketConn
}

func serve(t *testing.T, cfg transport.Config) *server {
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

// Lines 24 and 33: from an unknown address everything but a valid first slice
// costs one counter, no state, and no answer.
func TestStrangers(t *testing.T) {
	other := codec.NewFramer(protocolID + 1)
	wrongID, _ := other.AppendSlice(nil, codec.Slice{NumSlices: 1, Data: []byte("x")})
	garbage, stranger := transport.EndpointStats{Garbage: 1}, transport.EndpointStats{Strangers: 1}
	for _, c := range []struct {
		name     string
		datagram []byte
		want     transport.EndpointStats
	}{
		{"a good beginning", beginning(), transport.EndpointStats{Peers: 1}},
		{"an empty datagram", nil, garbage},
		{"noise", content(200, 1), garbage},
		{"a changed bit", change(beginning(), 500), garbage},
		{"a changed checksum", change(beginning(), 0), garbage},
		{"cut short", beginning()[:900], garbage},
		{"too long", append(beginning(), 0), garbage},
		{"far too long", append(beginning(), make([]byte, 5000)...), garbage},
		{"another protocol", wrongID, garbage},
		{"an ack", ackDatagram(codec.Ack{NumSlices: 1, Acked: codec.FirstN(1)}), stranger},
		{"a later chunk", sliceDatagram(codec.Slice{ChunkID: 1, NumSlices: 1, Data: []byte("x")}), stranger},
		{"the chunk before", sliceDatagram(codec.Slice{ChunkID: 65535, NumSlices: 1, Data: []byte("x")}), stranger},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := serve(t, with(nil))
				s.says("x", c.datagram)
				st := s.b.Stats()
				if st.Garbage != c.want.Garbage || st.Strangers != c.want.Strangers || st.Peers != c.want.Peers {
					t.Errorf("%d garbage, %d strangers, %d peers", st.Garbage, st.Strangers, st.Peers)
				}
				if st.DatagramsIn != 1 || st.DatagramsOut != int64(st.Peers) {
					t.Errorf("%d datagrams in, %d out", st.DatagramsIn, st.DatagramsOut)
				}
			})
		})
	}
}

// Line 24: garbage from a known peer does nothing either.
func TestGarbageInTheMiddle(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, with(nil))
		sent := during(func() error { return w.toB.Send(background, content(262_144, 1)) })
		for i := range 100 {
			w.tapA.PacketConn.WriteTo(content(i*11, uint64(i)), netsim.Addr("b"))
			time.Sleep(ms / 10)
		}
		mustRecv(t, w.toA, content(262_144, 1))
		wantErr(t, "Send", <-sent, nil)
		if st := w.b.Stats(); st.Garbage != 100 {
			t.Errorf("%d garbage, want 100", st.Garbage)
		}
	})
}

// Line 33: whoever forges a source makes it get little more than was sent, and
// nothing on its own.
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

func TestAcceptHook(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var asked []string
		var s *server
		s = serve(t, with(func(cfg *transport.Config) {
			cfg.Accept = func(addr net.Addr) bool {
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

// The hook holds no locks, so it may even dial.
func TestAcceptHookThatDials(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var s *server
		var dialed *transport.Conn
		s = serve(t, with(func(cfg *transport.Config) {
			cfg.MaxPeers = 1
			cfg.Accept = func(net.Addr) bool {
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
		w := connect(t, short, with(func(cfg *transport.Config) {
			cfg.NewScheduler = func() statemachine.Scheduler { return statemachine.NewBase(statemachine.Fixed(0)) }
		}))
		other := w.dial(w.a, "c")
		started := make(chan bool, 1000)
		w.tapA.dropIf(func(codec.Packet) bool {
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
		if i := slices.Index(w.tapA.to, net.Addr(netsim.Addr("c"))); i < 0 || i > 128 {
			t.Errorf("the other connection's datagram was number %d", i)
		}
	})
}

// Line 30: the number of connections is bounded, and ended ones make room.
func TestMaxPeers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		asked := 0
		s := serve(t, with(func(cfg *transport.Config) {
			cfg.MaxPeers = 2
			cfg.Accept = func(net.Addr) bool { asked++; return true }
		}))
		s.says("one", beginning())
		c, err := s.b.Accept(background)
		wantErr(t, "Accept", err, nil)
		s.says("two", beginning())
		s.says("three", beginning())
		_, err = s.b.Dial(netsim.Addr("four"))
		wantErr(t, "Dial", err, transport.ErrTooManyPeers)
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

// Connections that nobody accepts are bounded too, also when they have ended.
func TestBacklog(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := serve(t, with(func(cfg *transport.Config) { cfg.MaxPeers = 3; cfg.IdleTimeout = time.Second }))
		for _, from := range []netsim.Addr{"one", "two", "three"} {
			s.says(from, beginning())
		}
		time.Sleep(2 * time.Second)
		s.says("four", beginning())
		if st := s.b.Stats(); st.Peers != 0 || st.Full != 1 {
			t.Errorf("%d peers, %d too many", st.Peers, st.Full)
		}
		c, err := s.b.Accept(background)
		if err != nil || c.RemoteAddr().String() != "one" {
			t.Fatalf("accepted %v, %v", c, err)
		}
		wantErr(t, "the connection", c.Err(), transport.ErrIdle)
		s.says("four", beginning())
		if st := s.b.Stats(); st.Peers != 1 {
			t.Errorf("%d peers once there was room", st.Peers)
		}
	})
}

func TestDialTwice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, with(nil))
		_, err := w.a.Dial(netsim.Addr("b"))
		wantErr(t, "Dial", err, transport.ErrExists)
		w.toB.Close()
		w.dial(w.a, "b")
	})
}

// Many peers on one socket do not disturb each other, and none starves.
func TestManyPeers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const peers = 40
		s := serve(t, with(nil))
		s.net.SetDefault(netsim.Path{Delay: 10 * ms, LossPPM: million / 50})
		var sent []<-chan error
		for i := range peers {
			_, e := s.open(netsim.Addr(strconv.Itoa(i)), with(nil))
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
}
