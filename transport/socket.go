package transport

import (
	"iter"
	"net"
	"net/netip"
	"slices"
)

// socket is what an endpoint needs of a net.PacketConn. It is also the seam for
// system calls that move many datagrams at once.
type socket interface {
	// read waits for a datagram.
	read(buf []byte) (int, origin, error)
	// write sends runs of datagrams and returns how many datagrams the system did
	// not take.
	write(messages []message) (failed int64)
	// locate returns the origin that datagrams of a peer will have.
	locate(peer net.Addr) (origin, error)
}

// message is a run of datagrams on their way out to one peer. They lie one after
// the other in data and have size bytes each, but the last may have fewer: what
// UDP segmentation offload takes in one call.
type message struct {
	data []byte
	size int
	to   origin
}

// count returns how many datagrams the run has.
func (m *message) count() int { return (len(m.data) + m.size - 1) / m.size }

// datagrams returns them one by one.
func (m *message) datagrams() iter.Seq[[]byte] { return slices.Chunk(m.data, m.size) }

// origin is where a datagram comes from or goes to.
type origin struct {
	key  peerKey
	addr net.Addr // nil for UDP until somebody asks
}

// peerKey is what connections are found by.
type peerKey struct {
	port netip.AddrPort // UDP: made without allocation
	name string         // anything else: the address as a string
}

// netAddr returns the origin as the net package writes it.
func (o origin) netAddr() net.Addr {
	if o.addr == nil {
		return net.UDPAddrFromAddrPort(o.key.port)
	}
	return o.addr
}

// String makes an origin readable in errors.
func (o origin) String() string { return o.netAddr().String() }

// newSocket picks the way to talk to a PacketConn. Only the very type
// *net.UDPConn gets the fast one: a wrapper that embeds it must see its own
// ReadFrom and WriteTo called.
func newSocket(pc net.PacketConn) socket {
	if conn, ok := pc.(*net.UDPConn); ok {
		return &udpSocket{conn: conn, offload: newOffload(conn)}
	}
	return anySocket{pc}
}

// udpSocket reads and writes without allocating, and sends a run of datagrams in
// one call where the system can.
type udpSocket struct {
	conn    *net.UDPConn
	offload offload
}

func (s *udpSocket) read(buf []byte) (int, origin, error) {
	n, from, err := s.conn.ReadFromUDPAddrPort(buf)
	return n, udpOrigin(from), err
}

func (s *udpSocket) write(messages []message) (failed int64) {
	for i := range messages {
		m := &messages[i]
		if m.size < len(m.data) && s.offload.write(s.conn, m) {
			continue
		}
		for datagram := range m.datagrams() {
			if _, err := s.conn.WriteToUDPAddrPort(datagram, m.to.key.port); err != nil {
				failed++
			}
		}
	}
	return failed
}

func (s *udpSocket) locate(peer net.Addr) (origin, error) {
	port, ok := netip.AddrPort{}, false
	if udp, isUDP := peer.(*net.UDPAddr); isUDP && udp != nil {
		port, ok = udp.AddrPort(), true
	} else if parsed, err := netip.ParseAddrPort(peer.String()); err == nil {
		port, ok = parsed, true
	}
	if !ok || !port.Addr().IsValid() || port.Port() == 0 {
		return origin{}, &net.AddrError{Err: "not the UDP address of a peer", Addr: peer.String()}
	}
	return udpOrigin(port), nil
}

// udpOrigin gives an IPv4 peer the same key on an IPv6 socket as on any other.
func udpOrigin(port netip.AddrPort) origin {
	return origin{key: peerKey{port: netip.AddrPortFrom(port.Addr().Unmap(), port.Port())}}
}

// anySocket works with every PacketConn.
type anySocket struct{ conn net.PacketConn }

func (s anySocket) read(buf []byte) (int, origin, error) {
	n, from, err := s.conn.ReadFrom(buf)
	if err != nil || from == nil {
		return n, origin{}, err
	}
	return n, origin{peerKey{name: from.String()}, from}, nil
}

func (s anySocket) write(messages []message) (failed int64) {
	for i := range messages {
		m := &messages[i]
		for datagram := range m.datagrams() {
			if _, err := s.conn.WriteTo(datagram, m.to.addr); err != nil {
				failed++
			}
		}
	}
	return failed
}

func (s anySocket) locate(peer net.Addr) (origin, error) {
	return origin{peerKey{name: peer.String()}, peer}, nil
}
