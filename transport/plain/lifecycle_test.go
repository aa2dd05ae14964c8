package plain_test

import (
	"errors"
	"math"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/transport/plain"
)

func TestErrorsMatchTheirRelatives(t *testing.T) {
	for _, c := range []struct {
		err  error
		also error
	}{
		{plain.ErrClosed, net.ErrClosed},
		{plain.ErrGaveUp, statemachine.ErrGaveUp},
		{plain.ErrGaveUp, os.ErrDeadlineExceeded},
		{plain.ErrIdle, os.ErrDeadlineExceeded},
		{plain.ErrEvicted, plain.ErrEvicted},
	} {
		wantErr(t, c.err.Error(), c.err, c.err, c.also)
	}
	if errors.Is(plain.ErrIdle, plain.ErrGaveUp) || errors.Is(net.ErrClosed, plain.ErrClosed) {
		t.Error("errors match what they are not")
	}
	var timeout net.Error
	if !errors.As(plain.ErrGaveUp, &timeout) || !timeout.Timeout() {
		t.Error("ErrGaveUp is no timeout to the net package")
	}
}

// blocked is one of each call that can wait, on a connection to nobody whose
// queue is full.
func blocked(t *testing.T, c *plain.Conn) map[string]<-chan error {
	t.Helper()
	calls := map[string]<-chan error{
		"Send":   during(func() error { return c.Send(background, []byte("in flight")) }),
		"Recv":   during(func() error { _, err := c.Recv(background); return err }),
		"Linger": during(func() error { return c.Linger(background, time.Hour) }),
	}
	time.Sleep(ms)
	for range 8 {
		d, err := c.Enqueue(background, []byte("queued"))
		if err != nil {
			t.Fatal(err)
		}
		calls["Wait"] = during(func() error { return d.Wait(background) })
	}
	calls["Enqueue"] = during(func() error { _, err := c.Enqueue(background, []byte("too many")); return err })
	time.Sleep(ms)
	return calls
}

// Close unblocks everything and leaves nothing behind.
func TestCloseUnblocksEverything(t *testing.T) {
	for _, c := range []struct {
		name  string
		close func(*world) error
		want  []error
	}{
		{"connection", func(w *world) error { return w.toB.Close() }, []error{plain.ErrClosed, net.ErrClosed}},
		{"endpoint", func(w *world) error { return w.a.Close() }, []error{plain.ErrClosed, net.ErrClosed}},
		{"socket", func(w *world) error { return w.tapA.Close() }, []error{plain.ErrClosed, net.ErrClosed}},
		{"give up", func(*world) error { time.Sleep(10 * time.Second); return nil }, []error{plain.ErrGaveUp, statemachine.ErrGaveUp, os.ErrDeadlineExceeded}},
		{"idle", func(*world) error { time.Sleep(9 * time.Second); return nil }, []error{plain.ErrIdle, os.ErrDeadlineExceeded}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := connect(t, outage, with(func(cfg *plain.Config) {
					if c.name == "idle" {
						cfg.IdleTimeout = 9 * time.Second
					}
				}))
				calls := blocked(t, w.toB)
				if err := c.close(w); err != nil {
					t.Errorf("closing: %v", err)
				}
				for name, result := range calls {
					wantErr(t, name, <-result, c.want...)
				}
				wantErr(t, "Err", w.toB.Err(), c.want...)
				wantErr(t, "Send afterwards", w.toB.Send(background, []byte("x")), c.want...)
				_, err := w.toB.Recv(background)
				wantErr(t, "Recv afterwards", err, c.want...)
				if n := w.a.Stats().Peers; n != 0 {
					t.Errorf("the endpoint still has %d connections", n)
				}
				for range 2 { // idempotent, and the first cause stays
					wantErr(t, "Conn.Close", w.toB.Close(), nil)
					wantErr(t, "Endpoint.Close", w.a.Close(), nil)
				}
				wantErr(t, "Err after Close", w.toB.Err(), c.want...)
			})
		})
	}
}

func TestCloseEndsAccept(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, with(nil))
		accepted := during(func() error { _, err := w.a.Accept(background); return err })
		time.Sleep(ms)
		wantErr(t, "Close", w.a.Close(), nil)
		wantErr(t, "Accept", <-accepted, plain.ErrClosed)
		_, err := w.a.Dial(netsim.Addr("c"))
		wantErr(t, "Dial", err, plain.ErrClosed)
		wantErr(t, "Err", w.a.Err(), plain.ErrClosed)
	})
}

// Many goroutines may close, and the first to return does not do so early.
func TestCloseFromManySides(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, with(nil))
		var results []<-chan error
		for range 4 {
			results = append(results, during(w.a.Close), during(w.toB.Close))
		}
		for _, r := range results {
			wantErr(t, "Close", <-r, nil)
		}
	})
}

// A socket that takes nothing must not hold Close up for long.
func TestCloseWithASocketThatBlocks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		pc, _ := netsim.NewNetwork(1).Listen("a")
		stuck := &stuckSocket{Conn: pc, closed: make(chan struct{})}
		e, err := plain.New(stuck, with(nil))
		if err != nil {
			t.Fatal(err)
		}
		c, _ := e.Dial(netsim.Addr("b"))
		c.Enqueue(background, []byte("never leaves"))
		time.Sleep(ms)
		start := time.Now()
		wantErr(t, "Close", e.Close(), nil)
		wantTook(t, "Close", start, 0, 2*time.Second)
	})
}

// Not every socket says net.ErrClosed when it is closed.
func TestCloseWithASocketOfOtherWords(t *testing.T) {
	bubble(t, func(t *testing.T) {
		pc, _ := netsim.NewNetwork(1).Listen("a")
		e, err := plain.New(otherWords{pc}, with(nil))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(ms)
		start := time.Now()
		wantErr(t, "Close", e.Close(), nil)
		wantTook(t, "Close", start, 0, ms)
	})
}

type otherWords struct{ *netsim.Conn }

func (s otherWords) ReadFrom(b []byte) (int, net.Addr, error) {
	n, addr, err := s.Conn.ReadFrom(b)
	if err != nil {
		err = errBroken
	}
	return n, addr, err
}

type stuckSocket struct {
	*netsim.Conn
	closed chan struct{}
}

func (s *stuckSocket) WriteTo([]byte, net.Addr) (int, error) {
	<-s.closed
	return 0, net.ErrClosed
}

func (s *stuckSocket) Close() error {
	close(s.closed)
	return s.Conn.Close()
}

// Whoever reads and closes at once has still acked, even if the socket is busy
// with the ack of the first slice.
func TestCloseSendsTheLastAck(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		for name, close := range map[string]func(*plain.Conn) error{
			"connection": (*plain.Conn).Close,
			"endpoint":   func(c *plain.Conn) error { return c.Endpoint().Close() },
		} {
			bubble(t, func(t *testing.T) {
				w := &world{t: t, net: netsim.NewNetwork(1)}
				_, a := w.open("a", v.with(nil))
				socket, b := w.open("b", v.with(nil))
				socket.Takes = ms // there is room for two slices to come meanwhile
				sent := during(func() error { return w.dial(a, "b").Send(background, content(2000, 1)) })
				c, err := b.Accept(background)
				wantErr(t, "Accept", err, nil)
				mustRecv(t, c, content(2000, 1))
				wantErr(t, "closing the "+name, close(c), nil)
				wantErr(t, "Send", <-sent, nil)
			})
		}
	})
}

// When the other end restarts, what is in flight fails.
func TestRestartOfTheReceiver(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		bubble(t, func(t *testing.T) {
			w := connect(t, short, v.with(nil))
			mustSend(t, w.toB, []byte("before"))
			w.b.Close()
			_, again := w.open("b", v.with(nil))
			start := time.Now()
			wantErr(t, "Send", w.toB.Send(background, []byte("after")), plain.ErrGaveUp)
			wantTook(t, "Send", start, 10*time.Second, 10*time.Second+ms)
			if st := again.Stats(); st.Peers != 0 || st.UnknownPeers == 0 {
				t.Errorf("the new endpoint has %d peers and counts %d of unknown peers", st.Peers, st.UnknownPeers)
			}
		})
	})
}

// A sender that restarts begins with chunk 0, which the other end does
// not wait for. It fails, and with an idle timeout the other end does first: then
// the new connection is made, and nothing is lost (CON-5).
func TestRestartOfTheSender(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		for _, idle := range []time.Duration{0, 5 * time.Second} {
			bubble(t, func(t *testing.T) {
				w := connect(t, short, v.with(func(cfg *plain.Config) { cfg.IdleTimeout = idle }))
				mustSend(t, w.toB, []byte("zero"))
				mustSend(t, w.toB, []byte("one"))
				w.a.Close()
				_, again := w.open("a", v.with(nil))
				err := w.dial(again, "b").Send(background, []byte("zero again"))
				if idle == 0 {
					wantErr(t, "the restarted end", err, plain.ErrGaveUp)
					wantErr(t, "the other end", w.toA.Err(), nil)
					return
				}
				wantErr(t, "the restarted end", err, nil)
				wantErr(t, "the other end", w.toA.Err(), plain.ErrIdle)
				c, err := w.b.Accept(background)
				wantErr(t, "Accept", err, nil)
				mustRecv(t, c, []byte("zero again"))
			})
		}
	})
}

// No idle timeout means none. Traffic of any valid kind keeps a
// connection alive.
func TestIdleTimeout(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		bubble(t, func(t *testing.T) {
			w := connect(t, short, v.with(func(cfg *plain.Config) { cfg.IdleTimeout = 3 * time.Second }))
			for range 5 { // a only hears acks, b only slices
				time.Sleep(2 * time.Second)
				mustSend(t, w.toB, []byte("tick"))
				mustRecv(t, w.toA, []byte("tick"))
			}
			start := time.Now()
			_, err := w.toA.Recv(background)
			wantErr(t, "Recv", err, plain.ErrIdle)
			wantTook(t, "idling", start, 2900*ms, 3*time.Second)
		})
		bubble(t, func(t *testing.T) {
			w := connect(t, short, v.with(nil))
			time.Sleep(365 * 24 * time.Hour)
			mustSend(t, w.toB, []byte("happy new year"))
		})
	})
}

// A packet comes before the timers of the same moment (SND-4, RCV-2).
func TestPacketsComeBeforeTimers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := &world{t: t, net: netsim.NewNetwork(1)}
		_, a := w.open("a", with(nil))
		_, b := w.open("b", with(func(cfg *plain.Config) { cfg.IdleTimeout = 3 * time.Second }))
		start := time.Now()
		there := w.dial(a, "b")
		mustSend(t, there, []byte("hello"))
		here, err := b.Accept(background)
		wantErr(t, "Accept", err, nil)
		mustRecv(t, here, []byte("hello"))
		for i := range 20 {
			time.Sleep(time.Until(start.Add(time.Duration(i+1) * 3 * time.Second)))
			mustSend(t, there, []byte("just in time"))
			mustRecv(t, here, []byte("just in time"))
		}
		time.Sleep(3*time.Second + ms)
		wantErr(t, "the other end, idle at last", here.Err(), plain.ErrIdle)
	})
}

// An end that lingers answers what its peer sends again (CON-7).
func TestLinger(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		bubble(t, func(t *testing.T) {
			w := connect(t, short, v.with(nil))
			lost := 0
			w.tapB.DropIf(func(packet) bool { lost++; return lost <= 2 })
			sent := during(func() error { return w.toB.Send(background, []byte("hello")) })
			mustRecv(t, w.toA, []byte("hello"))
			start := time.Now()
			wantErr(t, "Linger", w.toA.Linger(background, 400*ms), nil)
			wantTook(t, "Linger", start, 700*ms, 1200*ms) // two more, then quiet
			w.b.Close()
			wantErr(t, "Send", <-sent, nil)
			wantErr(t, "Linger afterwards", w.toA.Linger(background, time.Hour), plain.ErrClosed)
		})
	})
}

// A peer that never falls quiet is left all the same.
func TestLingerIsLimited(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := serve(t, with(nil))
		hello := sliceDatagram(codec.Slice{NumSlices: 1, Data: []byte("hello")})
		s.says("chatty", hello)
		c, err := s.b.Accept(background)
		wantErr(t, "Accept", err, nil)
		start := time.Now()
		lingered := during(func() error { return c.Linger(background, 2*time.Second) })
		for range 30 {
			s.says("chatty", hello)
			time.Sleep(999 * ms)
			select {
			case err := <-lingered:
				wantErr(t, "Linger", err, nil)
				wantTook(t, "Linger", start, 20*time.Second, 21*time.Second)
				return
			default:
			}
		}
		t.Error("Linger still waits")
		c.Close()
	})
}

// An ack of a chunk other than the one before does not keep a connection
// active; one of the chunk before does.
// (CON-6)
func TestIdleTimeoutCountsTheRightAcks(t *testing.T) {
	for _, c := range []struct {
		name  string
		sends int
		id    uint16
		alive bool
	}{
		{"the chunk before", 2, 1, true},
		{"an older chunk", 2, 0, false},
		{"the next chunk", 2, 2, false},
		{"another chunk", 2, 65535, false},
		{"a chunk before the first", 0, 65535, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := connect(t, short, with(func(cfg *plain.Config) { cfg.IdleTimeout = 3 * time.Second }))
				for range c.sends {
					mustSend(t, w.toB, []byte("x"))
				}
				ack := ackDatagram(codec.Ack{ChunkID: c.id, NumSlices: 1, Acked: core.FirstN(1)})
				for range 5 {
					w.tapB.PacketConn.WriteTo(ack, netsim.Addr("a"))
					time.Sleep(time.Second)
				}
				if err := w.toB.Err(); (err == nil) != c.alive {
					t.Errorf("after acks for 5 s the connection's error is %v", err)
				}
			})
		})
	}
}

// truncatingSocket reports a datagram that does not fit as Windows does, and can
// pretend that its first ones do not.
type truncatingSocket struct {
	*netsim.Conn
	pretend atomic.Int64
	err     error
	n       int
}

func (s *truncatingSocket) ReadFrom(b []byte) (int, net.Addr, error) {
	if s.pretend.Add(-1) >= 0 {
		return s.n, nil, s.err
	}
	big := make([]byte, 1<<17)
	n, addr, err := s.Conn.ReadFrom(big)
	if copied := copy(b, big[:n]); err == nil && copied < n {
		return s.n, nil, s.err
	}
	return n, addr, err
}

// Datagrams that are too long are garbage, and never a broken socket.
func TestOversizeDatagrams(t *testing.T) {
	tooLong := &net.OpError{Op: "read", Err: syscall.EMSGSIZE}
	for _, c := range []struct {
		name    string
		n       int
		err     error
		pretend int64
	}{
		{"they fit the buffer", 0, errBroken, 0},
		{"they do not, and the error says so", 0, tooLong, 100_000},
		{"they do not, and some of it was read", 1500, errBroken, 100_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := &world{t: t, net: netsim.NewNetwork(1)}
				pc, err := w.net.Listen("a")
				if err != nil {
					t.Fatal(err)
				}
				other, err := w.net.Listen("x")
				if err != nil {
					t.Fatal(err)
				}
				defer other.Close()
				socket := &truncatingSocket{Conn: pc, err: c.err, n: c.n}
				socket.pretend.Store(c.pretend)
				e, err := plain.New(socket, with(nil))
				if err != nil {
					t.Fatal(err)
				}
				defer e.Close()
				for range 100 { // for longer than a broken socket is kept
					other.WriteTo(make([]byte, 65_507), netsim.Addr("a"))
					other.WriteTo(make([]byte, codec.MaxDatagramSize+1), netsim.Addr("a"))
					time.Sleep(100 * ms)
				}
				w.open("b", with(nil))
				mustSend(t, w.dial(e, "b"), []byte("still there"))
				if st := e.Stats(); st.Undecodable != 200+c.pretend || st.ReadErrors != 0 {
					t.Errorf("%d garbage, %d read errors", st.Undecodable, st.ReadErrors)
				}
			})
		})
	}
}

// Errors of reading that pass, such as an ICMP message, end nothing.
func TestReadErrorsThatPass(t *testing.T) {
	bubble(t, func(t *testing.T) {
		e, socket := withFailingSocket(t, 50, 0)
		w := &world{t: t, net: socket.net}
		_, b := w.open("b", with(nil))
		mustSend(t, w.dial(e, "b"), []byte("still there"))
		c, err := b.Accept(background)
		wantErr(t, "Accept", err, nil)
		mustRecv(t, c, []byte("still there"))
		if st := e.Stats(); st.ReadErrors != 50 || st.WriteErrors != 0 {
			t.Errorf("%d read errors, want 50", st.ReadErrors)
		}
	})
}

// A socket that fails each read at once is broken.
func TestReadErrorsThatStay(t *testing.T) {
	bubble(t, func(t *testing.T) {
		e, _ := withFailingSocket(t, 1<<40, 0)
		c, _ := e.Dial(netsim.Addr("b"))
		start := time.Now()
		<-c.Done()
		wantTook(t, "noticing", start, 4*time.Second, 6*time.Second)
		wantErr(t, "the connection", c.Err(), plain.ErrSocket, errBroken)
		wantErr(t, "the endpoint", e.Err(), plain.ErrSocket, errBroken)
	})
}

// Errors of writing are loss.
func TestWriteErrorsAreLoss(t *testing.T) {
	bubble(t, func(t *testing.T) {
		e, socket := withFailingSocket(t, 0, 3)
		w := &world{t: t, net: socket.net}
		w.open("b", with(nil))
		mustSend(t, w.dial(e, "b"), content(5000, 1))
		if st := e.Stats(); st.WriteErrors != 3 || st.LastWriteError != errBroken {
			t.Errorf("%d write errors, want 3; the latest is %v", st.WriteErrors, st.LastWriteError)
		}
	})
}

var errBroken = errors.New("connection refused")

// failingSocket fails its first reads and writes.
type failingSocket struct {
	*netsim.Conn
	net           *netsim.Network
	reads, writes atomic.Int64 // still to fail
}

func withFailingSocket(t *testing.T, reads, writes int64) (*plain.Endpoint, *failingSocket) {
	t.Helper()
	n := netsim.NewNetwork(1)
	pc, _ := n.Listen("a")
	socket := &failingSocket{Conn: pc, net: n}
	socket.reads.Store(reads)
	socket.writes.Store(writes)
	e, err := plain.New(socket, with(nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e, socket
}

func (s *failingSocket) ReadFrom(b []byte) (int, net.Addr, error) {
	if s.reads.Add(-1) >= 0 {
		return 0, nil, errBroken
	}
	return s.Conn.ReadFrom(b)
}

func (s *failingSocket) WriteTo(b []byte, addr net.Addr) (int, error) {
	if s.writes.Add(-1) >= 0 {
		return 0, errBroken
	}
	return s.Conn.WriteTo(b, addr)
}

func TestConfig(t *testing.T) {
	good := with(nil)
	for name, change := range map[string]func(*plain.Config){
		"GiveUp":       func(cfg *plain.Config) { cfg.GiveUp = -1 },
		"tiny GiveUp":  func(cfg *plain.Config) { cfg.GiveUp = time.Nanosecond },
		"IdleTimeout":  func(cfg *plain.Config) { cfg.IdleTimeout = -time.Second },
		"SendQueue":    func(cfg *plain.Config) { cfg.SendQueue = -1 },
		"RecvQueue":    func(cfg *plain.Config) { cfg.RecvQueue = -1 },
		"MaxPeers":     func(cfg *plain.Config) { cfg.MaxPeers = -1 },
		"SocketBuffer": func(cfg *plain.Config) { cfg.SocketBuffer = -1 },

		"large SendQueue":    func(cfg *plain.Config) { cfg.SendQueue = 1<<16 + 1 },
		"huge SendQueue":     func(cfg *plain.Config) { cfg.SendQueue = math.MaxInt },
		"large RecvQueue":    func(cfg *plain.Config) { cfg.RecvQueue = 1<<16 + 1 },
		"large MaxPeers":     func(cfg *plain.Config) { cfg.MaxPeers = 1<<24 + 1 },
		"large SocketBuffer": func(cfg *plain.Config) { cfg.SocketBuffer = 1<<30 + 1 },
	} {
		cfg := good
		change(&cfg)
		pc, _ := netsim.NewNetwork(1).Listen("a")
		_, err := plain.New(pc, cfg)
		wantErr(t, name, err, core.ErrConfig)
		if err == nil || !strings.Contains(err.Error(), "allowed is 0") {
			t.Errorf("%s: %v does not say what is allowed", name, err)
		}
		wantErr(t, "the socket after "+name, pc.Close(), nil) // it was left open
	}
}

// What is just allowed works.
func TestLargestConfig(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, with(func(cfg *plain.Config) {
			cfg.SendQueue, cfg.RecvQueue, cfg.MaxPeers = 1<<16, 1<<16, 1<<24
			cfg.GiveUp, cfg.IdleTimeout = 1<<60, 1<<60
		}))
		mustSend(t, w.toB, []byte("hello"))
		mustRecv(t, w.toA, []byte("hello"))
		wantErr(t, "Linger", w.toA.Linger(background, 400*ms), nil)
	})
	bubble(t, func(t *testing.T) {
		w := connect(t, short, with(nil))
		lingered := during(func() error { return w.toA.Linger(background, math.MaxInt64) })
		time.Sleep(time.Hour)
		w.toA.Close()
		wantErr(t, "Linger", <-lingered, plain.ErrClosed)
	})
}

func TestDialNil(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := connect(t, short, with(nil))
		var addrErr *net.AddrError
		if _, err := w.a.Dial(nil); !errors.As(err, &addrErr) {
			t.Errorf("Dial(nil): %v", err)
		}
	})
}
