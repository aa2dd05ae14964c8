package attack

import (
	"bytes"
	"net"
	"sync"
	"testing"
)

// direction says which way a datagram goes through a relay.
type direction int

const (
	toServer direction = iota
	toClient
)

// relay is between one client and a server. It keeps what passes, and does what
// an observer, an attacker on the path or a NAT does: it drops, changes, repeats and
// invents datagrams in both directions, and gets itself another address. For the
// server its address is the client's.
type relay struct {
	t      testing.TB
	net    network
	server net.Addr
	inside *station // its socket for the client

	mu        sync.Mutex
	outside   *station // its socket for the server
	remembers bool     // what comes to an address that it had before goes to the client
	client    net.Addr
	seen      [2][][]byte
	passing   sync.Mutex                              // one call of pass at a time
	pass      func(d direction, datagram []byte) bool // whether a datagram goes on; nil: all do
}

func (n network) relay(t testing.TB, server net.Addr) *relay {
	t.Helper()
	r := &relay{t: t, net: n, server: server}
	r.mu.Lock() // until it is whole
	defer r.mu.Unlock()
	r.inside = n.station(t, "127.0.0.3:0", func(datagram []byte, from net.Addr) {
		r.mu.Lock()
		r.client = from
		r.mu.Unlock()
		r.carry(toServer, datagram)
	})
	r.outside = r.outlet()
	return r
}

// outlet returns a socket for the server. What comes there goes on to the client for as
// long as the relay uses it, or, if the relay remembers, always.
func (r *relay) outlet() *station {
	s := &station{PacketConn: r.net.bind(r.t, "127.0.0.4:0")}
	s.heard = func(datagram []byte, _ net.Addr) {
		r.mu.Lock()
		known := r.remembers || r.outside == s
		r.mu.Unlock()
		if known {
			r.carry(toClient, datagram)
		}
	}
	go s.read()
	return s
}

// addr returns where the client finds the server.
func (r *relay) addr() net.Addr { return r.inside.LocalAddr() }

// carry keeps a datagram and sends it on, unless it is dropped.
func (r *relay) carry(d direction, datagram []byte) {
	r.mu.Lock()
	r.seen[d] = append(r.seen[d], bytes.Clone(datagram))
	pass := r.pass
	r.mu.Unlock()
	if pass == nil || r.passes(pass, d, datagram) {
		r.send(d, datagram)
	}
}

// passes asks a filter, one datagram at a time.
func (r *relay) passes(pass func(d direction, datagram []byte) bool, d direction, datagram []byte) bool {
	r.passing.Lock()
	defer r.passing.Unlock()
	return pass(d, datagram)
}

// send sends a datagram as if it came from the other end.
func (r *relay) send(d direction, datagram []byte) {
	r.mu.Lock()
	outside, client := r.outside, r.client
	r.mu.Unlock()
	if d == toServer {
		outside.says(r.server, datagram)
	} else if client != nil {
		r.inside.says(client, datagram)
	}
}

// filter sets which datagrams go on. The filter before is not called any more when it returns.
func (r *relay) filter(pass func(d direction, datagram []byte) bool) {
	r.mu.Lock()
	r.pass = pass
	r.mu.Unlock()
	r.passing.Lock()
	defer r.passing.Unlock()
}

// recorded returns what came so far, in order, whether it went on or not.
func (r *relay) recorded(d direction) [][]byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([][]byte(nil), r.seen[d]...)
}

// rebind gives the client another address at the server, as a NAT does that has
// forgotten it; one that remembers the old address brings what comes there.
func (r *relay) rebind(remembers bool) {
	outside := r.outlet()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outside, r.remembers = outside, remembers
}
