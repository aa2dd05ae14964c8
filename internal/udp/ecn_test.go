package udp

import (
	"net"
	"runtime"
	"testing"
	"time"
)

// local returns a socket of a network, and its address.
func local(t *testing.T, network, address string) (*net.UDPConn, Addr) {
	t.Helper()
	pc, err := net.ListenPacket(network, address)
	if err != nil {
		t.Skipf("no %s: %v", network, err)
	}
	t.Cleanup(func() { pc.Close() })
	pc.SetReadDeadline(time.Now().Add(10 * time.Second))
	return pc.(*net.UDPConn), AddrOf(pc.LocalAddr().(*net.UDPAddr).AddrPort())
}

// What goes with ECT(0) comes with it, in IPv4 and IPv6, alone and in runs; and a socket of IPv6
// that has both knows both.
func TestECTArrives(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the field is read and set on Linux only")
	}
	for _, c := range []struct{ name, from, fromAt, to, toAt string }{
		{"IPv4", "udp4", "127.0.0.1:0", "udp4", "127.0.0.1:0"},
		{"IPv6", "udp6", "[::1]:0", "udp6", "[::1]:0"},
		{"IPv4 to both", "udp4", "127.0.0.1:0", "udp", "[::]:0"},
		{"both to IPv4", "udp", "[::]:0", "udp4", "127.0.0.1:0"},
		{"IPv6 to both", "udp6", "[::1]:0", "udp", "[::]:0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			from, _ := local(t, c.from, c.fromAt)
			to, peer := local(t, c.to, c.toAt)
			if c.toAt == "[::]:0" { // at the loopback address of the sender's kind
				host := map[string]string{"udp4": "127.0.0.1", "udp6": "::1"}[c.from]
				peer = AddrOf((&net.UDPAddr{IP: net.ParseIP(host), Port: to.LocalAddr().(*net.UDPAddr).Port}).AddrPort())
			}
			arrives(t, New(from), New(to), peer, to)
		})
	}
	t.Run("connected", func(t *testing.T) {
		to, peer := local(t, "udp4", "127.0.0.1:0")
		conn, err := net.Dial("udp4", to.LocalAddr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		arrives(t, Connected(conn), New(to), peer, to)
	})
}

// arrives sends datagrams with and without, alone and in runs.
func arrives(t *testing.T, from, to Socket, peer Addr, reader *net.UDPConn) {
	t.Helper()
	reader.SetReadDeadline(time.Now().Add(10 * time.Second))
	if !from.Marks() || !to.Marks() {
		t.Fatal("a socket of Linux reads and sets the field")
	}
	for _, size := range []int{100, 30} { // one datagram, and a run of four
		for _, ect := range []bool{true, false, true} {
			if _, err := from.Write([]Run{{Data: make([]byte, 100), Size: size, To: peer, ECT: ect}}); err != nil {
				t.Fatal(err)
			}
			want := map[bool]ECN{true: ECT0, false: NotECT}[ect]
			for left := (100 + size - 1) / size; left > 0; {
				err := to.Read(func(in []Arrival) {
					for i := range in {
						for _, ok := in[i].Next(); ok; _, ok = in[i].Next() {
							left--
						}
						if in[i].ECN != want {
							t.Errorf("runs of %d bytes come with %d, not %d", size, in[i].ECN, want)
						}
					}
				})
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// markedConn is a PacketConn that has the field.
type markedConn struct {
	net.PacketConn
	field uint8
}

func (c *markedConn) ReadFromECN(b []byte) (int, net.Addr, uint8, error) {
	n, from, err := c.ReadFrom(b)
	return n, from, c.field, err
}

func (c *markedConn) WriteToECN(b []byte, to net.Addr, field uint8) (int, error) {
	c.field = field
	return c.WriteTo(b, to)
}

// A PacketConn that has the field is asked for it; one that has not goes without.
func TestECNConn(t *testing.T) {
	conn, _ := local(t, "udp4", "127.0.0.1:0")
	wrapped := struct{ net.PacketConn }{conn}
	marked := &markedConn{PacketConn: wrapped}
	for _, s := range []Socket{New(wrapped), New(marked)} {
		peer, err := s.Locate(&net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: listenLocal(t).LocalAddr().(*net.UDPAddr).Port})
		if err != nil {
			t.Fatal(err)
		}
		if failed, err := s.Write([]Run{{Data: []byte("x"), Size: 1, To: peer, ECT: true}}); failed != 0 || err != nil {
			t.Fatal(err)
		}
	}
	if New(wrapped).Marks() || !New(marked).Marks() || marked.field != uint8(ECT0) {
		t.Errorf("the field was set to %d", marked.field)
	}
	marked.field = 0xff // of which two bits count
	if _, err := conn.WriteTo([]byte("y"), conn.LocalAddr()); err != nil {
		t.Fatal(err)
	}
	conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	err := New(marked).Read(func(in []Arrival) {
		if in[0].ECN != CE {
			t.Errorf("it comes with %d", in[0].ECN)
		}
	})
	if err != nil {
		t.Error(err)
	}
}
