package connectionsim

import (
	"fmt"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/measure"
	protocol "github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
)

// linked returns when the server accepts a client, which begins at 0; Never: it does not.
func linked(path netsim.Path, seed uint64) core.Micros {
	net := NewNetwork(1, check.Must(OverPath(path, seed)))
	at := core.Never
	net.Server.Accepted = func(now core.Micros, _ *protocol.ServerConn) { at = now }
	net.Server.Server = check.Must(protocol.NewServer(protocol.ServerConfig{Anonymous: true, Random: Random(byte(seed), byte(seed>>8), 1)}))
	net.Clients[0].Client = check.Must(protocol.NewClient(protocol.ClientConfig{Random: Random(byte(seed), byte(seed>>8), 2)}, 0))
	net.Run(12*core.Second, func() bool { return at != core.Never })
	return at
}

// A client is accepted after two and a half round trips, however long they are, up to that of
// a cookie that is just young enough (CXT-LIVE-1).
func TestLinkingAtAnyRoundTrip(t *testing.T) {
	for _, rtt := range []time.Duration{0, time.Millisecond, 40 * time.Millisecond, 250 * time.Millisecond, 300 * time.Millisecond, time.Second, 2 * time.Second, 3900 * time.Millisecond} {
		want := core.FromDuration(rtt * 5 / 2)
		check.Equal(t, fmt.Sprint("accepted at a round trip of ", rtt), linked(netsim.Path{Delay: rtt / 2}, 1), want)
	}
}

// How long it takes where datagrams are lost: go test ./conform/sim/connectionsim -run TestLinkingWithLoss -v -seeds 2000
func TestLinkingWithLoss(t *testing.T) {
	for _, c := range []struct {
		loss float64
		most core.Micros // at the 95th percentile
	}{{0, 251 * ms}, {1, 510 * ms}, {5, 760 * ms}, {20, 1500 * ms}, {50, 8000 * ms}} {
		var times []core.Micros
		never := 0
		for seed := range uint64(max(200, *seeds)) {
			if at := linked(netsim.Path{Delay: 50 * time.Millisecond, Loss: c.loss}, seed); at == core.Never {
				never++
			} else {
				times = append(times, at)
			}
		}
		q := measure.Quantiles(times).OrZero()
		t.Logf("round trip 100 ms, loss %2.0f %%: accepted after %s, 95th %s, most %s ms; never: %d of %d", c.loss, millis(q.Median), millis(q.P95), millis(q.Max), never, never+len(times))
		check.That(t, q.P95 <= c.most, fmt.Sprintf("at %v %% the 95th is %d us", c.loss, q.P95))
		check.That(t, never*10 <= len(times), fmt.Sprintf("at %v %% it fails %d times", c.loss, never))
	}
}
