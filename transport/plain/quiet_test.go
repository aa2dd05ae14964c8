package plain

import (
	"context"
	"net/netip"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/udp"
)

// beginnings are datagrams with which peers begin, and their addresses.
func beginningOf(t testing.TB, e *Endpoint, i int) ([]byte, udp.Addr) {
	t.Helper()
	datagram, err := e.ends.Format.AppendSlice(nil, 0, codec.Slice{NumSlices: 1, Data: []byte("x")})
	if err != nil {
		t.Fatal(err)
	}
	addr := netip.AddrFrom4([4]byte{192, 0, byte(i >> 8), byte(i)})
	return datagram, udp.AddrOf(netip.AddrPortFrom(addr, 9000))
}

// A newcomer that is refused costs as many steps however many connections are
// silent but busy, as after a broadcast to peers that were idle (BND-3).
func TestARefusedNewcomerCostsConstantSteps(t *testing.T) {
	for _, peers := range []int{1, 10, 100, 3000} {
		e := silentEndpoint(t, Config{MaxPeers: peers})
		for i := range peers {
			datagram, from := beginningOf(t, e, i)
			e.receive(e.driver.Now(), datagram, from)
			c, err := e.Accept(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Enqueue(context.Background(), []byte("a broadcast")); err != nil {
				t.Fatal(err)
			}
		}
		late := e.driver.Now() + 2*core.FromDuration(e.cfg.GiveUp)
		before := e.quiet.looks
		datagram, newcomer := beginningOf(t, e, peers)
		e.receive(late, datagram, newcomer)
		if st := e.Stats(); st.Full != 1 || st.Peers != peers {
			t.Fatalf("%d peers, %d too many: the test tests nothing", st.Peers, st.Full)
		}
		if steps := e.quiet.looks - before; steps > 2 {
			t.Errorf("with %d busy connections a refused newcomer takes %d steps", peers, steps)
		}
	}
}

// The quiet lists have the connections that they should, the longest silent
// first, whatever came and went.
func TestQuietConns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := &Endpoint{}
		var all []*Conn // the latest heard last
		pick := func(t *rapid.T) *Conn {
			if len(all) == 0 {
				t.Skip("no connections")
			}
			return rapid.SampledFrom(all).Draw(t, "c")
		}
		toBack := func(c *Conn) {
			i := slices.Index(all, c)
			all = append(slices.Delete(all, i, i+1), c)
		}
		t.Repeat(map[string]func(*rapid.T){
			"begin": func(*rapid.T) {
				c := &Conn{endpoint: e, begun: true}
				e.quiet.unvalidated++
				all = append(all, c)
			},
			"becomes quiet": func(t *rapid.T) {
				c := pick(t)
				if c.list == nil {
					toBack(c)
				}
				e.quiet.add(c)
			},
			"becomes busy": func(t *rapid.T) { e.quiet.remove(pick(t)) },
			"is heard": func(t *rapid.T) {
				c := pick(t)
				e.quiet.toBack(c)
				toBack(c)
			},
			"acks": func(t *rapid.T) {
				if c := pick(t); !c.validated {
					e.quiet.validate(c)
				}
			},
			"": func(t *rapid.T) {
				var want [2][]*Conn
				unvalidated := 0
				for _, c := range all {
					list := 1
					if !c.validated {
						list, unvalidated = 0, unvalidated+1
					}
					if c.list != nil {
						want[list] = append(want[list], c)
					}
				}
				for i, l := range e.quiet.lists {
					var got []*Conn
					for c := l.first; c != nil; c = c.after {
						got = append(got, c)
					}
					if !slices.Equal(got, want[i]) || len(got) > 0 && l.last != got[len(got)-1] {
						t.Fatalf("list %d has %d connections, want %d", i, len(got), len(want[i]))
					}
				}
				list := 1
				if unvalidated > 0 {
					list = 0
				}
				if got := e.quiet.longest(); len(want[list]) > 0 && got != want[list][0] || len(want[list]) == 0 && got != nil {
					t.Fatalf("the one to evict is %p", got)
				}
			},
		})
	})
}
