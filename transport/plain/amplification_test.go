package plain_test

import (
	"net"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// smallestBeginning is the shortest datagram with which a connection begins: 15
// bytes.
func smallestBeginning() []byte {
	return sliceDatagram(codec.Slice{SliceID: 255, NumSlices: 256, Data: []byte("x")})
}

// pushToAll sends a chunk to each peer that begins, without waiting for anything
// from it, and returns the results.
func pushToAll(e *plain.Endpoint, chunk []byte) <-chan error {
	results := make(chan error, 10_000)
	go func() {
		for {
			c, err := e.Accept(background)
			if err != nil {
				return
			}
			go func() { results <- c.Send(background, chunk) }()
		}
	}()
	return results
}

// A server that pushes to whoever begins sends a first flight of 16 slices and some
// twenty probes, which back off to 1 s, to a forged source for one datagram of 15
// bytes: 38 slices measured. With LimitUnvalidated it sends six (SEC-4, SEC-7).
func TestWhatAForgedSourceGets(t *testing.T) {
	for limited, most := range map[bool]int64{false: 64, true: 6} {
		bubble(t, func(t *testing.T) {
			s := serve(t, with(func(cfg *plain.Config) { cfg.LimitUnvalidated = limited }))
			sent := pushToAll(s.b, content(262_144, 1))
			start := time.Now()
			s.says("victim", smallestBeginning())
			wantErr(t, "Send", <-sent, plain.ErrGaveUp)
			wantTook(t, "giving up", start, 10*time.Second, 10*time.Second+2*ms)
			slices := s.tapB.Count(isSlice)
			st := s.b.Stats()
			t.Logf("limited: %v: in 1 datagram of %d bytes, out %d datagrams, %d bytes", limited, st.BytesIn, st.DatagramsOut, st.BytesOut)
			if int64(slices) > most || limited && slices != int(most) || !limited && slices < 30 {
				t.Errorf("limited: %v: %d slices", limited, slices)
			}
		})
	}
}

// The six go out at doubling intervals, on whichever lane.
func TestSlicesToAnUnvalidatedPeerBackOff(t *testing.T) {
	for _, n := range []int{1, 4} {
		bubble(t, func(t *testing.T) {
			s := serve(t, lanes(n, func(cfg *plain.Config) { cfg.LimitUnvalidated = true; cfg.GiveUp = time.Minute }))
			first, _ := laneFramer(0, n).AppendSlice(nil, codec.Slice{NumSlices: 1, Data: []byte("x")})
			s.says("victim", first)
			var times []time.Duration
			start := time.Now()
			s.tapB.DropIf(func(p packet) bool {
				if p.Type == codec.TypeSlice {
					times = append(times, time.Since(start))
				}
				return false
			})
			c, err := s.b.Accept(background)
			wantErr(t, "Accept", err, nil)
			all := enqueue(t, c, content(9000, 1), content(9000, 2), content(9000, 3))
			wantErr(t, "the first chunk", all[0].Wait(background), plain.ErrGaveUp)
			want := []time.Duration{0, 250 * ms, 750 * ms, 1750 * ms, 3750 * ms, 7750 * ms, 15750 * ms, 31750 * ms}
			if len(times) != len(want) {
				t.Fatalf("%d lanes: slices after %v, want %v", n, times, want)
			}
			for i := range want {
				if late := times[i] - want[i]; late < 0 || late > ms {
					t.Errorf("%d lanes: slice %d after %v, want %v", n, i, times[i], want[i])
				}
			}
		})
	}
}

// The limit costs a genuine peer one round trip, once, and nothing where this end
// began the connection.
func TestWhatLimitUnvalidatedCosts(t *testing.T) {
	const delay = 25 * ms
	took := map[bool][2]time.Duration{}
	for _, limited := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			w := &world{t: t, net: netsim.NewNetwork(1)}
			w.net.SetDefault(netsim.Path{Delay: delay})
			_, player := w.open("a", with(nil))
			_, server := w.open("b", with(func(cfg *plain.Config) { cfg.LimitUnvalidated = limited }))
			c := w.dial(player, "b")
			mustSend(t, c, []byte("join"))
			toPlayer, err := server.Accept(background)
			wantErr(t, "Accept", err, nil)
			var each [2]time.Duration
			for i := range each {
				start := time.Now()
				mustSend(t, toPlayer, content(262_144, 1))
				each[i] = time.Since(start)
			}
			if !toPlayer.Stats().Validated {
				t.Error("the peer that acked a chunk is not validated")
			}
			took[limited] = each
		})
	}
	t.Logf("first and second chunk: %v without, %v with", took[false], took[true])
	first, second := took[true][0]-took[false][0], took[true][1]-took[false][1]
	if first > 2*delay+5*ms || second > 5*ms {
		t.Errorf("it costs the first chunk %v and the second %v", first, second)
	}
	bubble(t, func(t *testing.T) {
		w := connect(t, outage, with(func(cfg *plain.Config) { cfg.LimitUnvalidated = true }))
		w.toB.Enqueue(background, content(262_144, 1))
		time.Sleep(ms * 10)
		if n := w.tapA.Count(isSlice); n < 16 { // the first flight
			t.Errorf("%d slices went to a peer that was dialed", n)
		}
	})
}

// A hold is no ack of a slice, and costs nothing to forge: it does not validate,
// but keeps the connection.
func TestAHoldDoesNotValidate(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := serve(t, with(func(cfg *plain.Config) { cfg.LimitUnvalidated = true }))
		pushToAll(s.b, content(262_144, 1))
		s.says("victim", wholeChunk())
		for range 60 {
			time.Sleep(time.Second)
			s.says("victim", ackDatagram(codec.Ack{NumSlices: 256}))
		}
		if n := s.tapB.Count(isSlice); n < 14 || n > 18 { // the wait grows to half of GiveUp
			t.Errorf("%d slices in a minute of holds", n)
		}
		var acked core.Set
		acked.Add(0)
		s.says("victim", ackDatagram(codec.Ack{NumSlices: 256, Acked: acked}))
		time.Sleep(ms * 100)
		if n := s.tapB.Count(isSlice); n < 28 { // 31 measured: 16 before, and the first flight less one
			t.Errorf("%d slices after an ack", n)
		}
	})
}

// Datagrams from addresses that are nobody's do not begin a connection: port 0,
// a multicast address, the socket's own.
func TestSourcesThatAreNoPeers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		pc, err := netsim.NewNetwork(1).Listen("b")
		if err != nil {
			t.Fatal(err)
		}
		socket := &forger{PacketConn: pc, arrive: make(chan net.Addr), closed: make(chan struct{})}
		e, err := plain.New(socket, with(nil))
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		for i, from := range []net.Addr{
			&net.UDPAddr{IP: net.IPv4(192, 0, 2, 1)},
			&net.UDPAddr{IP: net.IPv4(224, 0, 0, 1), Port: 9000},
			&net.UDPAddr{IP: net.IPv4bcast, Port: 9000},
			&net.UDPAddr{IP: net.IPv4zero, Port: 9000},
			netsim.Addr("b"),
		} {
			socket.arrive <- from
			synctest.Wait()
			if st := e.Stats(); st.BadSources != int64(i+1) || st.Peers != 0 || st.DatagramsOut != 0 {
				t.Errorf("from %v: %d bad sources, %d peers", from, st.BadSources, st.Peers)
			}
		}
		socket.arrive <- &net.UDPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 9000}
		synctest.Wait()
		if st := e.Stats(); st.BadSources != 5 || st.Peers != 1 {
			t.Errorf("from a peer: %d bad sources, %d peers", st.BadSources, st.Peers)
		}
	})
}

// forger is a socket on which a beginning arrives from any address.
type forger struct {
	net.PacketConn
	arrive chan net.Addr
	closed chan struct{}
}

func (f *forger) ReadFrom(b []byte) (int, net.Addr, error) {
	select {
	case from := <-f.arrive:
		return copy(b, smallestBeginning()), from, nil
	case <-f.closed:
		return 0, nil, net.ErrClosed
	}
}

func (f *forger) WriteTo(b []byte, _ net.Addr) (int, error) { return len(b), nil }
func (f *forger) Close() error                              { close(f.closed); return f.PacketConn.Close() }

// Whoever forges 2,000 sources ends no connection of a peer that has acked
// something, however long that is idle (SEC-3).
// (SEC-8)
func TestForgedSourcesEndNoValidatedConnection(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const honest = 20
		s := serve(t, with(nil))
		pushToAll(s.b, []byte("the world"))
		var conns []*plain.Conn
		for i := range honest {
			_, e := s.open(netsim.Addr("honest "+strconv.Itoa(i)), with(nil))
			c := s.dial(e, "b")
			mustSend(t, c, []byte("join"))
			mustRecv(t, c, []byte("the world"))
			conns = append(conns, c)
		}
		time.Sleep(11 * time.Second)
		for i := range 2000 {
			s.says(netsim.Addr(strconv.Itoa(i)), wholeChunk())
		}
		if st := s.b.Stats(); st.Peers != 1024 || st.Full == 0 {
			t.Errorf("%d peers, %d too many: the test tests nothing", st.Peers, st.Full)
		}
		for i, c := range conns {
			if err := c.Send(background, []byte("still here")); err != nil {
				t.Errorf("honest %d: %v", i, err)
			}
		}
		// The forged ones give up, or are evicted after that time, and newcomers get in.
		time.Sleep(11 * time.Second)
		_, e := s.open("newcomer", with(nil))
		mustSend(t, s.dial(e, "b"), []byte("join"))
	})
}

// Where every peer has acked something, the one that was silent for the longest
// makes room all the same.
func TestValidatedConnectionsMakeRoomForEachOther(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := serve(t, with(func(cfg *plain.Config) { cfg.MaxPeers = 3 }))
		pushToAll(s.b, []byte("the world"))
		s.says("one that vanishes", beginning())
		time.Sleep(11 * time.Second) // it has given up, and counts no more
		join := func(name netsim.Addr) (*plain.Conn, error) {
			_, e := s.open(name, with(func(cfg *plain.Config) { cfg.GiveUp = 3 * time.Second }))
			c := s.dial(e, "b")
			return c, c.Send(background, []byte("join"))
		}
		var first []*plain.Conn
		for _, name := range []netsim.Addr{"one", "two", "three"} {
			c, err := join(name)
			wantErr(t, string(name), err, nil)
			first = append(first, c)
			time.Sleep(time.Second)
		}
		_, err := join("too early")
		wantErr(t, "too early", err, plain.ErrGaveUp)
		time.Sleep(5 * time.Second)
		mustSend(t, first[0], []byte("I am here"))
		time.Sleep(2 * time.Second)
		_, err = join("four")
		wantErr(t, "four", err, nil)
		if st := s.b.Stats(); st.Evicted != 1 || st.Peers != 3 {
			t.Errorf("%d evicted, %d peers", st.Evicted, st.Peers)
		}
		wantErr(t, "one", first[0].Send(background, []byte("and still")), nil)
		wantErr(t, "two", first[1].Send(background, []byte("and I?")), plain.ErrGaveUp)
	})
}
