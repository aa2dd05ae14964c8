package adaptive_test

import (
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/conform/measure"
	"github.com/chunkwire/chunkwire/conform/measure/measuretest"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/adaptive"
)

// limits are what the cases beyond the tables are to keep: in each the chunk is
// delivered in good time, and without a flood.
var limits = map[string]struct {
	p95ms  float64 // at most
	factor float64 // bytes over the size, at most
}{
	"RTT 0.2 ms, 1 Gbit/s":             {5, 1.10},
	"RTT 200 ms, no limit":             {760, 1.10},
	"RTT 200 ms, S1, 5 %":              {1190, 1.25},
	"RTT 400 ms, no limit":             {1570, 1.13},
	"RTT 400 ms, S1, 5 %":              {2060, 1.25},
	"RTT 400 ms, 3 slices":             {210, 4.5},
	"S1, 50 %":                         {85700, 3.00},
	"S2, 50 %":                         {86200, 3.00},
	"S3, 50 %":                         {243000, 3.00},
	"1 Mbit/s, queue 1 MiB":            {2300, 1.15},
	"S2, queue 16 KiB":                 {400, 1.9},
	"S2, rate drops tenfold at 100 ms": {2060, 1.15},
	"S2, rate drops tenfold at 60 ms":  {2200, 1.15},
	"S1, outage of 1 s":                {2340, 1.60},
	"S1, outage of 6 s":                {9360, 1.80},
	"S2, outage of 6 s":                {10000, 1.80},
	"S1, outage for the first 1 s":     {3570, 1.7},
	"10 slices, outage of 6 s":         {6400, 20},
	"S1, acks lose 50 %":               {1630, 1.12},
	"S1, 5 % late by 10 ms":            {210, 1.10},
	"S1, half late by 10 ms":           {280, 1.35},
	"S1, 10 % doubled":                 {200, 1.07},
	"S2, RTT jumps to 400 ms":          {5360, 1.4},
}

func TestHardPaths(t *testing.T) {
	for _, h := range measure.Hard {
		want, ok := limits[h.Name]
		got := h.Run(measuretest.Seeds(20), with(adaptive.Adaptive()))
		t.Logf("| %s | %.0f | %.0f | %.0f | %.2f |", h.Name, got.Median, got.P95, got.Max, got.Bytes)
		if !ok || got.Failed > 0 || got.P95 > want.p95ms || got.Bytes > want.factor {
			t.Errorf("%s: %d failed, 95th %.0f ms, bytes %.2f; want 0, %.0f, %.2f",
				h.Name, got.Failed, got.P95, got.Bytes, want.p95ms, want.factor)
		}
	}
}

// On 1 Mbit/s with a queue of 1 MiB whoever fills the queue delays all others,
// by up to 8 s. What each profile does to a small datagram every 10 ms:
func TestDelayImposedOnOthers(t *testing.T) {
	path := measure.PathOf(1e6, 50*time.Millisecond, 1<<20)
	for _, c := range []struct {
		profile adaptive.Profile
		before  int
		meanMS  float64 // at most
	}{
		{adaptive.Adaptive(), 0, 160}, {adaptive.Adaptive(), 1, 100},
		{adaptive.Redundant(), 1, 100}, {adaptive.Fixed(1e6), 0, 35}, {adaptive.Burst(), 0, 1200},
	} {
		mean := measure.Scenario{Down: path, Up: path, Before: c.before}.DelayOfOthers(with(c.profile))
		t.Logf("| %s | chunks before %d | %.0f ms |", c.profile.Name, c.before, mean)
		if mean > c.meanMS {
			t.Errorf("%s, chunks before %d: %.0f ms on average, want at most %.0f", c.profile.Name, c.before, mean, c.meanMS)
		}
	}
}

// drowsy is a scheduler whose driver looks only every 50 ms, as a game's loop may.
type drowsy struct {
	statemachine.Scheduler
	now core.Micros
}

const frame = 50 * ms

func (d *drowsy) Acked(now core.Micros, p statemachine.Progress) {
	d.now = now
	d.Scheduler.Acked(now, p)
}

func (d *drowsy) Next(now core.Micros) (int, bool) {
	d.now = now
	if now%frame > 0 {
		return 0, false
	}
	return d.Scheduler.Next(now)
}

func (d *drowsy) Deadline() core.Micros {
	at := d.Scheduler.Deadline()
	if at == core.Never {
		return at
	}
	return (max(at, d.now+1) + frame - 1) / frame * frame
}

// A driver that comes late is not taken for a slow path: chunk after chunk takes
// the same time, not a frame a slice, which would be 12.8 s (PAC-4).
func TestADriverThatCallsOnceAFrame(t *testing.T) {
	late := measure.Named(func() (*drowsy, error) {
		s, err := adaptive.New(adaptive.Adaptive())
		return &drowsy{Scheduler: s}, err
	})
	for name, most := range map[string]float64{"S1": 1750, "S2": 800, "S3": 4600, "S4": 900} {
		for before := range 6 {
			if took, _ := (measure.Cell{Network: name}).Scenario(before).Transfer(1, late); took < 0 || took > most {
				t.Errorf("%s, chunk %d: %.0f ms", name, before, took)
			}
		}
	}
}

// Two transfers over one link of S2 both end soon: alone each takes 243 ms.
func TestTwoTransfersShareALink(t *testing.T) {
	for _, loss := range []int{0, 5} {
		a := measure.Cell{Network: "S2", Loss: loss}.Scenario(0).Ends(1, with(adaptive.Adaptive()))
		b := with(adaptive.Adaptive())(a.Links())
		for _, e := range []measure.Ends{a, b} {
			if err := e.Submit(measure.FullChunk); err != nil {
				t.Fatal(err)
			}
		}
		if !measure.Together(measure.Limit, func() bool { return !a.Sending() && !b.Sending() }, a, b) {
			t.Fatal("stalled")
		}
		took, factor := max(a.Now(), b.Now()), float64(measure.OnTheWire(a))/float64(2*len(measure.FullChunk))
		t.Logf("| loss %d %% | %d and %d ms | bytes %.2f |", loss, a.Now()/ms, b.Now()/ms, factor)
		if took > 650*ms || factor > 1.3 {
			t.Errorf("loss %d %%: the later took %d ms, bytes %.2f", loss, took/ms, factor)
		}
	}
}
