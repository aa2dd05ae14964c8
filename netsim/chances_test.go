package netsim_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/netsim"
)

const million = 1_000_000

func TestFrequencies(t *testing.T) {
	p := netsim.Path{Loss: 2, Duplicate: 1, Reorder: 3, ReorderDelay: ms, Corrupt: 4}
	link := newLink(p, 1)
	for range million {
		link.Send(0, 1)
	}
	s := link.Stats()
	// The bounds are about three standard deviations.
	near(t, "lost", s.LostRandom, 20_000, 420)
	near(t, "twice", s.Duplicated, 9_800, 300)
	near(t, "held back", s.Reordered, 29_694, 510)
	near(t, "corrupted", s.Corrupted, 39_200, 590)
	wantStats(t, s, netsim.LinkStats{Sent: million, SentBytes: million,
		Delivered:  million - s.LostRandom + s.Duplicated,
		LostRandom: s.LostRandom, Duplicated: s.Duplicated, Reordered: s.Reordered, Corrupted: s.Corrupted})
}

func TestBadState(t *testing.T) {
	bad := func(enter, leave, loss float64) netsim.BadState {
		return netsim.BadState{Enter: enter, Leave: leave, Loss: loss}
	}
	tests := []struct {
		good       float64
		bad        netsim.BadState
		lost, runs int64 // of a million, as the model says
		off        int64 // of both, about three standard deviations
	}{
		{good: 5, lost: 50_000, runs: 47_500, off: 650},
		{bad: bad(1, 25, 100), lost: 38_462, runs: 9_615, off: 1_600}, // Gilbert's first
		{good: 1, bad: bad(2, 18, 60), lost: 69_000, runs: 39_176, off: 2_200},
		{bad: bad(100, 100, 100), lost: 500_000, runs: 500_000}, // every second one
		{bad: bad(100, 0, 100), lost: million - 1, runs: 1},
		{bad: bad(50, 50, 0)},
		{good: 20, bad: bad(50, 50, 20), lost: 200_000, runs: 160_000, off: 1_200},
	}
	for _, test := range tests {
		link := newLink(netsim.Path{Loss: test.good, Bad: test.bad}, 1)
		lost, runs := countRuns(link, million)
		what := fmt.Sprintf("%v %% and %+v", test.good, test.bad)
		near(t, what+": lost", lost, test.lost, test.off)
		near(t, what+": runs", runs, test.runs, test.off)
	}
}

// countRuns sends datagrams, and returns how many are lost, and in how many runs.
func countRuns(link *netsim.Link, datagrams int) (lost, runs int64) {
	before := false
	for range datagrams {
		now := link.Send(0, 1).Len() == 0
		if now {
			lost++
		}
		if now && !before {
			runs++
		}
		before = now
	}
	return lost, runs
}

// A link without a bad state is in the good one at once, whatever it was in.
func TestBadStateEndsWithItsPath(t *testing.T) {
	link := newLink(netsim.Path{Bad: netsim.BadState{Enter: 100, Loss: 100}}, 1)
	link.Send(0, 1)
	if n := link.Send(0, 1).Len(); n != 0 {
		t.Fatalf("%d arrivals in the bad state", n)
	}
	link.SetPath(netsim.Path{Loss: 50})
	lost, _ := countRuns(link, 10_000)
	near(t, "lost", lost, 5_000, 150)
}

func TestOutagesAreCountedApart(t *testing.T) {
	with, without := newLink(netsim.Path{Loss: 30}, 1), newLink(netsim.Path{Loss: 30}, 1)
	for i := range 300 {
		out := i/100 == 1
		with.SetPath(netsim.Path{Loss: 30, Outage: out})
		got, want := with.Send(0, 1).Len(), without.Send(0, 1).Len()
		if out {
			want = 0
		}
		if got != want {
			t.Fatalf("datagram %d: %d arrivals, want %d", i, got, want)
		}
	}
	wantStats(t, with.Stats(), netsim.LinkStats{Sent: 300, SentBytes: 300, Delivered: with.Stats().Delivered,
		LostOutage: 100, LostRandom: with.Stats().LostRandom})
}

// Each bit of a datagram is flipped as often as any other, and one at a time.
func TestCorruptBitsAreUniform(t *testing.T) {
	const size = 3
	link := newLink(netsim.Path{Corrupt: 100, Duplicate: 50}, 1)
	var count [8 * size]int64
	for range 240_000 {
		bit, ok := link.Send(0, size).Flipped()
		if !ok {
			t.Fatal("a datagram without a fault")
		}
		count[bit]++
	}
	for bit, n := range count {
		near(t, fmt.Sprint("bit ", bit), n, 10_000, 300)
	}
	if bit, ok := link.Send(0, 0).Flipped(); ok {
		t.Errorf("bit %d of an empty datagram", bit)
	}
}

func TestLossesInRuns(t *testing.T) {
	tests := []struct {
		loss, run        float64
		lost, runs       int64 // of a million, as the two say
		offLost, offRuns int64 // about three standard deviations
	}{
		{loss: 5, run: 0, lost: 50_000, runs: 47_500, offLost: 650, offRuns: 620},
		{loss: 5, run: 1, lost: 50_000, runs: 47_500, offLost: 650, offRuns: 620},
		{loss: 5, run: 4, lost: 50_000, runs: 12_500, offLost: 1_750, offRuns: 330},
		{loss: 60, run: 3, lost: 600_000, runs: 200_000, offLost: 2_100, offRuns: 800},
		{loss: 90, run: 2, lost: 666_667, runs: 333_333, offLost: 1_000, offRuns: 600}, // no room for gaps
		{loss: 100, run: 2, lost: million, runs: 1},
		{loss: 0, run: 50},
	}
	for _, test := range tests {
		link := newLink(netsim.Path{Loss: test.loss, LossRun: test.run}, 1)
		_, runs := countRuns(link, million)
		what := fmt.Sprintf("%v %% in runs of %v", test.loss, test.run)
		near(t, what+": lost", link.Stats().LostRandom, test.lost, test.offLost)
		near(t, what+": runs", runs, test.runs, test.offRuns)
	}
}

func TestNeverAndAlways(t *testing.T) {
	never := newLink(netsim.Path{}, 1)
	always := newLink(netsim.Path{Duplicate: 100, Reorder: 100}, 1)
	for range 10_000 {
		never.Send(0, 1)
		always.Send(0, 1)
	}
	wantStats(t, never.Stats(), netsim.LinkStats{Sent: 10_000, SentBytes: 10_000, Delivered: 10_000})
	wantStats(t, always.Stats(), netsim.LinkStats{Sent: 10_000, SentBytes: 10_000, Delivered: 20_000,
		Duplicated: 10_000, Reordered: 20_000})
}

func TestJitterIsUniform(t *testing.T) {
	const jitter = 9 // nanoseconds: ten equal chances
	link := newLink(netsim.Path{Delay: 100, Jitter: jitter}, 1)
	var count [jitter + 1]int64
	for i := range time.Duration(100_000) {
		now := i * 1000 // far apart, so that none waits for another
		at := link.Send(now, 1).At(0) - now - 100
		if at < 0 || at > jitter {
			t.Fatalf("jitter of %d ns", at)
		}
		count[at]++
	}
	for at, n := range count {
		near(t, time.Duration(at).String(), n, 10_000, 285)
	}
}

// TestDrawsAreIndependent changes one probability and looks at the datagrams
// that the change does not concern: nothing may have happened to them.
func TestDrawsAreIndependent(t *testing.T) {
	type fate []time.Duration
	run := func(p netsim.Path) []fate {
		link := newLink(p, 3)
		var all []fate
		for i := range time.Duration(20_000) {
			all = append(all, times(link.Send(i*100*time.Microsecond, 1000)))
		}
		return all
	}
	base := netsim.Path{Delay: 10 * ms, Jitter: ms, Loss: 5, Duplicate: 5,
		Reorder: 5, ReorderDelay: 100 * ms, Rate: 100_000_000, Queue: 100_000}
	before := run(base)
	// late undoes the holding back.
	late := func(f fate, i int) fate {
		f = slices.Clone(f)
		for j := range f {
			if f[j] > time.Duration(i)*100*time.Microsecond+50*ms {
				f[j] -= 100 * ms
			}
		}
		return f
	}
	tests := []struct {
		name   string
		change func(*netsim.Path)
		same   func(a, b fate, i int) bool
	}{
		{"more loss hits the same and others", func(p *netsim.Path) { p.Loss = 10 },
			func(a, b fate, i int) bool { return len(b) == 0 || slices.Equal(a, b) }},
		{"no loss brings back the lost", func(p *netsim.Path) { p.Loss = 0 },
			func(a, b fate, i int) bool { return len(a) == 0 || slices.Equal(a, b) }},
		{"losses in runs hit others", func(p *netsim.Path) { p.LossRun = 4 },
			func(a, b fate, i int) bool { return len(a) == 0 || len(b) == 0 || slices.Equal(a, b) }},
		{"losses in a bad state hit others", func(p *netsim.Path) { p.Bad = netsim.BadState{Enter: 3, Leave: 30, Loss: 80} },
			func(a, b fate, i int) bool { return len(a) == 0 || len(b) == 0 || slices.Equal(a, b) }},
		{"an outage loses all", func(p *netsim.Path) { p.Outage = true },
			func(a, b fate, i int) bool { return len(b) == 0 }},
		{"no copies", func(p *netsim.Path) { p.Duplicate = 0 },
			func(a, b fate, i int) bool {
				return len(a) == 0 && len(b) == 0 || len(b) == 1 && slices.Contains(a, b[0])
			}},
		{"none held back", func(p *netsim.Path) { p.Reorder = 0 },
			func(a, b fate, i int) bool { return slices.Equal(late(a, i), b) }},
		{"more delay", func(p *netsim.Path) { p.Delay += 3 * ms },
			func(a, b fate, i int) bool {
				return slices.EqualFunc(a, b, func(x, y time.Duration) bool { return x+3*ms == y })
			}},
		{"no jitter", func(p *netsim.Path) { p.Jitter = 0 },
			func(a, b fate, i int) bool { return len(a) == len(b) }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			changed := false
			for i, b := range run(with(base, test.change)) {
				if !test.same(before[i], b, i) {
					t.Fatalf("datagram %d: %v, was %v", i, b, before[i])
				}
				changed = changed || !slices.Equal(before[i], b)
			}
			if !changed {
				t.Error("the change had no effect")
			}
		})
	}
}

// TestCorruptionIsApart adds faults, which change neither what arrives nor when, and changes chances,
// which change nothing of what is flipped.
func TestCorruptionIsApart(t *testing.T) {
	base := netsim.Path{Delay: 10 * ms, Jitter: ms, Loss: 5, Duplicate: 5, Corrupt: 20}
	one := newLink(base, 3)
	without := newLink(with(base, func(p *netsim.Path) { p.Corrupt = 0 }), 3)
	other := newLink(with(base, func(p *netsim.Path) { p.Loss, p.LossRun, p.Duplicate, p.Jitter = 10, 3, 0, 0 }), 3)
	flipped := 0
	for i := range 20_000 {
		now := time.Duration(i) * ms
		a, b, c := one.Send(now, 1000), without.Send(now, 1000), other.Send(now, 1000)
		if !slices.Equal(times(a), times(b)) {
			t.Fatalf("datagram %d: %v, and %v without corruption", i, times(a), times(b))
		}
		bitA, okA := a.Flipped()
		bitC, okC := c.Flipped()
		if a.Len() > 0 && c.Len() > 0 && (bitA != bitC || okA != okC) {
			t.Fatalf("datagram %d: bit %d %v, and %d %v with other chances", i, bitA, okA, bitC, okC)
		}
		if okA {
			flipped++
		}
	}
	near(t, "flipped", int64(flipped), 3_800, 160)
}

func TestQueueDropsUseTheirDraws(t *testing.T) {
	lossy := netsim.Path{Loss: 50}
	full := netsim.Path{Loss: 50, Rate: 8, Queue: 1}
	a, b := newLink(full, 1), newLink(lossy, 1)
	for range 100 { // a drops all but the first, b none
		a.Send(0, 1)
		b.Send(0, 1)
	}
	a.SetPath(lossy)
	for i := range 100 {
		if got, want := a.Send(time.Hour, 1).Len(), b.Send(time.Hour, 1).Len(); got != want {
			t.Fatalf("datagram %d after the drops: %d arrivals, want %d", i, got, want)
		}
	}
	if got := a.Stats().LostQueue; got != 99 {
		t.Errorf("LostQueue = %d, want 99", got)
	}
}

func near(t *testing.T, what string, got, want, off int64) {
	t.Helper()
	if got < want-off || got > want+off {
		t.Errorf("%s: %d, want %d +- %d", what, got, want, off)
	}
}
