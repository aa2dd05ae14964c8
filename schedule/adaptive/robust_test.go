package adaptive_test

import (
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/bitset"
	"github.com/chunkwire/chunkwire/internal/check"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/schedule/adaptive"
	"github.com/chunkwire/chunkwire/sim"
	"github.com/chunkwire/chunkwire/sim/chunk"
	"github.com/chunkwire/chunkwire/statemachine"
)

const millisecond = time.Millisecond

// Paths of the hard cases.

func pathOf(rate int64, rtt time.Duration, queue int) netsim.Path {
	return netsim.Path{Rate: rate, Delay: rtt / 2, Queue: queue, Overhead: 28}
}

// late is S1 where so many percent of the datagrams are 10 ms late.
func late(percent float64) netsim.Path {
	p := networks["S1"]
	p.Reorder, p.ReorderDelay = percent, 10*millisecond
	return p
}

func doubled(percent float64) netsim.Path {
	p := networks["S1"]
	p.Duplicate = percent
	return p
}

func slower(p netsim.Path, by int64) netsim.Path {
	p.Rate /= by
	return p
}

func both(p netsim.Path) scenario { return scenario{down: p, up: p} }

func (s scenario) warmed() scenario {
	s.warm = true
	return s
}

// outage is a transfer over p with nothing but loss from one time to another.
func outage(p netsim.Path, from, to time.Duration) scenario {
	s, gone := both(p), lossy(p, 100)
	s.changes = []change{{from, gone, gone}, {to, p, p}}
	return s
}

func smallInOutage() scenario {
	s := outage(networks["S2"], 0, 6*time.Second).warmed()
	s.size = 10_000
	return s
}

// jumping is S2 whose round trip becomes another in mid-transfer.
func jumping(rtt time.Duration) scenario {
	s := both(networks["S2"])
	longer := pathOf(10e6, rtt, 256<<10)
	s.changes = []change{{120 * millisecond, longer, longer}}
	return s
}

func dropping(p netsim.Path, at time.Duration) scenario {
	s := both(p)
	s.changes = []change{{at, slower(p, 10), p}}
	return s
}

// hard are the cases beyond the tables: in each the chunk is delivered in good
// time, and without a flood.
var hard = []struct {
	name   string
	path   scenario
	p95ms  float64 // at most
	factor float64 // bytes over the size, at most
}{
	{"RTT 0.2 ms, 1 Gbit/s", both(pathOf(1e9, millisecond/5, 1<<20)), 5, 1.10},
	{"RTT 200 ms, no limit", both(pathOf(0, 200*millisecond, 0)), 320, 1.06},
	{"RTT 200 ms, S1, 5 %", both(lossy(pathOf(100e6, 200*millisecond, 1<<20), 5)), 600, 1.25},
	{"RTT 400 ms, no limit", both(pathOf(0, 400*millisecond, 0)), 640, 1.10},
	{"RTT 400 ms, S1, 5 %", both(lossy(pathOf(100e6, 400*millisecond, 1<<20), 5)), 1200, 1.25},
	{"RTT 400 ms, 3 slices, cold", scenario{down: pathOf(100e6, 400*millisecond, 1<<20), up: pathOf(100e6, 400*millisecond, 1<<20), size: 3000}, 210, 4.5},
	{"S1, 50 %", both(lossy(networks["S1"], 50)), 500, 2.6},
	{"S2, 50 %", both(lossy(networks["S2"], 50)), 1000, 2.6},
	{"S3, 50 %", both(lossy(networks["S3"], 50)), 8500, 2.6},
	{"1 Mbit/s, queue 1 MiB", both(pathOf(1e6, 50*millisecond, 1<<20)), 2300, 1.15},
	{"S2, queue 16 KiB", both(pathOf(10e6, 50*millisecond, 16<<10)), 400, 1.9},
	{"S2, rate drops tenfold at 100 ms", dropping(networks["S2"], 100*millisecond), 1250, 1.15},
	{"S2, rate drops tenfold at 60 ms", dropping(networks["S2"], 60*millisecond), 1650, 1.15},
	{"S1, outage of 1 s", outage(networks["S1"], 60*millisecond, 1060*millisecond), 1300, 1.6},
	{"S1, outage of 6 s", outage(networks["S1"], 60*millisecond, 6060*millisecond), 6500, 1.8},
	{"S2, outage of 6 s", outage(networks["S2"], 100*millisecond, 6100*millisecond), 6600, 1.8},
	{"S1, outage for the first 1 s", outage(networks["S1"], 0, 1000*millisecond), 1650, 1.7},
	{"10 slices, outage of 6 s", smallInOutage(), 6400, 20},
	{"S1, acks lose 50 %", scenario{down: networks["S1"], up: lossy(networks["S1"], 50)}, 210, 1.12},
	{"S1, 5 % late by 10 ms", both(late(5)), 110, 1.10},
	{"S1, half late by 10 ms", both(late(50)), 125, 1.35},
	{"S1, 10 % doubled", both(doubled(10)), 95, 1.06},
	{"S2, RTT jumps to 400 ms", jumping(400 * millisecond), 600, 1.4},
}

func TestHardPaths(t *testing.T) {
	for _, h := range hard {
		got := h.path.run(seedsOr(20), adaptive.Adaptive())
		t.Logf("| %s | %.0f | %.0f | %.0f | %.2f |", h.name, got.median, got.p95, got.max, got.bytes)
		if got.failed > 0 || got.p95 > h.p95ms || got.bytes > h.factor {
			t.Errorf("%s: %d failed, 95th %.0f ms, bytes %.2f; want 0, %.0f, %.2f",
				h.name, got.failed, got.p95, got.bytes, h.p95ms, h.factor)
		}
	}
}

// On 1 Mbit/s with a queue of 1 MiB whoever fills the queue delays all others,
// by up to 8 s. What each profile does to a small datagram every 10 ms:
func TestDelayImposedOnOthers(t *testing.T) {
	path := pathOf(1e6, 50*millisecond, 1<<20)
	for _, c := range []struct {
		profile adaptive.Profile
		warm    bool
		meanMS  float64 // at most
	}{
		{adaptive.Adaptive(), false, 160}, {adaptive.Adaptive(), true, 100},
		{adaptive.Redundant(), true, 100}, {adaptive.Fixed(1e6), false, 35}, {adaptive.Burst(), false, 1200},
	} {
		mean := delayOfOthers(scenario{down: path, up: path, warm: c.warm}, c.profile)
		t.Logf("| %s | warm %v | %.0f ms |", c.profile.Name, c.warm, mean)
		if mean > c.meanMS {
			t.Errorf("%s, warm %v: %.0f ms on average, want at most %.0f", c.profile.Name, c.warm, mean, c.meanMS)
		}
	}
}

// delayOfOthers returns the mean time in the queue during a transfer, in ms.
func delayOfOthers(s scenario, p adaptive.Profile) float64 {
	c := s.newConversation(1, p)
	if s.warm {
		_, _ = c.Transfer(fullChunk, limit)
	}
	_ = c.Sender.Submit(c.Now(), fullChunk)
	c.Flush()
	var sum time.Duration
	n := 0
	var other func()
	other = func() {
		now := c.Now()
		sum += c.Down.Send(now.Duration(), 0).At(0) - now.Duration() - s.down.Delay
		n++
		c.At(now+10*ms, other)
	}
	other()
	c.Run(limit, func() bool {
		_, _ = c.Receiver.Read(c.Now(), nil) // if there is something
		return c.Sender.Vars().State != statemachine.SenderSending
	})
	return float64(sum.Microseconds()) / 1000 / float64(n)
}

// drowsy is a scheduler whose driver looks only every 50 ms, as a game's loop may.
type drowsy struct {
	statemachine.Scheduler
	now machine.Micros
}

const frame = 50 * ms

func (d *drowsy) Acked(now machine.Micros, news bitset.Set) {
	d.now = now
	d.Scheduler.Acked(now, news)
}

func (d *drowsy) Next(now machine.Micros) (int, bool) {
	d.now = now
	if now%frame > 0 {
		return 0, false
	}
	return d.Scheduler.Next(now)
}

func (d *drowsy) Deadline() machine.Micros {
	at := d.Scheduler.Deadline()
	if at == machine.Never {
		return at
	}
	return (max(at, d.now+1) + frame - 1) / frame * frame
}

// A driver that comes late is not taken for a slow path: chunk after chunk takes
// the same time, not a frame a slice, which would be 12.8 s (PAC-4, RAT-4).
func TestADriverThatCallsOnceAFrame(t *testing.T) {
	for name, most := range map[string]machine.Micros{"S1": 400 * ms, "S2": 800 * ms, "S3": 4000 * ms, "S4": 700 * ms} {
		late := &drowsy{Scheduler: check.Must(adaptive.New(adaptive.Adaptive()))}
		c := over(check.Must(netsim.NewLink(networks[name], 2)), check.Must(netsim.NewLink(networks[name], 3)), late)
		for range 6 {
			start := c.Now()
			if _, err := c.Transfer(fullChunk, limit); err != nil || c.Now()-start > most {
				t.Errorf("%s: %d ms, %v", name, (c.Now()-start)/ms, err)
			}
		}
	}
}

// Two transfers over one link of S2 both end soon: alone each takes 243 ms.
func TestTwoTransfersShareALink(t *testing.T) {
	for _, loss := range []int{0, 5} {
		path := lossy(networks["S2"], loss)
		a := both(path).newConversation(1, adaptive.Adaptive())
		b := over(a.Down, a.Up, check.Must(adaptive.New(adaptive.Adaptive())))
		for _, c := range []*chunk.Conversation{a, b} {
			if err := c.Sender.Submit(0, fullChunk); err != nil {
				t.Fatal(err)
			}
			c.Flush()
		}
		acked := func() bool {
			return a.Sender.Vars().State == statemachine.SenderIdle && b.Sender.Vars().State == statemachine.SenderIdle
		}
		if !sim.Together(limit, acked, a.World, b.World) {
			t.Fatal("stalled")
		}
		took, factor := max(a.Now(), b.Now()), float64(onTheWire(a))/float64(2*len(fullChunk))
		t.Logf("| loss %d %% | %d and %d ms | bytes %.2f |", loss, a.Now()/ms, b.Now()/ms, factor)
		if took > 650*ms || factor > 1.3 {
			t.Errorf("loss %d %%: the later took %d ms, bytes %.2f", loss, took/ms, factor)
		}
	}
}
