package plain

import (
	"context"
	"net"

	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/internal/udp"
)

// Dial returns a connection with a peer over a connected socket of its own, which
// closes when the connection ends. The network is "udp", "udp4" or "udp6", the
// address as for net.Dial; ctx is for finding it. It fails with core.ErrConfig
// or with an error of the net package.
//
// Nothing is sent before the first chunk, so Dial does not find out whether the
// peer is there, and the peer does not find out about this end. A client that only
// waits for the chunks of a server must send a first chunk, and one byte is enough:
// without it the server's Accept does not return. If nobody listens at the peer's
// port and its system says so, the connection ends with ErrRefused.
func Dial(ctx context.Context, network, address string, cfg Config) (*Conn, error) {
	if err := udp.CheckNetwork(network); err != nil {
		return nil, err
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c, err := Over(conn, cfg)
	if err != nil {
		conn.Close()
	}
	return c, err
}

// Over returns a connection with the peer at the other end of conn, of which each
// Write must send a datagram and each Read must receive one: a connected UDP
// socket, a DTLS association, the datagrams of a QUIC connection. Both ends call
// Over, or one of them Dial, Accept or Endpoint.Dial if what lies between allows
// that. It takes conn over, and closes it when the connection ends; if Over fails
// it leaves conn open. It fails with core.ErrConfig, or with a
// net.UnknownNetworkError for a stream of bytes such as TCP.
//
// The connection ends with ErrSocket when Read fails permanently, with io.EOF for
// instance. Of a conn that wraps another the socket buffers are found as New says,
// by Unwrap or by NetConn.
func Over(conn net.Conn, cfg Config) (*Conn, error) {
	if addr := conn.LocalAddr(); addr != nil {
		switch addr.Network() {
		case "tcp", "tcp4", "tcp6", "unix":
			return nil, net.UnknownNetworkError(addr.Network())
		}
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	e := newEndpoint(udp.Connected(conn), cfg)
	c, err := e.dial(nil, true)
	if err != nil {
		return nil, err
	}
	e.driver.Start(conn, cfg.SocketBuffer)
	return c, nil
}

// Dial returns a connection with a peer over the endpoint's socket. Nothing is
// sent before the first chunk; the comment of the function Dial applies here.
// Dial fails with ErrExists if there is a connection with the peer, with
// ErrTooManyPeers, with a net.AddrError if there is no address or the socket
// cannot reach such a one, or with the error that ended the endpoint.
func (e *Endpoint) Dial(peer net.Addr) (*Conn, error) {
	if peer == nil {
		return nil, &net.AddrError{Err: "not the address of a peer", Addr: "<nil>"}
	}
	return e.dial(peer, false)
}

func (e *Endpoint) dial(addr net.Addr, sole bool) (*Conn, error) {
	peer, err := e.driver.Socket().Locate(addr)
	if err != nil {
		return nil, err
	}
	c, err := e.newConn(peer, connection.ClientSide)
	if err != nil {
		return nil, err
	}
	e.driver.Lock()
	defer e.driver.Unlock()
	if err := e.checkRoomLocked(peer); err != nil {
		return nil, err
	}
	if sole {
		e.sole = c
	}
	e.addLocked(c)
	return c, nil
}
