package udp

import (
	"net"
	"net/netip"
)

// connected works with every net.Conn.
type connected struct {
	net.Conn
	peer Peer
}

func (s *connected) Read(buf []byte) (int, Peer, error) {
	n, err := s.Conn.Read(buf)
	return n, s.peer, err
}

func (s *connected) Write(runs []Run) (failed int64, last error) {
	for i := range runs {
		f, err := s.writeEach(&runs[i])
		if failed += f; err != nil {
			last = err
		}
	}
	return failed, last
}

func (s *connected) writeEach(r *Run) (failed int64, last error) {
	for datagram := range r.Datagrams() {
		if _, err := s.Conn.Write(datagram); err != nil {
			failed, last = failed+1, err
		}
	}
	return failed, last
}

// Locate finds the only peer, by nil or by its address.
func (s *connected) Locate(addr net.Addr) (Peer, error) {
	if addr == nil || s.peer.Addr() != nil && addr.String() == s.peer.String() {
		return s.peer, nil
	}
	return Peer{}, addrError("the socket is connected to another peer", addr)
}

func (s *connected) CanBegin(Peer) bool { return false }

// connectedUDP sends a run in one call where the system can.
type connectedUDP struct {
	connected
	udp     *net.UDPConn
	offload offload
}

func (s *connectedUDP) Write(runs []Run) (failed int64, last error) {
	for i := range runs {
		r := &runs[i]
		if r.Size < len(r.Data) {
			err := s.offload.write(s.udp, r, netip.AddrPort{})
			if err == nil {
				continue
			}
			if PortUnreachable(err) {
				last = err // about a datagram before; the next call does not return it again
			}
		}
		f, err := s.writeEach(r)
		if failed += f; err != nil {
			last = err
		}
	}
	return failed, last
}
