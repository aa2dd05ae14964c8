package udp

import (
	"net"
	"net/netip"
)

// connected works with every net.Conn.
type connected struct {
	net.Conn
	peer  Addr
	input single
}

func (s *connected) Read(take func([]Arrival)) error {
	return s.input.read(func(buf []byte) (Arrival, error) {
		n, err := s.Conn.Read(buf)
		return Arrival{Data: buf[:max(0, n)], Size: n, From: s.peer}, err
	}, take)
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
	reader  udpReader
	offload offload
	marker  *marker
}

func (s *connectedUDP) Read(take func([]Arrival)) error { return s.reader.Read(take) }

func (s *connectedUDP) Gathers() bool { return s.reader.Gathers() }

func (s *connectedUDP) HasRoom() bool { return s.reader.HasRoom() }

func (s *connectedUDP) Marks() bool { return s.marker.works }

func (s *connectedUDP) Write(runs []Run) (failed int64, last error) {
	for i := range runs {
		r := &runs[i]
		control := s.marker.controlOf(r, s.peer.IPv6())
		if r.Size < len(r.Data) {
			err := s.offload.write(s.reader.UDPConn, r, control, netip.AddrPort{})
			if err == nil {
				continue
			}
			if PortUnreachable(err) {
				last = err // about a datagram before; the next call does not return it again
			}
		}
		for datagram := range r.Datagrams() {
			if err := writeMessage(s.reader.UDPConn, datagram, control, netip.AddrPort{}); err != nil {
				failed, last = failed+1, err
			}
		}
	}
	return failed, last
}
