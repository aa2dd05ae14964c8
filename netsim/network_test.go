package netsim_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/chunkwire/chunkwire/netsim"
)

func TestEveryPairHasItsOwnPath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := netsim.NewNetwork(1)
		n.SetDefault(netsim.Path{Delay: 10 * ms})
		n.SetPath("a", "b", netsim.Path{Delay: 3 * ms})
		a, b, c := listen(t, n, "a"), listen(t, n, "b"), listen(t, n, "c")
		start := time.Now()

		send(t, a, b.LocalAddr(), "to b")
		send(t, a, c.LocalAddr(), "to c")
		send(t, a, a.LocalAddr(), "to myself")
		want(t, b, a.LocalAddr(), "to b")
		wantClock(t, start, 3*ms)
		want(t, a, a.LocalAddr(), "to myself")
		want(t, c, a.LocalAddr(), "to c")
		wantClock(t, start, 10*ms)

		send(t, b, a.LocalAddr(), "back by the default")
		want(t, a, b.LocalAddr(), "back by the default")
		wantClock(t, start, 20*ms)

		wantStats(t, n.Stats("a", "b"), netsim.LinkStats{Sent: 1, SentBytes: 4, Delivered: 1})
		wantStats(t, n.Stats("b", "c"), netsim.LinkStats{})
	})
}

func TestSetPathChangesALiveLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := netsim.NewNetwork(1)
		a, b := listen(t, n, "a"), listen(t, n, "b")
		n.SetPath("a", "b", netsim.Path{Delay: 10 * ms})
		send(t, a, b.LocalAddr(), "before")
		n.SetPath("a", "b", outage)
		send(t, a, b.LocalAddr(), "during")
		n.SetPath("a", "b", netsim.Path{Delay: 10 * ms})
		send(t, a, b.LocalAddr(), "after")

		want(t, b, a.LocalAddr(), "before")
		want(t, b, a.LocalAddr(), "after")
		wantNothing(t, b)
		wantStats(t, n.Stats("a", "b"), netsim.LinkStats{Sent: 3, SentBytes: 17, Delivered: 2, LostRandom: 1})
	})
}

func TestSetDefaultLeavesLiveLinksAlone(t *testing.T) {
	n := netsim.NewNetwork(1)
	a, b := listen(t, n, "a"), listen(t, n, "b")
	send(t, a, b.LocalAddr(), "one")
	n.SetDefault(outage)
	send(t, a, b.LocalAddr(), "two")
	send(t, b, a.LocalAddr(), "lost")
	wantStats(t, n.Stats("a", "b"), netsim.LinkStats{Sent: 2, SentBytes: 6, Delivered: 2})
	wantStats(t, n.Stats("b", "a"), netsim.LinkStats{Sent: 1, SentBytes: 4, LostRandom: 1})
}

func TestAddressInUse(t *testing.T) {
	n := netsim.NewNetwork(1)
	first := listen(t, n, "a")
	if c, err := n.Listen("a"); err == nil || c != nil {
		t.Errorf("Listen on a used address = %v, %v", c, err)
	} else if got := err.Error(); got != "listen netsim a: address already in use" {
		t.Errorf("error is %q", got)
	}
	first.Close()
	again := listen(t, n, "a")
	first.Close() // must not take the address from the new one
	send(t, again, again.LocalAddr(), "still here")
	want(t, again, again.LocalAddr(), "still here")
}

// lossPattern sends 64 datagrams and returns which of them get through.
func lossPattern(t *testing.T, n *netsim.Network, from, to *netsim.Conn) (arrived uint64) {
	t.Helper()
	peer := to.LocalAddr().(netsim.Addr)
	self := from.LocalAddr().(netsim.Addr)
	for range 64 {
		before := n.Stats(self, peer).Delivered
		send(t, from, peer, "x")
		arrived = arrived<<1 | uint64(n.Stats(self, peer).Delivered-before)
	}
	return arrived
}

func TestLinksHaveTheirOwnChance(t *testing.T) {
	run := func(seed uint64, first bool) [4]uint64 {
		n := netsim.NewNetwork(seed)
		n.SetDefault(netsim.Path{Loss: 50})
		a, b, c := listen(t, n, "a"), listen(t, n, "b"), listen(t, n, "c")
		defer func() { a.Close(); b.Close(); c.Close() }()
		var got [4]uint64
		if first {
			got[3] = lossPattern(t, n, c, b)
		}
		got[0] = lossPattern(t, n, a, b)
		got[1] = lossPattern(t, n, b, a)
		got[2] = lossPattern(t, n, a, c)
		if !first {
			got[3] = lossPattern(t, n, c, b)
		}
		return got
	}
	got := run(1, false)
	if got != run(1, true) {
		t.Error("the order in which links are used changes their draws")
	}
	if got[0] == got[1] || got[0] == got[2] || got[0] == got[3] {
		t.Errorf("links share their draws: %x", got)
	}
	if got[0] == run(2, false)[0] {
		t.Error("the seed does not matter")
	}
}

func TestNobodyListens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := netsim.NewNetwork(1)
		n.SetDefault(netsim.Path{Delay: 10 * ms})
		a := listen(t, n, "a")
		send(t, a, netsim.Addr("b"), "too early")
		b := listen(t, n, "b")
		wantNothing(t, b)
		send(t, a, b.LocalAddr(), "too late")
		b.Close()
		again := listen(t, n, "b")
		wantNothing(t, again)
		wantStats(t, n.Stats("a", "b"), netsim.LinkStats{Sent: 2, SentBytes: 17, Delivered: 2})
	})
}

// wantClock checks that exactly so much virtual time has passed.
func wantClock(t *testing.T, start time.Time, want time.Duration) {
	t.Helper()
	if got := time.Since(start); got != want {
		t.Fatalf("it is %v, want %v", got, want)
	}
}

// Two routes on one link wait for each other, and a change of either is one of both.
func TestRoutesShareALink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := netsim.NewNetwork(1)
		a, b, c, d := listen(t, n, "a"), listen(t, n, "b"), listen(t, n, "c"), listen(t, n, "d")
		n.SetPath("a", "b", netsim.Path{Rate: 8000}) // a byte a millisecond
		n.Share("c", "d", "a", "b")
		start := time.Now()

		send(t, a, b.LocalAddr(), "first")
		if wait := n.Wait("c", "d"); wait != 5*ms {
			t.Errorf("the next one waits for %v", wait)
		}
		send(t, c, d.LocalAddr(), "second")
		want(t, b, a.LocalAddr(), "first")
		wantClock(t, start, 5*ms)
		want(t, d, c.LocalAddr(), "second")
		wantClock(t, start, 11*ms)

		n.SetPath("c", "d", outage)
		send(t, a, b.LocalAddr(), "lost")
		wantNothing(t, b)
		wantStats(t, n.Stats("a", "b"), n.Stats("c", "d"))
		wantStats(t, n.Stats("c", "d"), netsim.LinkStats{Sent: 3, SentBytes: 15, Delivered: 2, LostRandom: 1})
	})
}
