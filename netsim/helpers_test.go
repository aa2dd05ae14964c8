package netsim_test

import (
	"errors"
	"net"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/netsim"
)

const ms = time.Millisecond

// with returns a copy of good with one thing changed.
func with(good netsim.Path, change func(*netsim.Path)) netsim.Path {
	change(&good)
	return good
}

// times lists the arrivals as a slice.
func times(a netsim.Arrivals) []time.Duration {
	var list []time.Duration
	for i := range a.Len() {
		list = append(list, a.At(i))
	}
	return list
}

// wantStats also checks that the counts add up.
func wantStats(t *testing.T, got, want netsim.LinkStats) {
	t.Helper()
	if got != want {
		t.Errorf("stats are\n%+v, want\n%+v", got, want)
	}
	if got.Delivered != got.Sent-got.LostPolicer-got.LostQueue-got.LostOutage-got.LostRandom+got.Duplicated {
		t.Errorf("stats do not add up: %+v", got)
	}
}

func wantPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s: no panic", what)
		}
	}()
	f()
}

func wantError(t *testing.T, what string, got, want error) {
	t.Helper()
	var op *net.OpError
	if !errors.Is(got, want) || !errors.As(got, &op) {
		t.Errorf("%s: error %v, want a net.OpError with %v", what, got, want)
	}
}

// listen opens an endpoint that is closed at the end of the test.
func listen(t *testing.T, n *netsim.Network, addr netsim.Addr) *netsim.Conn {
	t.Helper()
	c, err := n.Listen(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// newLink is netsim.NewLink for a path that is valid.
func newLink(p netsim.Path, seed uint64) *netsim.Link {
	l, err := netsim.NewLink(p, seed)
	if err != nil {
		panic(err)
	}
	return l
}

// pair opens two endpoints on a network of their own.
func pair(t *testing.T, there, back netsim.Path) (a, b *netsim.Conn) {
	n := netsim.NewNetwork(1)
	if err := errors.Join(n.SetPath("a", "b", there), n.SetPath("b", "a", back)); err != nil {
		t.Fatal(err)
	}
	return listen(t, n, "a"), listen(t, n, "b")
}

func send(t *testing.T, from net.PacketConn, to net.Addr, text string) {
	t.Helper()
	n, err := from.WriteTo([]byte(text), to)
	if n != len(text) || err != nil {
		t.Fatalf("WriteTo(%q) = %d, %v", text, n, err)
	}
}

// want reads the next datagram and checks the text and the sender.
func want(t *testing.T, c net.PacketConn, from net.Addr, text string) {
	t.Helper()
	buf := make([]byte, 2000)
	n, addr, err := c.ReadFrom(buf)
	if err != nil || string(buf[:n]) != text || addr != from {
		t.Fatalf("ReadFrom = %q from %v, %v; want %q from %v", buf[:n], addr, err, text, from)
	}
}

// wantNothing checks that no datagram arrives within a virtual minute.
func wantNothing(t *testing.T, c net.PacketConn) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(time.Minute))
	defer c.SetReadDeadline(time.Time{})
	buf := make([]byte, 2000)
	if n, addr, err := c.ReadFrom(buf); err == nil {
		t.Fatalf("ReadFrom = %q from %v, want nothing", buf[:n], addr)
	}
}
