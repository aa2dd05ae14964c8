package transport

import (
	"context"
	"net"
)

// Dial returns a connection with a peer over a socket of its own, which closes
// when the connection ends. The network is "udp", "udp4" or "udp6", the address
// as for net.Dial; ctx is for finding it. It fails with ErrConfig or with an
// error of the net package.
//
// Nothing is sent before the first chunk, so Dial does not tell whether the peer
// is there, nor the peer that this end is. A client that only waits for what a
// server sends must send a first chunk, and one byte will do: without it the
// server's Accept does not return.
func Dial(ctx context.Context, network, address string, cfg Config) (*Conn, error) {
	if err := checkNetwork(network); err != nil {
		return nil, err
	}
	peer, err := resolve(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if peer.IP.To4() != nil {
		network = "udp4"
	} else {
		network = "udp6"
	}
	pc, err := net.ListenPacket(network, "")
	if err != nil {
		return nil, err
	}
	e, err := start(pc, cfg, cfg.Accept)
	if err != nil {
		pc.Close()
		return nil, err
	}
	c, err := e.dial(peer, true)
	if err != nil {
		e.Close()
	}
	return c, err
}

// resolve finds the address to which the system has a route, by connecting a
// socket to it, which sends nothing. The connection itself uses another socket:
// one that is connected cannot write to an address.
func resolve(ctx context.Context, network, address string) (*net.UDPAddr, error) {
	var dialer net.Dialer
	probe, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	defer probe.Close()
	return probe.RemoteAddr().(*net.UDPAddr), nil
}

// Dial returns a connection with a peer over the endpoint's socket. Nothing is
// sent before the first chunk; what the function Dial says about that holds here.
// Dial fails with ErrExists if there is a connection with the peer, with
// ErrTooManyPeers, with a net.AddrError if there is no address or the socket
// cannot reach such a one, or with the error that ended the endpoint.
func (e *Endpoint) Dial(peer net.Addr) (*Conn, error) {
	return e.dial(peer, false)
}

func (e *Endpoint) dial(peer net.Addr, sole bool) (*Conn, error) {
	if peer == nil {
		return nil, &net.AddrError{Err: "not the address of a peer", Addr: "<nil>"}
	}
	origin, err := e.socket.locate(peer)
	if err != nil {
		return nil, err
	}
	c := e.newConn(origin)
	c.sole = sole
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.room(origin); err != nil {
		return nil, err
	}
	e.adopt(c)
	return c, nil
}
