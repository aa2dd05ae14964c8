package udp

import (
	"net"
	"time"
)

// Socket is what an endpoint needs of a net.PacketConn or a net.Conn. One
// goroutine at a time can call Read, and one Write.
type Socket interface {
	// Read waits until something arrives, and gives it to take. Its memory is used
	// again when take returns.
	Read(take func([]Arrival)) error
	// Write sends runs. It returns how many datagrams the system did not take, and
	// the latest of its errors.
	Write(runs []Run) (failed int64, err error)
	// Locate returns the peer with an address, or a net.AddrError.
	Locate(addr net.Addr) (Addr, error)
	// CanBegin reports whether a datagram's source can be a peer: not port 0, no
	// multicast or broadcast address, and not this socket itself.
	CanBegin(from Addr) bool
	// Marks reports whether the socket reads and sets the field ECN.
	Marks() bool
	// LocalAddr returns the address of the socket.
	LocalAddr() net.Addr
	// Close ends Read and Write.
	Close() error
}

// New returns the socket for a PacketConn. Only the very type *net.UDPConn is
// used by its faster methods: a wrapper that embeds one must see its own ReadFrom
// and WriteTo called. A *net.UDPConn must not be connected.
func New(pc net.PacketConn) Socket {
	pc.SetDeadline(time.Time{}) // a deadline left over would look like a failure
	if conn, ok := pc.(*net.UDPConn); ok {
		return &udpSocket{udpReader: newUDPReader(conn, Addr{}), offload: newOffload(conn), marker: newMarker(conn), own: newOwnAddr(conn.LocalAddr())}
	}
	marks, _ := pc.(ECNConn)
	return &packetSocket{PacketConn: pc, marks: marks}
}

// Connected returns the socket for a net.Conn whose Read and Write move one
// datagram each. Its only peer is the other end.
func Connected(conn net.Conn) Socket {
	conn.SetDeadline(time.Time{})
	if udp, ok := conn.(*net.UDPConn); ok {
		to, _ := udp.RemoteAddr().(*net.UDPAddr)
		c := connected{Conn: conn, peer: AddrOf(to.AddrPort())}
		return &connectedUDP{c, newUDPReader(udp, c.peer), newOffload(udp), newMarker(udp)}
	}
	return &connected{Conn: conn, peer: Addr{Key{name: "peer"}, conn.RemoteAddr()}}
}

// Gatherer is a Socket whose Read can give together what has arrived. A net.PacketConn can be one for the socket that
// New returns.
type Gatherer interface {
	// Gathers reports whether Read gives together what has arrived, as far as there is room.
	Gathers() bool
	// HasRoom reports whether what a socket that Gathers is given to send finds room, so that Write does not wait. It
	// is not for several goroutines at once.
	HasRoom() bool
}

// Gathers is Gatherer's, of any socket.
func Gathers(s any) bool {
	g, ok := s.(Gatherer)
	return ok && g.Gathers()
}

// HasRoom is Gatherer's, of any socket.
func HasRoom(s any) bool {
	g, ok := s.(Gatherer)
	return ok && g.HasRoom()
}

// IsConnected reports whether a PacketConn is a UDP socket with a fixed peer.
func IsConnected(pc net.PacketConn) bool {
	conn, ok := pc.(*net.UDPConn)
	return ok && conn.RemoteAddr() != nil
}

func addrError(text string, addr net.Addr) error {
	if addr == nil {
		return &net.AddrError{Err: text, Addr: "<nil>"}
	}
	return &net.AddrError{Err: text, Addr: addr.String()}
}
