package udp

import (
	"net"
	"net/netip"
	"slices"
	"sync"
)

// udpSocket reads and writes without allocating, and sends a run in one call
// where the system can.
type udpSocket struct {
	udpReader
	offload offload
	marker  *marker
	own     ownAddr
}

func (s *udpSocket) Marks() bool { return s.marker.works }

func (s *udpSocket) Write(runs []Run) (failed int64, last error) {
	for i := range runs {
		r := &runs[i]
		control := s.marker.controlOf(r, r.To.IPv6())
		if r.Size < len(r.Data) && s.offload.write(s.UDPConn, r, control, r.To.Key.port) == nil {
			continue
		}
		for datagram := range r.Datagrams() {
			if err := writeMessage(s.UDPConn, datagram, control, r.To.Key.port); err != nil {
				failed, last = failed+1, err
			}
		}
	}
	return failed, last
}

func (s *udpSocket) Locate(addr net.Addr) (Addr, error) {
	port, ok := netip.AddrPort{}, false
	if udp, isUDP := addr.(*net.UDPAddr); isUDP && udp != nil {
		port, ok = udp.AddrPort(), true
	} else if addr != nil && !isUDP {
		parsed, err := netip.ParseAddrPort(addr.String())
		port, ok = parsed, err == nil
	}
	peer := AddrOf(port)
	if !ok || !s.CanBegin(peer) {
		return Addr{}, addrError("not the UDP address of a peer", addr)
	}
	return peer, nil
}

func (s *udpSocket) CanBegin(from Addr) bool {
	return isPeerAddr(from.Key.port) && !s.own.is(from.Key.port)
}

// ownAddr knows the addresses of a socket of this system.
type ownAddr struct {
	bound netip.AddrPort
	all   func() []netip.Addr // the addresses of the system
}

func newOwnAddr(local net.Addr) ownAddr {
	udp, _ := local.(*net.UDPAddr)
	return ownAddr{AddrOf(udp.AddrPort()).Key.port, sync.OnceValue(systemAddrs)}
}

// is reports whether a datagram from this address comes from the socket itself. A
// socket that is bound to all addresses has each of the system's.
func (o ownAddr) is(port netip.AddrPort) bool {
	switch ip := port.Addr().WithZone(""); {
	case port.Port() != o.bound.Port():
		return false
	case !o.bound.Addr().IsUnspecified():
		return ip == o.bound.Addr().WithZone("")
	default:
		return ip.IsLoopback() || slices.Contains(o.all(), ip)
	}
}

func systemAddrs() (all []netip.Addr) {
	list, _ := net.InterfaceAddrs()
	for _, a := range list {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil {
			all = append(all, prefix.Addr().Unmap())
		}
	}
	return all
}

// packetSocket works with every PacketConn.
type packetSocket struct {
	net.PacketConn
	marks ECNConn // the same, if it can; otherwise nil
	input single
}

func (s *packetSocket) Read(take func([]Arrival)) error { return s.input.read(s.readOne, take) }

func (s *packetSocket) readOne(buf []byte) (a Arrival, err error) {
	var from net.Addr
	var field uint8
	if s.marks != nil {
		a.Size, from, field, err = s.marks.ReadFromECN(buf)
	} else {
		a.Size, from, err = s.ReadFrom(buf)
	}
	a.Data = buf[:max(0, a.Size)]
	if err == nil && from != nil {
		a.From, a.ECN = namedAddr(from), ECN(field)&CE
	}
	return a, err
}

func (s *packetSocket) Gathers() bool { return Gathers(s.PacketConn) }

func (s *packetSocket) HasRoom() bool { return HasRoom(s.PacketConn) }

func (s *packetSocket) Marks() bool { return s.marks != nil }

func (s *packetSocket) Write(runs []Run) (failed int64, last error) {
	for i := range runs {
		for datagram := range runs[i].Datagrams() {
			if err := s.writeTo(datagram, &runs[i]); err != nil {
				failed, last = failed+1, err
			}
		}
	}
	return failed, last
}

// writeTo writes a datagram of a run.
func (s *packetSocket) writeTo(datagram []byte, r *Run) (err error) {
	if s.marks != nil && r.ECT {
		_, err = s.marks.WriteToECN(datagram, r.To.addr, uint8(ECT0))
	} else {
		_, err = s.WriteTo(datagram, r.To.addr)
	}
	return err
}

func (s *packetSocket) Locate(addr net.Addr) (Addr, error) {
	if addr == nil {
		return Addr{}, addrError("not the address of a peer", addr)
	}
	peer := namedAddr(addr)
	if !s.CanBegin(peer) {
		return Addr{}, addrError("not the address of a peer", addr)
	}
	return peer, nil
}

// CanBegin looks at UDP addresses as a udpSocket does: the PacketConn can be a
// wrapper of one.
func (s *packetSocket) CanBegin(from Addr) bool {
	if udp, ok := from.addr.(*net.UDPAddr); ok && (udp == nil || !isPeerAddr(AddrOf(udp.AddrPort()).Key.port)) {
		return false
	}
	local := s.LocalAddr()
	return local == nil || from.Key.name != local.String()
}
