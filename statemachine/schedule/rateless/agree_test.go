package rateless_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/chunks"
	"github.com/chunkwire/chunkwire/conform/oracle/chunkoracle"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/rateless"
)

// The rule does what its oracle does (section 7 of REPAIR.md), whatever the host says (RPL-16, ECN-1, ROOM-3), in any network, until
// one of the chunks does not get through.
func TestTheOracleAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := chunks.RuleOf(rapid.SampledFrom([]rateless.Profile{
			rateless.Default(), rateless.Default(), rateless.Redundant(), rateless.Burst(), rateless.Fixed(8_000_000),
		}).Draw(t, "profile"))
		cfg := statemachine.SenderConfig{Kind: codec.Repair, Scheduler: check.Must(p.NewScheduler())}
		w := check.Must(chunk.NewWorld(cfg, statemachine.ReceiverConfig{Kind: codec.Repair}, 0))
		s := check.Must(chunks.NewCheckedSender(cfg, p.Oracle(), t.Fatalf))
		w.Sender, w.ReadTime = s, rapid.SampledFrom([]core.Micros{0, 300 * ms}).Draw(t, "reading takes")
		w.Down, w.Up = chunktest.Network[codec.Packet](t, "slices", core.Never), chunktest.Network[codec.Packet](t, "acks", core.Never)
		for i := range rapid.IntRange(1, 4).Draw(t, "chunks") {
			says := rapid.IntRange(0, 3).Draw(t, "the host says")
			w.At(w.Now()+rapid.SampledFrom([]core.Micros{0, 30 * ms, 400 * ms}).Draw(t, "when"), func() {
				switch says {
				case 0:
					s.Host(statemachine.Scheduler.Moved, chunkoracle.Scheduler.Moved)
				case 1:
					s.Host(func(r statemachine.Scheduler) { r.Marked(w.Now(), 2) }, func(r chunkoracle.Scheduler) { r.(chunkoracle.Rule).Marked(2) })
				case 2:
					s.Host(func(r statemachine.Scheduler) { r.Yield(true) }, func(r chunkoracle.Scheduler) { r.(chunkoracle.Rule).Yield(true) })
				}
			})
			if _, err := w.Transfer(chunktest.Chunk(rapid.IntRange(1, 60_000).Draw(t, "size"), uint32(i))); err != nil {
				return
			}
		}
	})
}
