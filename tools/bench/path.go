package bench

import (
	"net"
	"net/netip"
	"sync/atomic"

	"github.com/chunkwire/chunkwire/netsim"
)

// The two ends. The server pushes the block, the client fetches it.
var (
	serverAddr = net.UDPAddrFromAddrPort(netip.MustParseAddrPort("192.0.2.1:9000"))
	clientAddr = net.UDPAddrFromAddrPort(netip.MustParseAddrPort("192.0.2.2:9000"))
)

// wire is one end of a simulated path with the address of a UDP socket, on which
// some of the peers insist. It has one peer, to which all datagrams go.
type wire struct {
	*netsim.Conn
	addr, peer *net.UDPAddr
	to         netsim.Addr
	sent, come *atomic.Int64 // bytes with headers, of both ends of the path and of this one
}

func (w wire) LocalAddr() net.Addr { return w.addr }

func (w wire) WriteTo(b []byte, _ net.Addr) (int, error) {
	n, err := w.Conn.WriteTo(b, w.to)
	if err == nil {
		w.sent.Add(int64(n) + overhead)
	}
	return n, err
}

func (w wire) ReadFrom(b []byte) (int, net.Addr, error) {
	n, _, err := w.Conn.ReadFrom(b)
	if err != nil {
		return n, nil, err
	}
	w.come.Add(int64(n) + overhead)
	return n, w.peer, nil
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

// path is the simulated network between two ends.
type path struct {
	net            *netsim.Network
	down, up       [2]netsim.Addr // the routes to the client, and to the server
	server, client net.PacketConn

	sent               atomic.Int64 // bytes that its two ends have sent, with headers
	toServer, toClient atomic.Int64 // bytes that came to them
}

func newPath(c Cell, seed uint64) *path { return newPaths(c, seed, 1)[0] }

// newPaths makes paths that share one bottleneck each way.
func newPaths(c Cell, seed uint64, n int) []*path {
	first := open(netsim.NewNetwork(seed), 0)
	first.set(c)
	paths := []*path{first}
	for len(paths) < n {
		paths = append(paths, first.beside(len(paths)))
	}
	return paths
}

// beside makes another path, the nth, on the links of this one.
func (p *path) beside(n int) *path {
	other := open(p.net, n)
	p.net.Share(other.down[0], other.down[1], p.down[0], p.down[1])
	p.net.Share(other.up[0], other.up[1], p.up[0], p.up[1])
	return other
}

func open(network *netsim.Network, n int) *path {
	p := &path{net: network}
	server, client := nth(serverAddr, n), nth(clientAddr, n)
	p.down, p.up = [2]netsim.Addr{server, client}, [2]netsim.Addr{client, server}
	p.server = wire{p.listen(server), serverAddr, clientAddr, client, &p.sent, &p.toServer}
	p.client = wire{p.listen(client), clientAddr, serverAddr, server, &p.sent, &p.toClient}
	return p
}

// nth names an end of a path of several.
func nth(addr *net.UDPAddr, i int) netsim.Addr {
	return netsim.Addr((&net.UDPAddr{IP: addr.IP, Port: addr.Port + i}).String())
}

func (p *path) listen(name netsim.Addr) *netsim.Conn {
	c, err := p.net.Listen(name)
	if err != nil {
		panic(err) // nobody else can have taken the name
	}
	return c
}

// set changes both directions, also of the paths that share them.
func (p *path) set(c Cell) {
	for _, err := range []error{p.net.SetPath(p.down[0], p.down[1], c.down()), p.net.SetPath(p.up[0], p.up[1], c.up())} {
		if err != nil {
			panic(err) // a cell is written, not read
		}
	}
}

// bytes returns what was sent both ways so far, headers of IP and UDP included, on
// all paths that share the links.
func (p *path) bytes() int64 {
	down, up := p.links()
	return down.SentBytes + up.SentBytes + overhead*(down.Sent+up.Sent)
}

// links returns the counts of both directions, of all paths that share them.
func (p *path) links() (down, up netsim.LinkStats) {
	return p.net.Stats(p.down[0], p.down[1]), p.net.Stats(p.up[0], p.up[1])
}

func (p *path) close() {
	_ = p.server.Close()
	_ = p.client.Close()
}
