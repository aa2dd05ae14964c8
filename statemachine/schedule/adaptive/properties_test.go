package adaptive_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/measure"
	"github.com/chunkwire/chunkwire/conform/measure/measuretest"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/adaptive"
)

func drawProfile(t *rapid.T) adaptive.Profile {
	p := rapid.SampledFrom([]adaptive.Profile{
		adaptive.Adaptive(), adaptive.Burst(), adaptive.Redundant(), adaptive.Fixed(statemachine.MaxRate), adaptive.Fixed(160_000), adaptive.Fixed(10_000_000),
	}).Draw(t, "profile")
	if rapid.Bool().Draw(t, "limited") {
		p.MaxRate = rapid.SampledFrom([]int64{statemachine.MinRate, 400_000, 40_000_000}).Draw(t, "limit")
	}
	return p
}

// checked is a scheduler that is watched: it must meet SCH-1 to SCH-4 of
// PROTOCOL.md, whatever is done to it.
type checked struct {
	t *rapid.T
	statemachine.Scheduler
	rate     int64
	unacked  core.Set
	now      core.Micros
	last     core.Micros // the latest slice, news or START
	deadline core.Micros // promised at the last poll that returned none
	since    map[int]int // slices sent since this one was
	sent     int
	start    core.Micros
}

func watch(t *rapid.T, p adaptive.Profile) *checked {
	return &checked{t: t, Scheduler: check.Must(adaptive.New(p)), rate: p.MaxRate / 8}
}

func (c *checked) Begin(f statemachine.Flight) {
	c.Scheduler.Begin(f)
	c.unacked, c.since = core.FirstN(f.NumSlices), map[int]int{}
	c.last, c.now, c.deadline = f.Now, f.Now, 0
	c.start, c.sent = f.Now, 0
}

func (c *checked) Acked(now core.Micros, p statemachine.Progress) {
	c.Scheduler.Acked(now, p)
	c.unacked = c.unacked.Minus(p.News)
	c.last, c.now, c.deadline = now, now, 0
}

func (c *checked) Held(now core.Micros) {
	c.Scheduler.Held(now)
	c.now, c.deadline = now, 0
}

func (c *checked) Next(now core.Micros) (int, bool) {
	id, ok := c.Scheduler.Next(now)
	if !ok {
		if d := c.Scheduler.Deadline(); d <= now && !c.unacked.Empty() {
			c.t.Fatalf("SCH-3: at %d the deadline is %d", now, d)
		}
		c.deadline = c.Scheduler.Deadline()
		return 0, false
	}
	if !c.unacked.Has(id) {
		c.t.Fatalf("SCH-1: at %d slice %d, which is acked", now, id)
	}
	if now < c.deadline {
		c.t.Fatalf("SCH-3: a slice at %d, but the deadline was %d", now, c.deadline)
	}
	c.again(id)
	c.patient(now)
	c.limited(now)
	return id, true
}

// again: each slice is sent again after finitely many others.
func (c *checked) again(id int) {
	c.since[id] = 0
	for other := range c.unacked.All() {
		if c.since[other]++; c.since[other] > 20_000 {
			c.t.Fatalf("SCH-2: slice %d was not sent for 20,000 others", other)
		}
	}
}

// patient: the next slice goes out within 5 s, or what the rate asks for.
func (c *checked) patient(now core.Micros) {
	if now-c.last > 5*core.Second && c.rate == 0 {
		c.t.Fatalf("SCH-2: nothing from %d to %d", c.last, now)
	}
	c.last = now
}

// limited: never more than the rate, and what 20 ms make.
func (c *checked) limited(now core.Micros) {
	c.sent++
	if c.rate > 0 && int64(c.sent-1)*1066*1_000_000 > c.rate*int64(now-c.start+20*ms+1000)+1066*1_000_000 {
		c.t.Fatalf("SCH-4: %d slices in %d us at %d bytes a second", c.sent, now-c.start, c.rate)
	}
}

// Anything may be acked at any time, and the peer may hold. Whoever only waits
// for deadlines sees the scheduler keep its promises.
func TestASchedulerKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := watch(t, drawProfile(t))
		now := core.Micros(rapid.Int64Range(0, 1<<61).Draw(t, "start"))
		for range rapid.IntRange(1, 3).Draw(t, "chunks") {
			n := rapid.SampledFrom([]int{1, 2, 3, 20, 70, 256}).Draw(t, "slices")
			c.Begin(statemachine.Flight{Now: now, NumSlices: n, LastBytes: 1})
			now = c.live(now, n)
		}
	})
}

// live runs a chunk until all of it is acked, or for 200 events.
func (c *checked) live(now core.Micros, n int) core.Micros {
	var sent core.Set
	for range 200 {
		for id, ok := c.Next(now); ok; id, ok = c.Next(now) {
			sent.Add(id)
		}
		if c.unacked.Empty() {
			return now
		}
		next := c.Deadline()
		switch rapid.IntRange(0, 3).Draw(c.t, "event") {
		case 0: // news, before the deadline
			now += core.Micros(rapid.Int64Range(0, int64(min(next-now, 3*core.Second))).Draw(c.t, "after"))
			news := drawSet(c.t, n).Intersect(sent).Intersect(c.unacked)
			if !news.Empty() {
				c.Acked(now, statemachine.Progress{News: news})
			}
		case 1:
			if c.unacked == core.FirstN(n) && !sent.Empty() && rapid.Bool().Draw(c.t, "hold") {
				c.Held(now)
			}
			fallthrough
		default:
			now = max(now, next)
		}
	}
	return now
}

func drawSet(t *rapid.T, n int) (b core.Set) {
	for range rapid.IntRange(1, n).Draw(t, "acked") {
		b.Add(rapid.IntRange(0, n-1).Draw(t, "id"))
	}
	return b
}

// In any network all is delivered, as it was sent, and without a flood. Where half of all is lost on 1 Mbit/s, that
// takes minutes.
func TestEverythingIsDelivered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := measure.Scenario{Down: measuretest.DrawPath(t, "down"), Up: measuretest.DrawPath(t, "up"), Before: rapid.IntRange(0, 1).Draw(t, "before")}
		s.Size = rapid.SampledFrom([]int{1, 1024, 5000, 40_000, codec.MaxChunkSize}).Draw(t, "size")
		p := rapid.SampledFrom([]adaptive.Profile{adaptive.Adaptive(), adaptive.Redundant()}).Draw(t, "profile")
		took, bytes := s.Transfer(rapid.Uint64Range(0, 1000).Draw(t, "seed"), with(p))
		slices := float64((s.Size + 1023) / 1024)
		if took < 0 || bytes*float64(s.Size) > 1200*(30*slices+300) {
			t.Fatalf("took %.0f ms, %.2f times the bytes", took, bytes)
		}
	})
}
