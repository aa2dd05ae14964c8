package netsim_test

import (
	"math"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/netsim"
)

// overload sends datagrams that take 1 ms each, of which a link can send four of five, and returns when those
// that were dropped, or marked, would have left the queue, and the wait of the last.
func overload(p netsim.Path, n int, ect bool) (chosen []time.Duration, link *netsim.Link, wait time.Duration) {
	p.Rate = 8_000_000
	link = newLink(p, 1)
	for i := range n {
		now := time.Duration(i) * 800 * time.Microsecond
		leaves := now + link.Wait(now)
		send := link.Send
		if ect {
			send = link.SendECT
		}
		if a := send(now, 1000); a.Len() == 0 || a.Marked() {
			chosen = append(chosen, leaves)
		}
		wait = link.Wait(now)
	}
	return chosen, link, wait
}

// CoDel drops the first one 100 ms after the wait has passed 5 ms, and the next ones after 100 ms over the root
// of how many were dropped (RFC 8289, 4.2 and 5.3).
func TestCoDelFollowsItsControlLaw(t *testing.T) {
	chosen, link, _ := overload(netsim.Path{AQM: netsim.UseCoDel}, 2000, false)
	if link.Stats().LostQueue != int64(len(chosen)) {
		t.Errorf("%d are dropped, %d are counted", len(chosen), link.Stats().LostQueue)
	}
	due := 125 * ms // the wait is 5 ms for what comes at 20 ms and leaves at 25 ms
	for i, at := range chosen {
		if at < due || at > due+ms {
			t.Fatalf("drop %d at %v, due at %v", i, at, due)
		}
		if i == 0 {
			due = at // it counts from there
		}
		due += time.Duration(100e6 / math.Sqrt(float64(i+1)))
	}
	if len(chosen) < 50 {
		t.Errorf("%d are dropped", len(chosen))
	}
}

// When the queue has been short, CoDel stops; soon afterwards it begins as fast as it ended.
func TestCoDelRemembers(t *testing.T) {
	var c netsim.CoDel
	drops := func(from, to time.Duration) (n int) {
		for now := from; now < to; now += ms {
			if c.Drops(now, true) {
				n++
			}
		}
		return n
	}
	slow := drops(ms, 400*ms)
	drops(400*ms, 1000*ms)
	if c.Drops(1000*ms, false) {
		t.Error("one that did not wait is dropped")
	}
	if soon := drops(1001*ms, 1400*ms); soon < 2*slow {
		t.Errorf("%d at first, %d soon afterwards", slow, soon)
	}
	c.Drops(1400*ms, false)
	if late := drops(4000*ms, 4399*ms); late != slow {
		t.Errorf("%d at first, %d long afterwards", slow, late)
	}
}

// PIE drops what is too much, here a fifth, and keeps the wait at its 15 ms (RFC 8033, 4.2).
func TestPIEFindsTheChance(t *testing.T) {
	long := netsim.Path{AQM: netsim.UsePIE}
	before, _, _ := overload(long, 25_000, false)
	all, _, wait := overload(long, 125_000, false)
	part := float64(len(all)-len(before)) / 100_000
	if part < 0.19 || part > 0.21 {
		t.Errorf("%.3f are dropped", part)
	}
	if wait < 5*ms || wait > 30*ms {
		t.Errorf("the wait is %v", wait)
	}
	if len(all) < 1000 {
		t.Errorf("%d are dropped", len(all))
	}
}

// PIE drops nothing of the first 150 ms, however long the queue is (RFC 8033, 4.4).
func TestPIEAllowsABurst(t *testing.T) {
	link := newLink(netsim.Path{Rate: 8_000_000, AQM: netsim.UsePIE}, 1)
	for range 1000 {
		link.Send(0, 1000)
	}
	for now := ms; link.Stats().LostQueue == 0; now += ms {
		if link.Send(now, 1000); now > 400*ms || now < 140*ms && link.Stats().LostQueue > 0 {
			t.Fatalf("at %v %d are dropped", now, link.Stats().LostQueue)
		}
	}
}

// With ECN what would be dropped is marked, if it allows that, and PIE drops it above a chance of a tenth
// (RFC 8033, 5.1).
func TestAQMMarks(t *testing.T) {
	dropped, _, _ := overload(netsim.Path{AQM: netsim.UseCoDel}, 400, false)
	marked, link, _ := overload(netsim.Path{AQM: netsim.UseCoDel, AQMMarks: true}, 400, true)
	if s := link.Stats(); s.LostQueue != 0 || s.Marked != int64(len(marked)) || marked[0] != dropped[0] {
		t.Errorf("CoDel: %+v, first at %v, %v", s, marked[0], dropped[0])
	}
	if _, link, _ := overload(netsim.Path{AQM: netsim.UseCoDel, AQMMarks: true}, 400, false); link.Stats().Marked != 0 {
		t.Error("CoDel marks what does not allow it")
	}
	_, link, _ = overload(netsim.Path{AQM: netsim.UsePIE, AQMMarks: true}, 25_000, true)
	if s := link.Stats(); s.Marked == 0 || s.LostQueue == 0 {
		t.Errorf("PIE: %+v", s)
	}
}

// An AQM does nothing where there is no queue, and PIE forgets while the link is idle.
func TestAQMOfAnIdleLink(t *testing.T) {
	for _, kind := range []netsim.AQM{netsim.UseCoDel, netsim.UsePIE} {
		_, link, _ := overload(netsim.Path{AQM: kind}, 5_000, false)
		lost := link.Stats().LostQueue
		for i := range time.Duration(1000) {
			link.Send(time.Hour+i*2*ms, 1000)
		}
		if lost == 0 || link.Stats().LostQueue != lost {
			t.Errorf("AQM %d drops %d, then %d", kind, lost, link.Stats().LostQueue-lost)
		}
	}
}

func TestTargets(t *testing.T) {
	for _, test := range []struct {
		aqm  netsim.AQM
		rate int64
		want time.Duration
	}{{netsim.NoAQM, 1e6, 0}, {netsim.UseCoDel, 0, 5 * ms}, {netsim.UseCoDel, 100e6, 5 * ms}, {netsim.UseCoDel, 1e6, 12112 * time.Microsecond}, {netsim.UsePIE, 1e6, 15 * ms}} {
		if got := test.aqm.Target(test.rate); got != test.want {
			t.Errorf("%d at %d bit/s: %v", test.aqm, test.rate, got)
		}
	}
	if _, err := netsim.NewLink(netsim.Path{AQM: 9}, 1); err == nil {
		t.Error("AQM 9 is taken")
	}
}
