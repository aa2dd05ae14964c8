package plain

import (
	"net/netip"
	"testing"

	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/internal/udp"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/schedule/base"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Headers count, and those of IPv6 are longer (LAN-12).
func TestRateCountsHeaders(t *testing.T) {
	for addr, want := range map[string]machine.Micros{"192.0.2.1:9": 1065 * 8, "[2001:db8::1]:9": 1085 * 8} {
		e := silentEndpoint(t, Config{MaxRate: 1_000_000, NewScheduler: func() (statemachine.Scheduler, error) { return base.New(base.Fixed(0)) }})
		c, err := e.newConn(udp.UDPPeer(netip.MustParseAddrPort(addr)), eventlog.Server)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.lanes.Submit(machine.Second, make([]byte, 2048)); err != nil {
			t.Fatal(err)
		}
		if _, _, ok := c.lanes.PollSlice(machine.Second); !ok {
			t.Fatal("no slice goes out")
		}
		c.spendLocked(machine.Second, 1037)
		if got := c.lanes.SliceDeadline() - machine.Second; got != want {
			t.Errorf("%s: the next slice after %d us, want %d", addr, got, want)
		}
	}
}
