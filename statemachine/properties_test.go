package statemachine_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/chunks"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
)

// The properties of section 11 over networks that lose, double, delay and reorder. The
// judges of conform/sim/chunk watch for SAFE-1 to SAFE-5, LIVE-1, LIVE-3, BND-2 and BND-3 and
// for what sections 6 to 9 require of what goes out; here are the worlds, and LIVE-2.

func drawProfile(t *rapid.T) base.Profile {
	return rapid.SampledFrom([]base.Profile{
		base.Burst(), base.Fixed(0), base.Fixed(1_000_000), base.Fixed(8_000_000), base.Article(4_000_000), base.Fixed(statemachine.MinRate),
		{Rate: 400_000, Cap: 9000, Burst: 5000, AckPays: true, Spacing: 700},
	}).Draw(t, "profile")
}

func drawSize(t *rapid.T) int {
	return rapid.OneOf(
		rapid.IntRange(1, 5000),
		rapid.IntRange(5000, 60_000),
		rapid.SampledFrom([]int{1, 1024, 1025, 40 * 1024}),
	).Draw(t, "size")
}

// world is a world in a drawn network. Its machines do not give up.
type world struct {
	*chunk.World
	config
	goodFrom core.Micros
}

func drawWorld(t *rapid.T, c config) *world {
	c.first = uint16(rapid.SampledFrom([]int{0, 1, 65534, 65535}).Draw(t, "first chunk"))
	w := &world{config: c, goodFrom: core.Micros(rapid.Int64Range(0, 8_000_000).Draw(t, "good from"))}
	w.World = newWorld(t, c)
	w.Down = chunktest.Network[packet](t, "slices", w.goodFrom)
	w.Up = chunktest.Network[packet](t, "acks", w.goodFrom)
	w.ReadTime = core.Micros(rapid.SampledFrom([]int64{0, 10_000, 3_000_000}).Draw(t, "reading takes"))
	return w
}

// run sends some chunks, until all are through and nothing is left to do, or a while
// after the network has become good: a minute, or what a slow rate takes. It reports
// whether all is delivered and reported as delivered.
func (w *world) run(t *rapid.T) bool {
	chunks := rapid.IntRange(1, 5).Draw(t, "chunks")
	limit := w.goodFrom + 60*second
	for i := range chunks {
		data := chunktest.Chunk(drawSize(t), uint32(i))
		if w.profile.Rate > 0 {
			limit += core.Micros(8 * 10 * int64(len(data)) * 1_000_000 / w.profile.Rate)
		}
		check.Same(t, "submit", w.Submit(data), nil)
		if !w.Run(limit, func() bool { return !w.Sending() }) || w.Sender.Err() != nil {
			return false
		}
	}
	w.Run(limit, func() bool { return false })
	return len(w.Delivered) == chunks
}

// Eventual delivery (LIVE-2): whatever the network did, when it becomes good every
// chunk is delivered and reported as delivered.
func TestEventualDelivery(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t, config{profile: drawProfile(t), giveUp: year, unjudged: true})
		check.That(t, w.run(t), "all is delivered a minute after the network became good (LIVE-2)")
	})
}

// In every world the judges of both ends find nothing wrong, and all is delivered
// (SAFE-1, SAFE-2, SAFE-3, SAFE-4, SAFE-5, LIVE-1, LIVE-3, BND-2, BND-3).
func TestJudgesInEveryWorld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t, config{profile: drawProfile(t), giveUp: year})
		check.That(t, w.run(t), "all is delivered a minute after the network became good (LIVE-2)")
	})
}

// In every world both ends do exactly what their oracles do (sections 7 to 9).
func TestOraclesInEveryWorld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t)
		w := drawWorld(t, config{profile: p, giveUp: year, unjudged: true})
		w.Sender = check.Must(chunks.NewCheckedSender(statemachine.SenderConfig{
			FirstChunkID: w.first, GiveUp: year, Scheduler: check.Must(base.New(p)),
		}, chunks.BaseOf(p).Oracle(), t.Fatalf))
		w.Receiver = check.Must(chunks.NewCheckedReceiver(statemachine.ReceiverConfig{FirstChunkID: w.first, GiveUp: year}, t.Fatalf))
		w.run(t)
	})
}

// No silent wait (LIVE-3): in a network that never gets good either end may give up.
// Then what was delivered until then is still right, and nobody waits without end.
func TestNobodyWaitsForever(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		giveUp := core.Micros(rapid.SampledFrom([]int64{300_000, 2_000_000, 10_000_000}).Draw(t, "give up"))
		w := drawWorld(t, config{profile: drawProfile(t), giveUp: giveUp})
		w.Down, w.Up = chunktest.Network[packet](t, "slices", year), chunktest.Network[packet](t, "acks", year)
		for i := range rapid.IntRange(1, 4).Draw(t, "chunks") {
			if _, err := w.Transfer(chunktest.Chunk(drawSize(t), uint32(i))); err != nil {
				break
			}
		}
		w.Finish()
		failed := w.Sender.Err() != nil || w.Receiver.Err() != nil
		check.That(t, failed || len(w.Delivered) == len(w.Submitted), "all is delivered, or there is an error (LIVE-3)")
	})
}

func drawFastProfile(t *rapid.T) base.Profile {
	return rapid.SampledFrom([]base.Profile{base.Burst(), base.Fixed(0), base.Fixed(1_000_000), base.Fixed(8_000_000), base.Article(4_000_000)}).Draw(t, "profile")
}

// No stall (LIVE-2): under any loss below 100 %, with outages of either direction, and
// then none at all, a chunk is through within what the timers allow: one wait of 3 s at
// most (TMR-2), and another after newly acked slices, which put the timer off by its
// margin (TMR-3); once it ran out waits are shorter (TMR-5).
func TestNoStallOnceNothingIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		down, up := chunktest.NewPattern(t, "slices", 20*ms), chunktest.NewPattern(t, "acks", 20*ms)
		down.DrawOutages(t)
		up.DrawOutages(t)
		w := newWorld(t, config{profile: drawFastProfile(t), giveUp: year, unjudged: true})
		w.Down, w.Up = chunktest.Fate[packet](down), chunktest.Fate[packet](up)
		goodFrom := core.Micros(rapid.SampledFrom([]int64{0, 400_000, 6_000_000, 25_000_000}).Draw(t, "good from"))
		w.At(goodFrom, func() { down.Over, up.Over = true, true })
		for i := range rapid.IntRange(1, 4).Draw(t, "chunks") {
			check.Same(t, "submit", w.Submit(chunktest.Chunk(drawSize(t), uint32(i))), nil)
			limit := max(w.Now(), goodFrom) + 8*second
			check.That(t, w.Run(limit, func() bool { return !w.Sending() }), "8 s without a loss are enough (LIVE-2)")
		}
	})
}

// No stall (LIVE-2) without any good network either: it is enough that one slice and
// one ack of each round survive, whichever they are.
func TestNoStallUnderArbitraryLoss(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		down, up := chunktest.NewPattern(t, "slices", 20*ms), chunktest.NewPattern(t, "acks", 20*ms)
		w := newWorld(t, config{profile: drawFastProfile(t), giveUp: year, unjudged: true})
		w.Down, w.Up = chunktest.Fate[packet](down), chunktest.Fate[packet](up)
		check.Same(t, "submit", w.Submit(chunktest.Chunk(rapid.IntRange(1, 6*1024).Draw(t, "size"), 1)), nil)
		limit := 8 * int64(len(down.Survives)*len(up.Survives)*w.Sender.Vars().NumSlices)
		w.Run(year, func() bool { return !w.Sending() || w.Sender.Stats().SlicesSent > limit })
		check.That(t, !w.Sending(), "a bounded number of slices is enough (LIVE-2)")
	})
}
