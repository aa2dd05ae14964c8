package rateless_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/measure"
	"github.com/chunkwire/chunkwire/conform/measure/measuretest"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/rateless"
)

func drawProfile(t *rapid.T) rateless.Profile {
	p := rapid.SampledFrom([]rateless.Profile{
		rateless.Default(), rateless.Burst(), rateless.Redundant(), rateless.Fixed(statemachine.MaxRate), rateless.Fixed(160_000), rateless.Fixed(10_000_000),
	}).Draw(t, "profile")
	if rapid.Bool().Draw(t, "limited") {
		p.MaxRate = rapid.SampledFrom([]int64{statemachine.MinRate, 400_000, 40_000_000}).Draw(t, "limit")
	}
	return p
}

// checked is a scheduler that is watched: it must meet RPX-9 to RPX-11, whatever is done
// to it.
type checked struct {
	t *rapid.T
	statemachine.Scheduler
	rate            int64
	n               int
	sent, have, top int
	now             core.Micros
	last            core.Micros // the latest slice, news, hold or START
	deadline        core.Micros // promised at the last poll that returned none
	start           core.Micros
}

func watch(t *rapid.T, p rateless.Profile) *checked {
	return &checked{t: t, Scheduler: check.Must(rateless.New(p)), rate: p.MaxRate / 8}
}

func (c *checked) Begin(f statemachine.Flight) {
	c.Scheduler.Begin(f)
	c.n, c.sent, c.have, c.top = f.NumSlices, 0, 0, 0
	c.start, c.last, c.now, c.deadline = f.Now, f.Now, f.Now, 0
}

func (c *checked) Acked(now core.Micros, p statemachine.Progress) {
	c.Scheduler.Acked(now, p)
	c.have, c.top = p.Have, p.Top
	c.last, c.now, c.deadline = now, now, 0
}

func (c *checked) Held(now core.Micros) {
	c.Scheduler.Held(now)
	c.last, c.now, c.deadline = now, now, 0
}

func (c *checked) Next(now core.Micros) (number int, ok bool) {
	if number, ok = c.Scheduler.Next(now); !ok {
		if c.deadline = c.Scheduler.Deadline(); c.deadline <= now && c.have < c.n {
			c.t.Fatalf("RPX-10: at %d the deadline is %d", now, c.deadline)
		}
		return number, false
	}
	if now < c.deadline {
		c.t.Fatalf("RPX-10: a slice at %d, but the deadline was %d", now, c.deadline)
	}
	c.sent++
	c.patient(now)
	c.limited(now)
	return number, true
}

// patient: the next slice goes out within 5 s, or what the rate asks for.
func (c *checked) patient(now core.Micros) {
	if now-c.last > 5*core.Second && c.rate == 0 {
		c.t.Fatalf("RPX-9: nothing from %d to %d", c.last, now)
	}
	c.last = now
}

// limited: never more than the rate, and what 20 ms make.
func (c *checked) limited(now core.Micros) {
	if c.rate > 0 && int64(c.sent-1)*1066*1_000_000 > c.rate*int64(now-c.start+20*ms+1000)+1066*1_000_000 {
		c.t.Fatalf("RPX-11: %d slices in %d us at %d bytes a second", c.sent, now-c.start, c.rate)
	}
}

// Anything may be acked at any time, and the peer may hold. Whoever only waits
// for deadlines sees the scheduler keep its promises.
func TestASchedulerKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := watch(t, drawProfile(t))
		now := core.Micros(rapid.Int64Range(0, 1<<61).Draw(t, "start"))
		for range rapid.IntRange(1, 3).Draw(t, "chunks") {
			c.Begin(statemachine.Flight{Now: now, NumSlices: rapid.SampledFrom([]int{1, 2, 3, 20, 70, 256}).Draw(t, "slices")})
			now = c.live(now)
		}
	})
}

// live runs a chunk until all of it is acked, or for 200 events.
func (c *checked) live(now core.Micros) core.Micros {
	for range 200 {
		for sent, more := 0, true; sent < 2000 && more; sent++ {
			_, more = c.Next(now)
		}
		if c.have == c.n {
			return now
		}
		next := c.Deadline()
		switch rapid.IntRange(0, 3).Draw(c.t, "event") {
		case 0: // news, before the deadline
			now += core.Micros(rapid.Int64Range(0, int64(max(min(next-now, 3*core.Second), 0))).Draw(c.t, "after"))
			c.news(now)
		case 1:
			if c.have == 0 && c.top == 0 && rapid.Bool().Draw(c.t, "hold") {
				c.Held(now)
			}
			fallthrough
		default:
			now = max(now, next)
		}
	}
	return now
}

// news is an ack of what may have arrived.
func (c *checked) news(now core.Micros) {
	top := rapid.IntRange(c.top, c.sent).Draw(c.t, "top")
	have := rapid.IntRange(c.have, max(c.have, min(c.n, top))).Draw(c.t, "have")
	if have > c.have || top > c.top {
		c.Acked(now, statemachine.Progress{Have: have, Top: top})
	}
}

// In any network all is delivered, as it was sent, and without a flood. Where half of all is lost on 1 Mbit/s, that
// takes minutes.
func TestEverythingIsDelivered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := measure.Scenario{Down: measuretest.DrawPath(t, "down"), Up: measuretest.DrawPath(t, "up"), Before: rapid.IntRange(0, 1).Draw(t, "before")}
		s.Size = rapid.SampledFrom([]int{1, 1024, 5000, 40_000, codec.MaxChunkSize}).Draw(t, "size")
		p := rapid.SampledFrom([]rateless.Profile{rateless.Default(), rateless.Redundant()}).Draw(t, "profile")
		took, bytes := s.Transfer(rapid.Uint64Range(0, 1000).Draw(t, "seed"), with(p))
		slices := float64((s.Size + 1023) / 1024)
		if took < 0 || bytes*float64(s.Size) > 1200*(30*slices+300) {
			t.Fatalf("took %.0f ms, %.2f times the bytes", took, bytes)
		}
	})
}
