package udp

import (
	"net"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"golang.org/x/sys/unix"
)

// A socket has room until half of its send buffer is in use: here by a datagram that the system keeps for more
// (UDP_CORK).
func TestHasRoom(t *testing.T) {
	conn := check.Must(net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}))
	defer conn.Close()
	s := New(conn)
	if !Gathers(s) {
		t.Skip("the system has no reading of several datagrams")
	}
	check.Same(t, "set", conn.SetWriteBuffer(1), nil) // the least that there is
	check.That(t, HasRoom(s), "an empty buffer has room")
	cork := func(on int) {
		check.Must(conn.SyscallConn()).Control(func(fd uintptr) {
			check.Same(t, "set", unix.SetsockoptInt(int(fd), unix.IPPROTO_UDP, unix.UDP_CORK, on), nil)
		})
	}
	cork(1)
	check.Must(conn.WriteTo(make([]byte, 3000), conn.LocalAddr()))
	check.That(t, !HasRoom(s), "a full one has none")
	cork(0)
	check.That(t, HasRoom(s), "it has again")
}
