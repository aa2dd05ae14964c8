package netsim

import "net"

// ECNConn is a [Conn] that reads the field ECN of the IP header (RFC 3168), and sets it. A Conn
// alone has no such methods, so that what wraps one sees all that is read and written.
type ECNConn struct{ *Conn }

// congested is the value of the field of a datagram that was marked.
const congested = 3

// ReadFromECN is ReadFrom, and returns the field, 0 to 3: what WriteToECN was given, or 3,
// congestion experienced, if that was 1 or 2 and the link has marked the datagram
// ([Path.MarkAbove]).
func (c ECNConn) ReadFromECN(b []byte) (n int, from net.Addr, ecn uint8, err error) {
	return c.read(b)
}

// WriteToECN is WriteTo with a value of the field, of which two bits count.
func (c ECNConn) WriteToECN(b []byte, addr net.Addr, ecn uint8) (int, error) {
	return c.write(b, addr, ecn)
}
