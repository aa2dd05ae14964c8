package netsim_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/netsim"
)

// outage loses everything.
var outage = netsim.Path{Loss: 100}

func TestArrivalTimes(t *testing.T) {
	// 125 bytes at 1 Mbit/s are one millisecond on the wire.
	good := netsim.Path{Delay: 10 * ms, Rate: 1_000_000}
	type sent struct {
		now     time.Duration
		payload int
	}
	burst := []sent{{0, 125}, {0, 125}, {0, 125}}
	tests := []struct {
		name   string
		change func(*netsim.Path)
		sends  []sent
		want   []time.Duration
	}{
		{"burst waits in line", func(p *netsim.Path) {}, burst,
			[]time.Duration{11 * ms, 12 * ms, 13 * ms}},
		{"idle in between", func(p *netsim.Path) {}, []sent{{0, 125}, {5 * ms, 125}},
			[]time.Duration{11 * ms, 16 * ms}},
		{"free at that very instant", func(p *netsim.Path) {}, []sent{{0, 125}, {ms, 125}},
			[]time.Duration{11 * ms, 12 * ms}},
		{"no delay", func(p *netsim.Path) { p.Delay = 0 }, burst,
			[]time.Duration{1 * ms, 2 * ms, 3 * ms}},
		{"no rate", func(p *netsim.Path) { p.Rate = 0 }, burst,
			[]time.Duration{10 * ms, 10 * ms, 10 * ms}},
		{"perfect wire", func(p *netsim.Path) { *p = netsim.Path{} }, []sent{{3, 9}, {3, 9}, {7, 0}},
			[]time.Duration{3, 3, 7}},
		{"overhead counts", func(p *netsim.Path) { p.Overhead = 125 }, burst,
			[]time.Duration{12 * ms, 14 * ms, 16 * ms}},
		{"overhead of an empty datagram", func(p *netsim.Path) { p.Overhead = 125 }, []sent{{0, 0}},
			[]time.Duration{11 * ms}},
		{"all held back", func(p *netsim.Path) { p.Reorder, p.ReorderDelay = 100, 7*ms }, burst,
			[]time.Duration{18 * ms, 19 * ms, 20 * ms}},
		{"held back for the default", func(p *netsim.Path) { p.Reorder = 100 }, burst,
			[]time.Duration{12 * ms, 13 * ms, 14 * ms}},
		{"all twice", func(p *netsim.Path) { p.Duplicate = 100 }, burst,
			[]time.Duration{11 * ms, 11 * ms, 12 * ms, 12 * ms, 13 * ms, 13 * ms}},
		{"all lost", func(p *netsim.Path) { p.Loss = 100 }, burst, nil},
		{"a third of a nanosecond each", func(p *netsim.Path) { p.Delay, p.Rate = 0, 24_000_000_000 },
			[]sent{{0, 1}, {0, 1}, {0, 1}, {0, 1}}, []time.Duration{1, 1, 1, 2}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			link := newLink(with(good, test.change), 1)
			var got []time.Duration
			for _, s := range test.sends {
				got = append(got, times(link.Send(s.now, s.payload))...)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("arrivals %v, want %v", got, test.want)
			}
		})
	}
}

func TestBurstTakesExactlyItsTime(t *testing.T) {
	// 1052 bytes at 99,999,999 bit/s are no whole number of nanoseconds.
	link := newLink(netsim.Path{Rate: 99_999_999, Overhead: 28}, 1)
	var last time.Duration
	for range 256 {
		last = link.Send(0, 1024).At(0)
	}
	// 256*1052*8*1e9/99999999 = 21544960.2...
	if last != 21_544_961 {
		t.Errorf("256 datagrams take %d ns, want 21544961", last)
	}
}

func TestSameSeedSameResults(t *testing.T) {
	run := func(seed uint64) (all []time.Duration, stats netsim.LinkStats) {
		link := newLink(full, seed)
		for i := range 20_000 {
			all = append(all, times(link.Send(time.Duration(i)*60*time.Microsecond, i%1400))...)
		}
		return all, link.Stats()
	}
	first, stats := run(7)
	again, statsAgain := run(7)
	other, _ := run(8)
	if !slices.Equal(first, again) || stats != statsAgain {
		t.Error("the same seed gave two results")
	}
	if slices.Equal(first, other) {
		t.Error("two seeds gave the same result")
	}
}

func TestOnlyReorderingChangesTheOrder(t *testing.T) {
	p := full
	p.Reorder = 0
	link := newLink(p, 1)
	random := rand.New(rand.NewPCG(1, 2))
	var now, last time.Duration
	for i := range 20_000 {
		if i%100 == 0 {
			p.Delay = time.Duration(random.IntN(40)) * ms
			p.Rate = random.Int64N(100_000_000)
			link.SetPath(p)
		}
		for _, at := range times(link.Send(now, 1000)) {
			if at < last || at < now {
				t.Fatalf("datagram %d, sent at %v, arrives at %v, after one at %v", i, now, at, last)
			}
			last = at
		}
		now += time.Duration(random.IntN(200_000))
	}
}

func TestHeldBackDatagramIsOvertaken(t *testing.T) {
	p := netsim.Path{Delay: 10 * ms, Reorder: 100, ReorderDelay: 5 * ms}
	link := newLink(p, 1)
	first := link.Send(0, 100)
	p.Reorder = 0
	link.SetPath(p)
	second := link.Send(ms, 100)
	if first.At(0) != 15*ms || second.At(0) != 11*ms {
		t.Errorf("arrivals %v and %v, want 15ms and 11ms", first.At(0), second.At(0))
	}
	wantStats(t, link.Stats(), netsim.LinkStats{Sent: 2, SentBytes: 200, Delivered: 2, Reordered: 1})
}

func TestEarlierArrivalComesFirst(t *testing.T) {
	p := netsim.Path{Duplicate: 100, Reorder: 50, ReorderDelay: 5 * ms}
	link := newLink(p, 1)
	seen := make(map[[2]time.Duration]int)
	for range 1000 {
		a := link.Send(0, 1)
		seen[[2]time.Duration{a.At(0), a.At(1)}]++
	}
	// One of the two is held back twice as often as both or none.
	for pattern, least := range map[[2]time.Duration]int{{0, 0}: 200, {0, 5 * ms}: 400, {5 * ms, 5 * ms}: 200} {
		if seen[pattern] < least {
			t.Errorf("%d times %v, want at least %d", seen[pattern], pattern, least)
		}
	}
	if len(seen) != 3 {
		t.Errorf("seen %v, want three patterns", seen)
	}
}

func TestArrivalsOnATick(t *testing.T) {
	link := newLink(netsim.Path{Delay: 5 * ms, Reorder: 100, ReorderDelay: 20 * ms, Tick: 10 * ms}, 1)
	for _, test := range []struct{ now, at time.Duration }{
		{0, 30 * ms}, {4 * ms, 30 * ms}, {5 * ms, 30 * ms}, {5*ms + 1, 40 * ms}, {36 * ms, 70 * ms},
	} {
		if got := times(link.Send(test.now, 1)); !slices.Equal(got, []time.Duration{test.at}) {
			t.Errorf("sent at %v: arrives at %v, want %v", test.now, got, test.at)
		}
	}
}

// A tick only puts arrivals off, by less than itself.
func TestTickPutsArrivalsOff(t *testing.T) {
	p := full
	p.Tick = 0
	plain, ticking := newLink(p, 1), newLink(full, 1)
	for i := range 20_000 {
		now := time.Duration(i) * 200 * time.Microsecond
		a, b := times(plain.Send(now, 1000)), times(ticking.Send(now, 1000))
		if len(a) != len(b) {
			t.Fatalf("datagram %d: %d arrivals, %d with a tick", i, len(a), len(b))
		}
		for k := range a {
			if late := b[k] - a[k]; b[k]%full.Tick != 0 || late < 0 || late >= full.Tick {
				t.Fatalf("datagram %d: at %v, %v with a tick", i, a[k], b[k])
			}
		}
	}
}

func TestWaitIsThatOfTheNext(t *testing.T) {
	link := newLink(netsim.Path{Rate: 8000, Delay: 50 * ms}, 1) // a byte a millisecond
	random := rand.New(rand.NewPCG(1, 2))
	var now time.Duration
	waited := false
	for range 1000 {
		size := 1 + random.IntN(100)
		wait := link.Wait(now)
		if again := link.Wait(now); again != wait {
			t.Fatalf("at %v: waits %v, then %v", now, wait, again)
		}
		want := now + wait + time.Duration(size)*ms + 50*ms
		if got := link.Send(now, size).At(0); got != want {
			t.Fatalf("sent at %v: arrives at %v, want %v after waiting %v", now, got, want, wait)
		}
		waited = waited || wait > 0
		now += time.Duration(random.IntN(100)) * ms
	}
	if !waited {
		t.Error("nothing ever waited")
	}
	if wait := newLink(netsim.Path{Delay: ms}, 1).Wait(0); wait != 0 {
		t.Errorf("without a rate: waits %v", wait)
	}
}

func TestOutage(t *testing.T) {
	link := newLink(netsim.Path{Delay: 10 * ms}, 1)
	before := link.Send(0, 100)
	link.SetPath(outage)
	during := link.Send(5*ms, 100)
	link.SetPath(netsim.Path{Delay: 10 * ms})
	after := link.Send(20*ms, 100)

	if before.Len() != 1 || before.At(0) != 10*ms {
		t.Errorf("before the outage: %v", times(before))
	}
	if during.Len() != 0 {
		t.Errorf("during the outage: %v", times(during))
	}
	if after.Len() != 1 || after.At(0) != 30*ms {
		t.Errorf("after the outage: %v", times(after))
	}
	wantStats(t, link.Stats(), netsim.LinkStats{Sent: 3, SentBytes: 300, Delivered: 2, LostRandom: 1})
}

func TestSendRefusesNonsense(t *testing.T) {
	link := newLink(netsim.Path{}, 1)
	wantPanic(t, "time before zero", func() { link.Send(-1, 1) })
	link.Send(5, 16<<20)
	link.Send(5, 0)
	wantPanic(t, "time goes back", func() { link.Send(4, 1) })
	wantPanic(t, "payload below zero", func() { link.Send(5, -1) })
	wantPanic(t, "payload above 16 MiB", func() { link.Send(5, 16<<20+1) })
	wantPanic(t, "arrival that is not", func() { link.Send(5, 1).At(1) })
}

func TestSendDoesNotAllocate(t *testing.T) {
	p := full
	p.Duplicate = 50
	link := newLink(p, 1)
	var now time.Duration
	if n := testing.AllocsPerRun(10_000, func() {
		now += 80 * time.Microsecond
		link.Send(now, 1200)
	}); n != 0 {
		t.Errorf("Send allocates %v times", n)
	}
}

func BenchmarkLinkSend(b *testing.B) {
	for name, p := range map[string]netsim.Path{"perfect": {}, "full": full} {
		b.Run(name, func(b *testing.B) {
			link := newLink(p, 1)
			var now time.Duration
			b.ReportAllocs()
			for b.Loop() {
				now += 80 * time.Microsecond
				link.Send(now, 1200)
			}
		})
	}
}
