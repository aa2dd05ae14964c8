package attack

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chunkwire/chunkwire/netsim"
)

const ms = time.Millisecond

var background = context.Background()

// network makes sockets: the system's, or those of a network in memory, whose
// addresses are of UDP, too.
type network struct{ sim *netsim.Network }

// virtual runs a test in virtual time, on a network of its own.
func virtual(t *testing.T, f func(t *testing.T, n network)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, network{netsim.NewNetwork(1)}) })
}

// bind returns the socket with an address, which is closed at the end of the test.
// Port 0 is any.
func (n network) bind(t testing.TB, address string) net.PacketConn {
	t.Helper()
	var pc net.PacketConn
	var err error
	if n.sim == nil {
		pc, err = net.ListenPacket("udp4", address)
	} else {
		pc, err = n.inMemory(address)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pc.Close() })
	return pc
}

func (n network) inMemory(address string) (net.PacketConn, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, err
	}
	for at.Port() == 0 || err != nil {
		at = netip.AddrPortFrom(at.Addr(), at.Port()+1)
		var conn *netsim.Conn
		if conn, err = n.sim.Listen(netsim.Addr(at.String())); err == nil {
			return inMemory{conn, at}, nil
		}
	}
	conn, err := n.sim.Listen(netsim.Addr(address))
	return inMemory{conn, at}, err
}

// inMemory is a socket in memory with addresses of UDP.
type inMemory struct {
	*netsim.Conn
	at netip.AddrPort
}

func (c inMemory) LocalAddr() net.Addr { return net.UDPAddrFromAddrPort(c.at) }

func (c inMemory) ReadFrom(b []byte) (int, net.Addr, error) {
	n, from, err := c.Conn.ReadFrom(b)
	if err != nil {
		return n, nil, err
	}
	at, err := netip.ParseAddrPort(from.String())
	return n, net.UDPAddrFromAddrPort(at), err
}

func (c inMemory) WriteTo(b []byte, to net.Addr) (int, error) {
	return c.Conn.WriteTo(b, netsim.Addr(to.String()))
}

// traffic is datagrams, and bytes of their payload.
type traffic struct{ datagrams, bytes int }

func (t *traffic) add(n int) { t.datagrams, t.bytes = t.datagrams+1, t.bytes+n }

// headers is what IPv4 and UDP add to a datagram.
const headers = 28

// withHeaders returns the bytes with those of IPv4 and UDP.
func (t traffic) withHeaders() int { return t.bytes + headers*t.datagrams }

// station is a socket that never answers by itself: a victim of forged sources, and
// the hand of who forges them.
type station struct {
	net.PacketConn
	mu      sync.Mutex
	in, out traffic
	heard   func(datagram []byte, from net.Addr) // called for what comes; may be nil
}

// station returns a station with an address.
func (n network) station(t testing.TB, address string, heard func([]byte, net.Addr)) *station {
	t.Helper()
	s := &station{PacketConn: n.bind(t, address), heard: heard}
	go s.read()
	return s
}

func (s *station) read() {
	buf := make([]byte, 1<<16)
	for {
		n, from, err := s.ReadFrom(buf)
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			continue
		}
		s.mu.Lock()
		s.in.add(n)
		s.mu.Unlock()
		if s.heard != nil {
			s.heard(buf[:n], from)
		}
	}
}

// says sends a datagram with the station's address as its source.
func (s *station) says(to net.Addr, datagram []byte) {
	s.mu.Lock()
	s.out.add(len(datagram))
	s.mu.Unlock()
	s.WriteTo(datagram, to)
}

// echo is a service that sends back what comes.
func (n network) echo(t testing.TB, address string) *station {
	t.Helper()
	s := &station{PacketConn: n.bind(t, address)}
	s.heard = func(datagram []byte, from net.Addr) { s.says(from, datagram) }
	go s.read()
	return s
}

// traffic returns what came, and what was sent, so far.
func (s *station) traffic() (in, out traffic) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.in, s.out
}
