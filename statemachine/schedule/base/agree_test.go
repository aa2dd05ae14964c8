package base_test

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
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
)

// The scheduler does what its oracle does (appendix G), also when the path moves (CXL-10), in any network, until one
// of the chunks does not get through.
func TestTheOracleAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := chunks.BaseOf(rapid.SampledFrom([]base.Profile{
			base.Burst(), base.Fixed(0), base.Article(4_000_000), {Rate: 400_000, Cap: 9000, Burst: 5000, AckPays: true, Spacing: 700},
		}).Draw(t, "profile"))
		cfg := statemachine.SenderConfig{Scheduler: check.Must(p.NewScheduler())}
		w := check.Must(chunk.NewWorld(cfg, statemachine.ReceiverConfig{}, 0))
		s := check.Must(chunks.NewCheckedSender(cfg, p.Oracle(), t.Fatalf))
		w.Sender, w.ReadTime = s, rapid.SampledFrom([]core.Micros{0, 300 * ms}).Draw(t, "reading takes")
		w.Down, w.Up = chunktest.Network[codec.Packet](t, "slices", core.Never), chunktest.Network[codec.Packet](t, "acks", core.Never)
		for i := range rapid.IntRange(1, 4).Draw(t, "chunks") {
			w.At(w.Now()+rapid.SampledFrom([]core.Micros{0, 30 * ms, 400 * ms}).Draw(t, "move"), func() {
				s.Host(statemachine.Scheduler.Moved, chunkoracle.Scheduler.Moved)
			})
			if _, err := w.Transfer(chunktest.Chunk(rapid.IntRange(1, 60_000).Draw(t, "size"), uint32(i))); err != nil {
				return
			}
		}
	})
}
