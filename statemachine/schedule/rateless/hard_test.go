package rateless_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/conform/measure"
	"github.com/chunkwire/chunkwire/conform/measure/measuretest"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/rateless"
)

// row returns figures as a part of a table.
func row(f measure.Figures) string {
	return fmt.Sprintf(" %.0f/%.0f/%.0f %.2f |", f.Median, f.P95, f.Max, f.Bytes)
}

// worse are the cases in which a transfer may take more time or bytes than named slices do
// by more than a tenth, and how much more: cold, then warm. REPAIR.md says why.
var worse = map[string]struct{ time, bytes float64 }{
	"RTT 400 ms, no limit":     {1.1, 1.12}, // two repair slices for each probe of the first 250 ms
	"RTT 400 ms, 3 slices":     {1.1, 1.65}, // the same
	"10 slices, outage of 6 s": {1.1, 1.1},  //
	"S1, acks lose 50 %":       {2.9, 1.1},  // a timer for all, not for each slice
	"S2, queue 16 KiB":         {1.1, 1.4},  // more goes out for what the queue dropped
	"S2, RTT jumps to 400 ms":  {1.1, 1.2},  // all of it is sent again
	"S2, 50 %":                 {9, 1.1},    // the rate is taken for the cause of what is lost, in either kind
	"S3, 50 %":                 {9, 1.1},    // the same
	"S1 20 %, 8 slices":        {1.1, 1.3},  // a repair slice that was not needed
	"S1, half late by 10 ms":   {1.1, 1.5},  // what is late counts as lost until it comes
	"S1  1 %, 1 slices":        {1.1, 1.15}, // a repair slice that was not needed, from here on
	"S1  5 %, 1 slices":        {1.1, 2.15}, //
	"S1 20 %, 1 slices":        {1.1, 2.2},  //
	"S1  0 %, 2 slices":        {1.1, 1.55}, //
	"S1  1 %, 2 slices":        {1.1, 1.55}, //
	"S1  5 %, 2 slices":        {1.1, 1.6},  //
	"S1 20 %, 2 slices":        {1.1, 2.1},  //
	"S1  0 %, 4 slices":        {1.1, 1.3},  //
	"S1  1 %, 4 slices":        {1.1, 1.35}, //
	"S1  5 %, 4 slices":        {1.1, 1.35}, //
	"S1 20 %, 4 slices":        {1.1, 1.25}, //
	"S1  0 %, 8 slices":        {1.1, 1.2},  //
	"S1  1 %, 8 slices":        {1.1, 1.2},  //
	"S1  5 %, 8 slices":        {1.1, 1.35}, //
	"S1  0 %, 32 slices":       {1.1, 1.2},  //
	"S1  1 %, 32 slices":       {1.1, 1.2},  //
	"S1  5 %, 32 slices":       {1.1, 1.2},  //
}

// TestHardPaths compares the cases beyond the tables with named slices: none is worse by
// more than a tenth, but for those of worse.
func TestHardPaths(t *testing.T) {
	seeds, rows := measuretest.Seeds(6), []string(nil)
	for _, h := range append(measure.Hard, measure.Small()...) {
		line := "| " + h.Name + " |"
		for before := range 2 {
			s := h.Scenario
			s.Before = max(s.Before, before)
			today, got := s.Run(seeds, named), s.Run(seeds, with(rateless.Default()))
			line += row(today) + row(got)
			most, ok := worse[h.Name]
			if !ok {
				most.time, most.bytes = 1.1, 1.1
			}
			if got.Failed > 0 || got.Median > today.Median*most.time || seeds >= 100 && got.P95 > today.P95*most.time || got.Bytes > today.Bytes*most.bytes {
				t.Errorf("%s: %v, and named slices %v", h.Name, got, today)
			}
		}
		rows = append(rows, line)
	}
	measuretest.Table(t, "hard", rows)
}

// A reader that takes a while for each chunk, or for each fourth: nothing takes much longer than
// with named slices (a tenth, and three in one case, where a cut is answered while the reader holds), and a slow reader costs no second flight (RPL-2). With 70 ms a chunk
// named slices take many times as long, and send fewer bytes.
func TestSlowReaders(t *testing.T) {
	var rows []string
	for _, c := range []measure.Cell{at("S1", 0), at("S1", 5), at("S2", 0), at("S2", 5)} {
		for _, r := range []struct {
			read, each core.Micros
		}{{0, 1}, {52, 1}, {70, 1}, {100, 1}, {200, 1}, {1000, 1}, {80, 4}, {400, 4}} {
			read := func(i int) core.Micros {
				if core.Micros(i)%r.each > 0 {
					return 0
				}
				return r.read * ms
			}
			today, bytesToday := c.Scenario(0).Stream(1, named, 20, read)
			took, bytes := c.Scenario(0).Stream(1, with(rateless.Default()), 20, read)
			rows = append(rows, fmt.Sprintf("| %s | %d ms for one in %d | %.0f ms %.2f | %.0f ms %.2f |", c, r.read, r.each, today, bytesToday, took, bytes))
			if took > today*1.3 || bytes > bytesToday*1.4 && today < 3*took || r.read >= 200 && r.each == 1 && bytes > 1.35 {
				t.Errorf("%s, %d ms for one in %d: %.0f ms %.2f, and named slices %.0f ms %.2f", c, r.read, r.each, took, bytes, today, bytesToday)
			}
		}
	}
	measuretest.Table(t, "readers", rows)
}

// drowsy is a scheduler whose driver looks only once a frame, as a game's loop may.
type drowsy struct {
	statemachine.Scheduler
	frame, now core.Micros
}

func (d *drowsy) Acked(now core.Micros, p statemachine.Progress) {
	d.now = now
	d.Scheduler.Acked(now, p)
}

func (d *drowsy) Next(now core.Micros) (number int, ok bool) {
	if d.now = now; now%d.frame != 0 {
		return 0, false
	}
	return d.Scheduler.Next(now)
}

func (d *drowsy) Deadline() core.Micros {
	at := d.Scheduler.Deadline()
	if at == core.Never {
		return at
	}
	return (max(at, d.now+1) + d.frame - 1) / d.frame * d.frame
}

// oncePer returns the scheme of a profile whose driver looks once a frame.
func oncePer(frame core.Micros, p rateless.Profile) measure.Scheme {
	return measure.Repaired(func() (*drowsy, error) {
		s, err := rateless.New(p)
		return &drowsy{Scheduler: s, frame: frame}, err
	})
}

// A driver that comes late is not taken for a slow path: chunk after chunk takes the same
// time (PAC-4). The first one takes longer: 16 slices, 48 and 144 go out in three round trips, each of which
// is a whole number of frames.
func TestADriverThatCallsOnceAFrame(t *testing.T) {
	for name, most := range map[string]float64{"S1": 1750, "S2": 750, "S3": 4600, "S4": 900} {
		for _, frame := range []core.Micros{16 * ms, 33 * ms, 50 * ms} {
			late := oncePer(frame, rateless.Default())
			for before := range 6 {
				if took, _ := at(name, 0).Scenario(before).Transfer(1, late); took < 0 || took > most {
					t.Errorf("%s, a frame of %d ms, chunk %d: %.0f ms", name, frame/ms, before, took)
				}
			}
		}
	}
}

// Two transfers over one link of S2 both end soon: alone each takes 243 ms.
func TestTwoTransfersShareALink(t *testing.T) {
	for _, loss := range []int{0, 5} {
		a := at("S2", loss).Scenario(0).Ends(1, with(rateless.Default()))
		b := with(rateless.Default())(a.Links())
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

// On 1 Mbit/s with a queue of 1 MiB whoever fills the queue delays all others, by up to
// 8 s. What each profile does to a small datagram every 10 ms:
func TestDelayImposedOnOthers(t *testing.T) {
	path := measure.PathOf(1e6, 50*time.Millisecond, 1<<20)
	for _, c := range []struct {
		profile rateless.Profile
		before  int
		meanMS  float64 // at most
	}{
		{rateless.Default(), 0, 160}, {rateless.Default(), 1, 100},
		{rateless.Redundant(), 1, 100}, {rateless.Fixed(1e6), 0, 35}, {rateless.Burst(), 0, 1400},
	} {
		mean := measure.Scenario{Down: path, Up: path, Before: c.before}.DelayOfOthers(with(c.profile))
		t.Logf("| %s | chunks before %d | %.0f ms |", c.profile.Name, c.before, mean)
		if mean > c.meanMS {
			t.Errorf("%s, chunks before %d: %.0f ms on average, want at most %.0f", c.profile.Name, c.before, mean, c.meanMS)
		}
	}
}
