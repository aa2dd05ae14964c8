package udp

import (
	"net"
	"net/netip"
)

// connected works with every net.Conn.
type connected struct {
	net.Conn
	peer Addr
}

func (s *connected) Read(buf []byte) (int, Addr, ECN, error) {
	n, err := s.Conn.Read(buf)
	return n, s.peer, NotECT, err
}

func (s *connected) Marks() bool { return false }

func (s *connected) Write(runs []Run) (failed int64, last error) {
	for i := range runs {
		for datagram := range runs[i].Datagrams() {
			if _, err := s.Conn.Write(datagram); err != nil {
				failed, last = failed+1, err
			}
		}
	}
	return failed, last
}

// Locate finds the only peer, by nil or by its address.
func (s *connected) Locate(addr net.Addr) (Addr, error) {
	if addr == nil || s.peer.Addr() != nil && addr.String() == s.peer.String() {
		return s.peer, nil
	}
	return Addr{}, addrError("the socket is connected to another peer", addr)
}

func (s *connected) CanBegin(Addr) bool { return false }

// connectedUDP sends a run in one call where the system can.
type connectedUDP struct {
	connected
	udp     *net.UDPConn
	offload offload
	marker  *marker
}

func (s *connectedUDP) Read(buf []byte) (int, Addr, ECN, error) {
	n, _, ecn, err := s.marker.read(s.udp, buf)
	return n, s.peer, ecn, err
}

func (s *connectedUDP) Marks() bool { return s.marker.works }

func (s *connectedUDP) Write(runs []Run) (failed int64, last error) {
	for i := range runs {
		r := &runs[i]
		control := s.marker.controlOf(r, s.peer.IPv6())
		if r.Size < len(r.Data) {
			err := s.offload.write(s.udp, r, control, netip.AddrPort{})
			if err == nil {
				continue
			}
			if PortUnreachable(err) {
				last = err // about a datagram before; the next call does not return it again
			}
		}
		for datagram := range r.Datagrams() {
			if err := writeMessage(s.udp, datagram, control, netip.AddrPort{}); err != nil {
				failed, last = failed+1, err
			}
		}
	}
	return failed, last
}
