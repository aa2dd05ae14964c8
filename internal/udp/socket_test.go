package udp

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"
)

func peerOf(s string) Addr { return AddrOf(netip.MustParseAddrPort(s)) }

func TestLocate(t *testing.T) {
	socket := New(listenLocal(t))
	for name, addr := range map[string]net.Addr{
		"4 bytes":  &net.UDPAddr{IP: net.IP{192, 0, 2, 1}, Port: 9000},
		"16 bytes": &net.UDPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 9000},
		"a string": &net.TCPAddr{IP: net.IP{192, 0, 2, 1}, Port: 9000},
	} {
		p, err := socket.Locate(addr)
		if err != nil || p != peerOf("192.0.2.1:9000") || p.String() != "192.0.2.1:9000" {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
	for name, addr := range map[string]net.Addr{
		"nil":          nil,
		"no IP":        &net.UDPAddr{Port: 9000},
		"no port":      &net.UDPAddr{IP: net.IP{192, 0, 2, 1}},
		"nil UDP":      (*net.UDPAddr)(nil),
		"no UDP":       &net.UnixAddr{Name: "x"},
		"nonsense":     &net.IPAddr{IP: net.IP{192, 0, 2, 1}},
		"a multicast":  &net.UDPAddr{IP: net.IP{224, 0, 0, 1}, Port: 9000},
		"itself":       socket.LocalAddr(),
		"all of them":  &net.UDPAddr{IP: net.IP{0, 0, 0, 0}, Port: 9000},
		"a broadcast":  &net.UDPAddr{IP: net.IP{255, 255, 255, 255}, Port: 9000},
		"IPv6 in IPv4": &net.UDPAddr{IP: net.ParseIP("::ffff:224.0.0.1"), Port: 9000},
	} {
		var addrErr *net.AddrError
		if p, err := socket.Locate(addr); !errors.As(err, &addrErr) {
			t.Errorf("%s: %v, %v, want a net.AddrError", name, p, err)
		}
	}
}

// The source of a datagram is no peer if nothing that is sent there can reach a
// single other socket.
func TestCanBegin(t *testing.T) {
	open := func(address string) (Socket, string) {
		pc, err := net.ListenPacket("udp4", address)
		if err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() { pc.Close() })
		_, port, _ := net.SplitHostPort(pc.LocalAddr().String())
		return New(pc), port
	}
	one, onePort := open("127.0.0.1:0")
	all, allPort := open("0.0.0.0:0")
	for _, c := range []struct {
		socket Socket
		from   string
		want   bool
	}{
		{one, "192.0.2.1:9000", true}, {one, "[2001:db8::1]:9000", true}, {one, "127.0.0.1:9", true},
		{one, "127.0.0.2:" + onePort, true}, // another socket may have that
		{one, "127.0.0.1:" + onePort, false},
		{one, "192.0.2.1:0", false}, {one, "0.0.0.0:9000", false}, {one, "[::]:9000", false},
		{one, "224.0.0.1:9000", false}, {one, "[ff02::1]:9000", false}, {one, "255.255.255.255:9000", false},
		{all, "127.0.0.1:9", true}, {all, "192.0.2.1:" + allPort, true},
		{all, "127.0.0.1:" + allPort, false}, {all, "127.0.0.2:" + allPort, false}, {all, "[::1]:" + allPort, false},
	} {
		if got := c.socket.CanBegin(peerOf(c.from)); got != c.want {
			t.Errorf("%v at %v: %v", c.from, c.socket.LocalAddr(), got)
		}
	}
	own := ownAddr{netip.MustParseAddrPort("[::]:9000"), func() []netip.Addr { return []netip.Addr{netip.MustParseAddr("192.0.2.7")} }}
	if !own.is(netip.MustParseAddrPort("192.0.2.7:9000")) || own.is(netip.MustParseAddrPort("192.0.2.8:9000")) {
		t.Error("the addresses of the system are not compared")
	}
	if len(systemAddrs()) == 0 {
		t.Error("the system has no address")
	}
}

// A PacketConn that wraps a UDP socket has addresses of UDP, any other has its own.
func TestCanBeginAtAWrapper(t *testing.T) {
	s := New(struct{ net.PacketConn }{listenLocal(t)})
	for addr, want := range map[net.Addr]bool{
		s.LocalAddr(): false,
		&net.UDPAddr{IP: net.IP{192, 0, 2, 1}, Port: 9000}: true,
		&net.UDPAddr{IP: net.IP{192, 0, 2, 1}}:             false,
		&net.UDPAddr{IP: net.IP{224, 0, 0, 1}, Port: 9000}: false,
		&net.UnixAddr{Name: "x"}:                           true,
	} {
		if got := s.CanBegin(namedAddr(addr)); got != want {
			t.Errorf("%v: %v", addr, got)
		}
		if _, err := s.Locate(addr); (err == nil) != want {
			t.Errorf("%v: %v", addr, err)
		}
	}
}

func TestPeers(t *testing.T) {
	v4, mapped, v6 := peerOf("192.0.2.1:9"), peerOf("[::ffff:192.0.2.1]:9"), peerOf("[2001:db8::1]:9")
	if v4 != mapped || v4.IPv6() || !v6.IPv6() {
		t.Errorf("%v and %v, %v", v4, mapped, v6)
	}
	var none Addr
	if none.Known() || none.Addr() != nil || none.String() != "the peer" || !v4.Known() {
		t.Errorf("%v, %v", none.Addr(), none)
	}
}

// What is connected has one peer, whose address need not be known.
func TestConnected(t *testing.T) {
	here, there := net.Pipe()
	defer here.Close()
	s := Connected(here)
	go func() {
		buf := make([]byte, 10)
		for range 3 {
			n, err := there.Read(buf)
			if err != nil {
				t.Error(err)
			}
			there.Write(buf[:n])
		}
		there.Close()
	}()
	peer, err := s.Locate(nil)
	if err != nil || !peer.Known() || s.CanBegin(peer) {
		t.Errorf("the peer: %v, %v", peer, err)
	}
	for _, r := range []Run{{Data: []byte("abcde"), Size: 5, To: peer}, {Data: []byte("fgh"), Size: 3, To: peer}, {Data: []byte("ij"), Size: 2, To: peer}} {
		if failed, err := s.Write([]Run{r}); failed != 0 || err != nil {
			t.Fatal(failed, err)
		}
		err := s.Read(func(in []Arrival) {
			if len(in) != 1 || string(in[0].Data) != string(r.Data) || in[0].From.Key != peer.Key {
				t.Errorf("read %+v", in)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Read(nothing(t)); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
	if failed, err := s.Write([]Run{{Data: []byte("abcdef"), Size: 2, To: peer}}); failed != 3 || err == nil {
		t.Errorf("%d failed, %v", failed, err)
	}
	if _, err := s.Locate(&net.UDPAddr{IP: net.IP{192, 0, 2, 1}, Port: 1}); err == nil {
		t.Error("another peer was found")
	}
}

// nothing is for a read that must fail.
func nothing(t *testing.T) func([]Arrival) {
	return func(in []Arrival) { t.Errorf("read %+v", in) }
}

// Nobody listens at the port: the system says so, for the next write or read.
func TestPortUnreachable(t *testing.T) {
	gone := listenLocal(t)
	gone.Close()
	conn, err := net.DialUDP("udp4", nil, gone.LocalAddr().(*net.UDPAddr))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	s := Connected(conn)
	peer, _ := s.Locate(nil)
	if failed, err := s.Write([]Run{{Data: []byte("x"), Size: 1, To: peer}}); failed != 0 || err != nil {
		t.Fatal(failed, err)
	}
	conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	if runtime.GOOS == "linux" {
		if err := s.Read(nothing(t)); !PortUnreachable(err) {
			t.Errorf("reading fails with %v", err)
		}
		s.Write([]Run{{Data: []byte("x"), Size: 1, To: peer}})
		time.Sleep(10 * time.Millisecond)
		if _, err := s.Write([]Run{{Data: make([]byte, 2000), Size: 1000, To: peer}}); !PortUnreachable(err) {
			t.Errorf("a run fails with %v", err)
		}
	}
	for err, want := range map[error]bool{nil: false, io.EOF: false, os.NewSyscallError("read", syscall.ECONNREFUSED): true} {
		if got := PortUnreachable(err); got != want {
			t.Errorf("%v: %v", err, got)
		}
	}
	if !MessageTooLong(syscall.EMSGSIZE) || MessageTooLong(syscall.ECONNREFUSED) {
		t.Error("a message that is too long")
	}
}

func TestIsConnected(t *testing.T) {
	conn := listenLocal(t)
	connected, err := net.DialUDP("udp4", nil, conn.LocalAddr().(*net.UDPAddr))
	if err != nil {
		t.Fatal(err)
	}
	defer connected.Close()
	if IsConnected(conn) || !IsConnected(connected) || IsConnected(struct{ net.PacketConn }{connected}) {
		t.Error("only a *net.UDPConn with a peer is connected")
	}
}
