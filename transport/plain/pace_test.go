package plain

import (
	"net/netip"
	"testing"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/internal/udp"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
)

// Headers count, and those of IPv6 are longer (LAN-12).
func TestRateCountsHeaders(t *testing.T) {
	for addr, want := range map[string]core.Micros{"192.0.2.1:9": 1065 * 8, "[2001:db8::1]:9": 1085 * 8} {
		e := silentEndpoint(t, Config{MaxRate: 1_000_000, NewScheduler: func() (statemachine.Scheduler, error) { return base.New(base.Fixed(0)) }})
		c, err := e.newConn(udp.UDPPeer(netip.MustParseAddrPort(addr)), eventlog.Server)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.lanes.Submit(core.Second, make([]byte, 2048)); err != nil {
			t.Fatal(err)
		}
		if _, _, ok := c.lanes.PollSlice(core.Second); !ok {
			t.Fatal("no slice goes out")
		}
		c.spendLocked(core.Second, 1037)
		if got := c.lanes.SliceDeadline() - core.Second; got != want {
			t.Errorf("%s: the next slice after %d us, want %d", addr, got, want)
		}
	}
}
