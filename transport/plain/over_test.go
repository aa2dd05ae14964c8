package plain_test

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// session is a net.Conn that moves datagrams, as DTLS or QUIC have it: here over
// a netsim.Conn. Its addresses may be unknown.
type session struct {
	*netsim.Conn
	peer    net.Addr
	unknown bool
	ended   chan struct{} // closed when the other end has ended the session
}

func (s *session) Read(b []byte) (int, error) {
	n, _, err := s.ReadFrom(b)
	select {
	case <-s.ended:
		return 0, io.EOF
	default:
		return n, err
	}
}

func (s *session) Write(b []byte) (int, error) { return s.WriteTo(b, s.peer) }

func (s *session) RemoteAddr() net.Addr {
	if s.unknown {
		return nil
	}
	return s.peer
}

// over makes a connection over sessions.
func over(t *testing.T, p netsim.Path, cfg plain.Config, unknown bool) (a, b *plain.Conn, endA chan struct{}) {
	t.Helper()
	n := netsim.NewNetwork(1)
	n.SetDefault(p)
	endA = make(chan struct{})
	make := func(from, to netsim.Addr, ended chan struct{}) *plain.Conn {
		pc, err := n.Listen(from)
		if err != nil {
			t.Fatal(err)
		}
		c, err := plain.Over(&session{pc, to, unknown, ended}, cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	return make("a", "b", endA), make("b", "a", nil), endA
}

// A connection over what is connected carries chunks both ways, by several lanes
// as well, whatever is known of the addresses.
func TestOver(t *testing.T) {
	for _, unknown := range []bool{false, true} {
		for _, n := range []int{1, 8} {
			bubble(t, func(t *testing.T) {
				a, b, _ := over(t, netsim.Path{Delay: 20 * ms, Loss: 5}, lanes(n), unknown)
				back := during(func() error { return b.Send(background, content(100_000, 9)) })
				stream(t, a, b, 10, func(i int) int { return 1 + i*20_000 })
				mustRecv(t, a, content(100_000, 9))
				wantErr(t, "Send", <-back, nil)
				if unknown != (a.RemoteAddr() == nil) {
					t.Errorf("the peer's address is %v", a.RemoteAddr())
				}
				if st := a.Endpoint().Stats(); st.Peers != 1 || st.Undecodable+st.UnknownPeers != 0 {
					t.Errorf("%+v", st)
				}
				if _, err := a.Endpoint().Dial(netsim.Addr("c")); err == nil {
					t.Error("another peer was dialed")
				}
			})
		}
	}
}

// The end of what is below ends the connection at once; chunks that are complete
// can still be received.
func TestOverASessionThatEnds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a, b, end := over(t, short, with(nil), false)
		mustSend(t, b, []byte("the last one"))
		close(end)
		b.Enqueue(background, []byte("which wakes the reader"))
		<-a.Done()
		wantErr(t, "the connection", a.Err(), plain.ErrSocket, io.EOF)
		mustRecv(t, a, []byte("the last one"))
		wantErr(t, "Close", a.Close(), nil)
	})
	bubble(t, func(t *testing.T) {
		a, _, _ := over(t, outage, with(func(cfg *plain.Config) { cfg.GiveUp = time.Second }), true)
		err := a.Send(background, []byte("x"))
		wantErr(t, "Send", err, plain.ErrGaveUp, os.ErrDeadlineExceeded)
		wantErr(t, "the endpoint", a.Endpoint().Err(), plain.ErrGaveUp)
	})
}

// refusing is a net.Conn whose writes fail as those of a socket to a closed port do.
type refusing struct{ *session }

func (refusing) Write([]byte) (int, error) {
	return 0, &net.OpError{Op: "write", Err: os.NewSyscallError("write", syscall.ECONNREFUSED)}
}

// A port that is closed may show in a write alone.
func TestOverARefusedPort(t *testing.T) {
	bubble(t, func(t *testing.T) {
		pc, err := netsim.NewNetwork(1).Listen("a")
		if err != nil {
			t.Fatal(err)
		}
		c, err := plain.Over(refusing{&session{Conn: pc, peer: netsim.Addr("b")}}, with(nil))
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		wantErr(t, "Send", c.Send(background, []byte("x")), plain.ErrRefused, syscall.ECONNREFUSED)
		wantTook(t, "Send", start, 0, ms)
	})
}

// A stream of bytes has no datagrams, and a socket that is connected is not for
// New, which could not write to an address.
func TestWhatOverAndNewRefuse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	tcp, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	var unknown net.UnknownNetworkError
	if _, err := plain.Over(tcp, with(nil)); !errors.As(err, &unknown) {
		t.Errorf("Over TCP: %v", err)
	}
	connected, err := net.Dial("udp", "127.0.0.1:9")
	if err != nil {
		t.Skip(err)
	}
	defer connected.Close()
	_, err = plain.New(connected.(*net.UDPConn), with(nil))
	wantErr(t, "New", err, core.ErrConfig)
	_, err = plain.Over(connected, plain.Config{Lanes: 17})
	wantErr(t, "Over", err, core.ErrConfig)
}

// Over two connected UDP sockets nobody dials and nobody accepts.
func TestOverConnectedUDP(t *testing.T) {
	ends := [2]*net.UDPConn{}
	first, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Skip(err)
	}
	second, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	addrs := [2]*net.UDPAddr{first.LocalAddr().(*net.UDPAddr), second.LocalAddr().(*net.UDPAddr)}
	first.Close()
	second.Close()
	var conns [2]*plain.Conn
	for i := range ends {
		if ends[i], err = net.DialUDP("udp4", addrs[i], addrs[1-i]); err != nil {
			t.Fatal(err)
		}
		if conns[i], err = plain.Over(ends[i], with(nil)); err != nil {
			t.Fatal(err)
		}
		defer conns[i].Close()
	}
	for i, c := range conns {
		sent := during(func() error { return c.Send(background, content(262_144, uint64(i))) })
		mustRecv(t, conns[1-i], content(262_144, uint64(i)))
		wantErr(t, "Send", <-sent, nil)
	}
}
