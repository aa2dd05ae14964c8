package udp

import (
	"net"
	"net/netip"
)

// Addr is where a datagram comes from or goes to.
type Addr struct {
	Key  Key
	addr net.Addr // nil for UDP until it is asked for
}

// Key identifies a peer of a socket. It can be compared and is a map key.
type Key struct {
	port netip.AddrPort // UDP: made without allocation
	name string         // anything else: the address as a string
}

// AddrOf returns the Addr of a UDP address. One of IPv4 has the same key on an
// IPv6 socket as on any other.
func AddrOf(port netip.AddrPort) Addr {
	return Addr{Key: Key{port: netip.AddrPortFrom(port.Addr().Unmap(), port.Port())}}
}

// namedAddr returns the Addr of an address that is no UDP address.
func namedAddr(addr net.Addr) Addr { return Addr{Key{name: addr.String()}, addr} }

// AddrPort returns the address of UDP; one that is not valid of anything else.
func (p Addr) AddrPort() netip.AddrPort { return p.Key.port }

// Known reports whether the peer has an address at all.
func (p Addr) Known() bool { return p.Key != Key{} }

// IPv6 reports whether datagrams to the peer have an IPv6 header.
func (p Addr) IPv6() bool { return p.Key.port.Addr().Is6() }

// Addr returns the address as the net package writes it; nil if there is none.
func (p Addr) Addr() net.Addr {
	switch {
	case p.addr != nil:
		return p.addr
	case p.Key.port.IsValid():
		return net.UDPAddrFromAddrPort(p.Key.port)
	}
	return nil
}

// String returns the address for an error text.
func (p Addr) String() string {
	if a := p.Addr(); a != nil {
		return a.String()
	}
	return "the peer"
}

// isPeerAddr reports whether a UDP address can be the address of a single other socket.
func isPeerAddr(port netip.AddrPort) bool {
	ip := port.Addr()
	return port.Port() != 0 && ip.IsValid() && !ip.IsUnspecified() && !ip.IsMulticast() && ip != broadcast
}

var broadcast = netip.AddrFrom4([4]byte{255, 255, 255, 255})

// CheckNetwork returns an error for a network that is not UDP.
func CheckNetwork(network string) error {
	switch network {
	case "udp", "udp4", "udp6":
		return nil
	}
	return net.UnknownNetworkError(network)
}
