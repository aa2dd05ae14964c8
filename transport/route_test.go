package transport

import (
	"context"
	"net"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// deaf is a socket that drops what comes from an address and what goes there.
type deaf struct {
	net.PacketConn
	to atomic.Pointer[net.UDPAddr]
}

func (d *deaf) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		n, from, err := d.PacketConn.ReadFrom(b)
		if to := d.to.Load(); err != nil || to == nil || from.String() != to.String() {
			return n, from, err
		}
	}
}

func (d *deaf) WriteTo(b []byte, addr net.Addr) (int, error) {
	if to := d.to.Load(); to != nil && addr.String() == to.String() {
		return len(b), nil
	}
	return d.PacketConn.WriteTo(b, addr)
}

// A client that hears nothing finds out by itself that the system would use another
// address now, and goes on from there.
func TestTheRouteChanges(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("127.0.0.2 is an address of its own on Linux")
	}
	pc, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	socket := &deaf{PacketConn: pc}
	s, err := New(socket, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	client, err := Dial(ctx, "udp4", s.Addr().String(), Config{Timeout: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close(0, "")
	server, err := s.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	client.link.Driver.Lock()
	client.client.dial = func(ctx context.Context) (net.Conn, error) {
		dialer := net.Dialer{LocalAddr: &net.UDPAddr{IP: net.IPv4(127, 0, 0, 2)}}
		return dialer.DialContext(ctx, "udp4", s.Addr().String())
	}
	client.link.Driver.Unlock()
	socket.to.Store(client.LocalAddr().(*net.UDPAddr))
	client.Channel(1).Send([]byte("from elsewhere"))
	if m, err := server.Channel(1).Recv(ctx); string(m) != "from elsewhere" {
		t.Fatal(err)
	}
	if ip := server.RemoteAddr().(*net.UDPAddr).IP; !ip.Equal(net.IPv4(127, 0, 0, 2)) {
		t.Errorf("the client is at %v", ip)
	}
}
