package udp

import "net"

// ECN is the field of an IP header by which the path says that a queue has become long
// (RFC 3168).
type ECN uint8

// Its values.
const (
	NotECT ECN = iota
	ECT1
	ECT0
	CE
)

// ECNConn is a net.PacketConn that reads the field ECN of datagrams that it reads, and sets the field of those that
// it writes. What embeds one has these methods, too: they are used in place of ReadFrom and
// WriteTo.
type ECNConn interface {
	net.PacketConn
	// ReadFromECN is ReadFrom, and returns the field: 0 to 3.
	ReadFromECN(b []byte) (n int, from net.Addr, ecn uint8, err error)
	// WriteToECN is WriteTo with a field.
	WriteToECN(b []byte, to net.Addr, ecn uint8) (n int, err error)
}

// marker sets the field of a UDP socket. It is for the goroutine that writes.
type marker struct {
	works   bool
	leaving [controlSpace]byte
}

// controlSpace is room for the control messages of an arrival, or of a run: the field of both versions of IP, and a
// size.
const controlSpace = 96

func newMarker(conn *net.UDPConn) *marker { return &marker{works: canMark(conn)} }

// controlOf returns the control messages of a run; none if there is nothing to say. There is room
// for one more.
func (m *marker) controlOf(r *Run, ipv6 bool) []byte {
	if r.ECT && m.works {
		return appendECT(m.leaving[:0], ipv6)
	}
	return m.leaving[:0]
}
