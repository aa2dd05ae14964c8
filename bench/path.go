package bench

import (
	"net"
	"net/netip"

	"github.com/chunkwire/chunkwire/netsim"
)

// The two ends. The server pushes the block, the client fetches it.
var (
	serverAddr = net.UDPAddrFromAddrPort(netip.MustParseAddrPort("192.0.2.1:9000"))
	clientAddr = net.UDPAddrFromAddrPort(netip.MustParseAddrPort("192.0.2.2:9000"))
)

// wire is one end of the simulated path with the address of a UDP socket,
// on which some of the peers insist.
type wire struct {
	*netsim.Conn
	addr *net.UDPAddr
}

func (w wire) LocalAddr() net.Addr { return w.addr }

func (w wire) WriteTo(b []byte, to net.Addr) (int, error) {
	return w.Conn.WriteTo(b, name(to))
}

func (w wire) ReadFrom(b []byte) (int, net.Addr, error) {
	n, from, err := w.Conn.ReadFrom(b)
	if err != nil {
		return n, nil, err
	}
	if from == name(serverAddr) {
		return n, serverAddr, nil
	}
	return n, clientAddr, nil
}

// connected is a socket that sends to one address, as a dialed one does.
type connected struct {
	net.PacketConn
	to *net.UDPAddr
}

func (c connected) RemoteAddr() net.Addr        { return c.to }
func (c connected) Write(b []byte) (int, error) { return c.WriteTo(b, c.to) }
func (c connected) Read(b []byte) (int, error) {
	n, _, err := c.ReadFrom(b)
	return n, err
}

func name(a net.Addr) netsim.Addr { return netsim.Addr(a.String()) }

// path is the simulated network between the two ends.
type path struct {
	net            *netsim.Network
	server, client net.PacketConn
}

func newPath(c Cell, seed uint64) *path {
	p := &path{net: netsim.NewNetwork(seed)}
	p.set(c)
	p.server = p.listen(serverAddr)
	p.client = p.listen(clientAddr)
	return p
}

func (p *path) listen(addr *net.UDPAddr) wire {
	c, err := p.net.Listen(name(addr))
	if err != nil {
		panic(err) // nobody else can have taken the name
	}
	return wire{c, addr}
}

// set changes both directions.
func (p *path) set(c Cell) {
	p.net.SetPath(name(serverAddr), name(clientAddr), c.down())
	p.net.SetPath(name(clientAddr), name(serverAddr), c.up())
}

// bytes returns what both ends have sent so far, headers of IP and UDP
// included.
func (p *path) bytes() int64 {
	down := p.net.Stats(name(serverAddr), name(clientAddr))
	up := p.net.Stats(name(clientAddr), name(serverAddr))
	return down.SentBytes + up.SentBytes + overhead*(down.Sent+up.Sent)
}

func (p *path) close() {
	_ = p.server.Close()
	_ = p.client.Close()
}
