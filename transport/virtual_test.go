package transport_test

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/transport"
)

const ms = time.Millisecond

var (
	short  = netsim.Path{Delay: 10 * ms}
	outage = netsim.Path{Loss: 100}
)

// world is a server "s" on a network in virtual time.
type world struct {
	t      *testing.T
	net    *netsim.Network
	server *transport.Server
}

// bubble runs a test in virtual time. It fails if a goroutine is left.
func bubble(t *testing.T, p netsim.Path, cfg transport.Config, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, net: netsim.NewNetwork(1)}
		w.net.SetDefault(p)
		s, err := transport.New(gatherer{w.listen("s")}, cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		w.server = s
		f(w)
	})
}

func (w *world) listen(addr netsim.Addr) net.PacketConn {
	w.t.Helper()
	pc, err := w.net.Listen(addr)
	if err != nil {
		w.t.Fatal(err)
	}
	return pc
}

// gatherer lets the server send as one on Linux does: its reader, too, and after pauses.
type gatherer struct{ net.PacketConn }

func (gatherer) Gathers() bool            { return true }
func (gatherer) HasRoom() bool            { return true }
func (g gatherer) Unwrap() net.PacketConn { return g.PacketConn }

// dial connects from an address, and closes at the end of the test.
func (w *world) dial(from netsim.Addr, cfg transport.Config) (*transport.Peer, error) {
	w.t.Helper()
	p, err := transport.Over(background, w.listen(from), netsim.Addr("s"), cfg)
	if err == nil {
		w.t.Cleanup(func() { p.Close(0, "") })
	}
	return p, err
}

// connect dials and accepts.
func (w *world) connect(from netsim.Addr, cfg transport.Config) (client, server *transport.Peer) {
	w.t.Helper()
	client, err := w.dial(from, cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	server, err = w.server.Accept(background)
	if err != nil {
		w.t.Fatal(err)
	}
	return client, server
}

// setPath changes the network between the server and an address.
func (w *world) setPath(addr netsim.Addr, p netsim.Path) {
	w.net.SetPath("s", addr, p)
	w.net.SetPath(addr, "s", p)
}

// within bounds a call by virtual time.
func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(background, d)
	t.Cleanup(cancel)
	return ctx
}

func wantTook(t *testing.T, what string, start time.Time, least, most time.Duration) {
	t.Helper()
	if took := time.Since(start); took < least || took > most {
		t.Errorf("%s took %v, want %v to %v", what, took, least, most)
	}
}
