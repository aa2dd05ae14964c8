package statemachine_test

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
	"github.com/chunkwire/chunkwire/statemachine/schedule/rateless"
)

// The properties of section 11, and of sections 8 and 9 of spec/REPAIR.md, over networks
// that lose, double, delay and reorder.

// rule is what sends slices of a kind: a scheduler and its oracle.
type rule struct {
	kind      codec.Kind
	rate      int64 // if a chunk waits for it
	scheduler statemachine.Scheduler
	oracle    chunkoracle.Scheduler
}

func ruleOfBase(p base.Profile) rule {
	return rule{codec.Named, p.Rate, check.Must(base.New(p)), chunks.BaseOf(p).Oracle()}
}

func ruleOfRateless(p rateless.Profile) rule {
	return rule{codec.Repair, 0, check.Must(rateless.New(p)), chunks.RuleOf(p).Oracle()}
}

// profiles are the tried profiles of the base scheduler, and fast the fast ones among them.
var (
	fast     = []base.Profile{base.Burst(), base.Fixed(0), base.Fixed(1_000_000), base.Fixed(8_000_000), base.Article(4_000_000)}
	profiles = append([]base.Profile{base.Fixed(statemachine.MinRate), {Rate: 400_000, Cap: 9000, Burst: 5000, AckPays: true, Spacing: 700}}, fast...)
)

func drawRateless(t *rapid.T) rule {
	return ruleOfRateless(rapid.SampledFrom([]rateless.Profile{
		rateless.Default(), rateless.Default(), rateless.Redundant(), rateless.Burst(), rateless.Fixed(1_000_000), rateless.Fixed(8_000_000),
	}).Draw(t, "profile"))
}

// withEachKind checks a property with rules of either kind.
func withEachKind(t *testing.T, named []base.Profile, property func(*rapid.T, rule)) {
	t.Run("named", rapid.MakeCheck(func(t *rapid.T) {
		property(t, ruleOfBase(rapid.SampledFrom(named).Draw(t, "profile")))
	}))
	t.Run("repair", rapid.MakeCheck(func(t *rapid.T) { property(t, drawRateless(t)) }))
}

func drawSize(t *rapid.T) int {
	return rapid.OneOf(
		rapid.IntRange(1, 5000),
		rapid.IntRange(5000, 60_000),
		rapid.SampledFrom([]int{1, 1024, 1025, 40 * 1024}),
	).Draw(t, "size")
}

// world is a world in a drawn network.
type world struct {
	*chunk.World
	rule
	sender   statemachine.SenderConfig
	receiver statemachine.ReceiverConfig
	goodFrom core.Micros
}

func drawGoodFrom(t *rapid.T) core.Micros {
	return core.Micros(rapid.Int64Range(0, 8_000_000).Draw(t, "good from"))
}

func drawWorld(t *rapid.T, r rule, giveUp, goodFrom core.Micros) *world {
	first := uint16(rapid.SampledFrom([]int{0, 1, 65534, 65535}).Draw(t, "first chunk"))
	w := &world{
		rule: r, goodFrom: goodFrom,
		sender:   statemachine.SenderConfig{Kind: r.kind, FirstChunkID: first, GiveUp: giveUp, Scheduler: r.scheduler},
		receiver: statemachine.ReceiverConfig{Kind: r.kind, FirstChunkID: first, GiveUp: giveUp},
	}
	w.World = check.Must(chunk.NewWorld(w.sender, w.receiver, 0))
	w.Down = chunktest.Network[packet](t, "slices", goodFrom)
	w.Up = chunktest.Network[packet](t, "acks", goodFrom)
	w.ReadTime = core.Micros(rapid.SampledFrom([]int64{0, 10_000, 3_000_000}).Draw(t, "reading takes"))
	return w
}

// compare puts both machines beside their oracles.
func (w *world) compare(t *rapid.T) {
	w.Sender = check.Must(chunks.NewCheckedSender(w.sender, w.oracle, t.Fatalf))
	w.Receiver = check.Must(chunks.NewCheckedReceiver(w.receiver, t.Fatalf))
}

// delivers sends some chunks, until all are through and nothing is left to do, or a while
// after the network has become good: a minute, or what a slow rate takes. All must be
// delivered then, and reported as delivered.
func (w *world) delivers(t *rapid.T) {
	limit := w.goodFrom + 60*second
	for i := range rapid.IntRange(1, 5).Draw(t, "chunks") {
		data := chunktest.Chunk(drawSize(t), uint32(i))
		if w.rate > 0 {
			limit += core.Micros(8 * 10 * int64(len(data)) * 1_000_000 / w.rate)
		}
		check.Same(t, "submit", w.Submit(data), nil)
		through := w.Run(limit, func() bool { return !w.Sending() }) && w.Sender.Err() == nil
		check.That(t, through, "all is reported a minute after the network became good (LIVE-2)")
	}
	w.Run(limit, func() bool { return false })
	check.That(t, w.Intact(), "all submitted chunks are delivered as they were (SAFE-1, LIVE-2)")
}

// Eventual delivery (LIVE-2): whatever the network did, when it becomes good every
// chunk is delivered and reported as delivered.
func TestEventualDelivery(t *testing.T) {
	withEachKind(t, profiles, func(t *rapid.T, r rule) {
		drawWorld(t, r, year, drawGoodFrom(t)).delivers(t)
	})
}

// In every world both ends do exactly what their oracles do (sections 7 and 8, appendix G), and all is delivered
// (SAFE-1, SAFE-2, SAFE-3, SAFE-4, SAFE-5, LIVE-1, LIVE-3, BND-2, BND-3).
func TestOraclesInEveryWorld(t *testing.T) {
	withEachKind(t, profiles, func(t *rapid.T, r rule) {
		w := drawWorld(t, r, year, drawGoodFrom(t))
		w.compare(t)
		w.delivers(t)
	})
}

// No silent wait (LIVE-3): in a network that never gets good either end may give up.
// Then what was delivered until then is still right, and nobody waits without end. Both have
// one GIVE_UP (SND-17).
func TestNobodyWaitsForever(t *testing.T) {
	withEachKind(t, profiles, func(t *rapid.T, r rule) {
		giveUp := core.Micros(rapid.SampledFrom([]int64{300_000, 2_000_000, 10_000_000}).Draw(t, "give up"))
		w := drawWorld(t, r, giveUp, year)
		w.compare(t)
		for i := range rapid.IntRange(1, 4).Draw(t, "chunks") {
			if _, err := w.Transfer(chunktest.Chunk(drawSize(t), uint32(i))); err != nil {
				break
			}
		}
		w.Finish()
		failed := w.Sender.Err() != nil || w.Receiver.Err() != nil
		check.That(t, failed || w.Intact(), "all is delivered, or there is an error (LIVE-3)")
	})
}

// No stall (LIVE-2): under any loss below 100 %, with outages of either direction, and
// then none at all, a chunk is through within what the timers allow: one wait of 3 s at
// most (TMR-2), and another after newly acked slices, which put the timer off by its
// margin (TMR-3); once it ran out waits are shorter (TMR-5).
func TestNoStallOnceNothingIsLost(t *testing.T) {
	withEachKind(t, fast, func(t *rapid.T, r rule) {
		down, up := chunktest.NewPattern(t, "slices", 20*ms), chunktest.NewPattern(t, "acks", 20*ms)
		down.DrawOutages(t)
		up.DrawOutages(t)
		w := drawWorld(t, r, year, 0)
		w.Down, w.Up, w.ReadTime = chunktest.Fate[packet](down), chunktest.Fate[packet](up), 0
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
// one ack of each round survive, whichever they are; of repair slices one more.
func TestNoStallUnderArbitraryLoss(t *testing.T) {
	withEachKind(t, fast, func(t *rapid.T, r rule) {
		down, up := chunktest.NewPattern(t, "slices", 20*ms), chunktest.NewPattern(t, "acks", 20*ms)
		w := drawWorld(t, r, year, 0)
		w.Down, w.Up = chunktest.Fate[packet](down), chunktest.Fate[packet](up)
		check.Same(t, "submit", w.Submit(chunktest.Chunk(rapid.IntRange(1, 6*1024).Draw(t, "size"), 1)), nil)
		limit := 8 * int64(len(down.Survives)*len(up.Survives)*(w.Sender.Vars().NumSlices+int(r.kind)))
		w.Run(year, func() bool { return !w.Sending() || w.Sender.Stats().SlicesSent > limit })
		check.That(t, !w.Sending(), "a bounded number of slices is enough (LIVE-2)")
	})
}
