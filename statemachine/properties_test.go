package statemachine_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/internal/check"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/schedule/base"
	"github.com/chunkwire/chunkwire/sim/chunk"
	"github.com/chunkwire/chunkwire/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/statemachine"
)

// The properties of section 11 over networks that lose, double, delay and reorder. The
// judges of sim/chunk watch for SAFE-1 to SAFE-5, LIVE-1, LIVE-3, BND-2 and BND-3 and
// for what sections 6 to 9 require of what goes out; here are the worlds, and LIVE-2.

// network is one direction of a network, which gets good at a time.
type network struct {
	loss, doubled float64 // chances of a packet to be lost, or doubled
	delay         machine.Micros
	jitter        machine.Micros // added at random, so packets overtake each other
	goodFrom      machine.Micros
	random        *rand.Rand
}

func drawNetwork(t *rapid.T, name string, goodFrom machine.Micros) *network {
	return &network{
		loss:     rapid.SampledFrom([]float64{0, 0.01, 0.1, 0.5, 0.9}).Draw(t, name+" loss"),
		doubled:  rapid.SampledFrom([]float64{0, 0.1, 0.5}).Draw(t, name+" doubled"),
		delay:    machine.Micros(rapid.SampledFrom([]int64{0, 500, 25_000, 200_000}).Draw(t, name+" delay")),
		jitter:   machine.Micros(rapid.SampledFrom([]int64{0, 1000, 30_000, 2_000_000}).Draw(t, name+" jitter")),
		goodFrom: goodFrom,
		random:   rand.New(rand.NewPCG(rapid.Uint64().Draw(t, name+" seed"), 1)),
	}
}

func (n *network) fate(now machine.Micros, _ packet) (arrivals []machine.Micros) {
	if now >= n.goodFrom {
		return []machine.Micros{now + n.delay}
	}
	if n.random.Float64() < n.loss {
		return nil
	}
	copies := 1
	if n.random.Float64() < n.doubled {
		copies = 2
	}
	for range copies {
		at := now + n.delay
		if n.jitter > 0 {
			at += machine.Micros(n.random.Int64N(int64(n.jitter)))
		}
		arrivals = append(arrivals, at)
	}
	return arrivals
}

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
	goodFrom machine.Micros
}

func drawWorld(t *rapid.T, c config) *world {
	c.first = uint16(rapid.SampledFrom([]int{0, 1, 65534, 65535}).Draw(t, "first chunk"))
	w := &world{config: c, goodFrom: machine.Micros(rapid.Int64Range(0, 8_000_000).Draw(t, "good from"))}
	w.World = newWorld(t, c)
	w.Down = drawNetwork(t, "slices", w.goodFrom).fate
	w.Up = drawNetwork(t, "acks", w.goodFrom).fate
	w.ReadTime = machine.Micros(rapid.SampledFrom([]int64{0, 10_000, 3_000_000}).Draw(t, "reading takes"))
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
			limit += machine.Micros(8 * 10 * int64(len(data)) * 1_000_000 / w.profile.Rate)
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

// In every world both ends do exactly what their models do (sections 7 to 9).
func TestModelsInEveryWorld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t)
		w := drawWorld(t, config{profile: p, giveUp: year, unjudged: true})
		w.Sender = check.Must(chunk.NewCheckedSender(statemachine.SenderConfig{
			FirstChunkID: w.first, GiveUp: year, Scheduler: check.Must(base.New(p)),
		}, chunk.NewBaseModel(p), t.Fatalf))
		w.Receiver = check.Must(chunk.NewCheckedReceiver(statemachine.ReceiverConfig{FirstChunkID: w.first, GiveUp: year}, t.Fatalf))
		w.run(t)
	})
}

// No silent wait (LIVE-3): in a network that never gets good either end may give up.
// Then what was delivered until then is still right, and nobody waits without end.
func TestNobodyWaitsForever(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		giveUp := machine.Micros(rapid.SampledFrom([]int64{300_000, 2_000_000, 10_000_000}).Draw(t, "give up"))
		w := drawWorld(t, config{profile: drawProfile(t), giveUp: giveUp})
		w.Down, w.Up = drawNetwork(t, "slices", year).fate, drawNetwork(t, "acks", year).fate
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

// pattern loses packets by a list that it walks in a circle, and all of them during an
// outage.
type pattern struct {
	survives []bool
	next     int
	outages  [][2]machine.Micros
	over     bool
}

// drawPattern draws a loss of less than 100 %: any at all that lets one packet of a
// round survive.
func drawPattern(t *rapid.T, name string) *pattern {
	p := &pattern{survives: rapid.SliceOfN(rapid.Bool(), 1, 30).Draw(t, name+" that survive")}
	p.survives[rapid.IntRange(0, len(p.survives)-1).Draw(t, name+" survivor")] = true
	return p
}

func (p *pattern) fate(now machine.Micros, _ packet) []machine.Micros {
	during := func(o [2]machine.Micros) bool { return o[0] <= now && now < o[1] }
	p.next = (p.next + 1) % len(p.survives)
	if !p.over && (!p.survives[p.next] || slices.ContainsFunc(p.outages, during)) {
		return nil
	}
	return []machine.Micros{now + 20*ms}
}

func (p *pattern) drawOutages(t *rapid.T) {
	for range rapid.IntRange(0, 2).Draw(t, "outages") {
		from := machine.Micros(rapid.SampledFrom([]int64{0, 30_000, 300_000, 3_000_000}).Draw(t, "from"))
		length := machine.Micros(rapid.SampledFrom([]int64{20_000, 500_000, 4_000_000, 20_000_000}).Draw(t, "for"))
		p.outages = append(p.outages, [2]machine.Micros{from, from + length})
	}
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
		down, up := drawPattern(t, "slices"), drawPattern(t, "acks")
		down.drawOutages(t)
		up.drawOutages(t)
		w := newWorld(t, config{profile: drawFastProfile(t), giveUp: year, unjudged: true})
		w.Down, w.Up = down.fate, up.fate
		goodFrom := machine.Micros(rapid.SampledFrom([]int64{0, 400_000, 6_000_000, 25_000_000}).Draw(t, "good from"))
		w.At(goodFrom, func() { down.over, up.over = true, true })
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
		down, up := drawPattern(t, "slices"), drawPattern(t, "acks")
		w := newWorld(t, config{profile: drawFastProfile(t), giveUp: year, unjudged: true})
		w.Down, w.Up = down.fate, up.fate
		check.Same(t, "submit", w.Submit(chunktest.Chunk(rapid.IntRange(1, 6*1024).Draw(t, "size"), 1)), nil)
		limit := 8 * int64(len(down.survives)*len(up.survives)*w.Sender.Vars().NumSlices)
		w.Run(year, func() bool { return !w.Sending() || w.Sender.Stats().SlicesSent > limit })
		check.That(t, !w.Sending(), "a bounded number of slices is enough (LIVE-2)")
	})
}
