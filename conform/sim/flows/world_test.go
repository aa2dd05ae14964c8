package flows_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/conform/sim/flows/tcp"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
)

// Three datagrams at once arrive one after the other, and the next ones when they were sent and
// a delay and their own time later.
func TestDatagramsArriveToTheMicrosecond(t *testing.T) {
	w := world(simple)
	b := &steady{}
	w.Add("burst", &steady{left: 3}, b)
	w.Run(12 * ms)
	check.Equal(t, "arrivals so far", b.got, []core.Micros{11 * ms, 12 * ms})
	called := core.Micros(0)
	w.At(20*ms, func() { called = w.Now() })
	w.Run(second)
	check.Equal(t, "arrivals", b.got, []core.Micros{11 * ms, 12 * ms, 13 * ms})
	check.Equal(t, "call", called, 20*ms)
	w.Add("another", &steady{left: 2, every: 5 * ms, next: 30 * ms}, b)
	w.Run(2 * second)
	check.Equal(t, "later arrivals", b.got[3:], []core.Micros{41 * ms, 46 * ms})
}

// What a sender at twice the rate does to a link is known exactly.
func TestFiguresOfTooMuch(t *testing.T) {
	path := simple
	path.Queue, path.MarkAbove = 20_000, 10_000
	w := world(path)
	b := &steady{}
	f := w.Add("twice", &steady{left: math.MaxInt, every: ms / 2}, b)
	w.Run(10 * second)
	got := w.Figures(flows.Down, second, 9*second, f)
	check.Equal(t, "counts", got.Total, flows.Counts{Sent: 16_000, Data: 16_000, LostQueue: 8000, Marked: 8000, News: 8000, NewsBytes: 8e6})
	check.Equal(t, "figures", []float64{got.Use, got.Jain, got.Resent, got.LostQueue}, []float64{1, 1, 0.5, 0.5})
	check.Equal(t, "waits", got.Wait, flows.Quantiles{Mean: 19.25, P95: 19.5}) // 19 where one is dropped
	check.That(t, b.marks > 9000 && b.marks < len(b.got), "marks arrive")
}

func TestSharesAndJain(t *testing.T) {
	w := world(simple)
	one := w.Add("one", &steady{left: math.MaxInt, every: 2 * ms}, &steady{})
	two := w.Add("two", &steady{left: math.MaxInt, every: 6 * ms, next: ms}, &steady{})
	w.Run(10 * second)
	f := w.Figures(flows.Down, 0, 6*second, one, two)
	check.Equal(t, "shares", f.Shares, []int64{2_995_000, 998_000}) // the last are on their way
	check.That(t, math.Abs(f.Jain-0.8) < 0.001, "Jain's index of 3 to 1 is 0.8")
	check.Equal(t, "waits", f.Wait, flows.Quantiles{})
	for _, test := range []struct {
		shares []int64
		want   float64
	}{{[]int64{5, 5, 5}, 1}, {[]int64{7, 0, 0, 0}, 0.25}, {[]int64{0, 0}, 1}, {nil, 1}} {
		check.Equal(t, fmt.Sprint(test.shares), flows.Jain(test.shares), test.want)
	}
}

// Use knows what the link carries when it changes: a sender that is always too fast has 1.
func TestUseFollowsThePath(t *testing.T) {
	path := simple
	path.Queue = 4000
	slow, policed, gone, lossy := path, path, path, path
	slow.Rate = 800e3
	policed.PoliceRate, policed.PoliceBurst = 4e6, 2000
	gone.Loss = 100
	lossy.Loss = 20
	w := worldOf(1, flows.Path{Down: path, Up: path, Changes: []flows.Change{
		{At: 10 * second, Down: slow}, {At: 20 * second, Down: policed}, {At: 30 * second, Down: gone}, {At: 40 * second, Down: lossy}, {At: 50 * second, Down: path},
	}})
	f := w.Add("flow", &steady{left: math.MaxInt, every: ms / 4}, &steady{})
	w.Run(60 * second)
	for from := core.Micros(0); from < 60*second; from += 10 * second {
		use := w.Use(flows.Down, from, from+10*second, f)
		if from == 30*second {
			check.Equal(t, "use in an outage", use, 0)
			continue
		}
		check.That(t, math.Abs(use-1) < 0.02, fmt.Sprintf("use %v from %d s on", use, from/second))
	}
	check.That(t, math.Abs(w.Use(flows.Down, 0, 60*second, f)-1) < 0.01, "use of all the time")
	check.Equal(t, "use of the idle link", w.Use(flows.Up, 0, 60*second, f), 0)
	check.Equal(t, "use of a link without a limit", world(netsim.Path{}).Use(flows.Down, 0, second), 0)
}

// Over any path, and with any flows, all that is sent is dropped, lost or handled, when nothing
// is on its way any more; and no more is news than was sent.
func TestConservation(t *testing.T) {
	for seed := range uint64(40) {
		draw := sim.NewDraw(seed, 1)
		down, up := randomPath(draw), randomPath(draw)
		w := worldOf(seed, flows.Path{Down: down, Up: up})
		var ends [][2]*counted
		add := func(a, b flows.End, f func(a, b flows.End)) {
			pair := [2]*counted{{End: a}, {End: b}}
			ends = append(ends, pair)
			f(pair[0], pair[1])
		}
		sends, receives := tcp.New(tcp.Config{Total: 500})
		add(sends, receives, func(a, b flows.End) { w.Add("tcp", a, b) })
		add(&steady{left: 500, every: ms}, &steady{left: 300, every: 2 * ms}, func(a, b flows.End) { w.Add("steady", a, b) })
		add(&steady{left: 100}, &steady{}, func(a, b flows.End) { w.Add("burst", a, b) })
		w.Run(1000 * second)
		for i, f := range w.Flows() {
			for side := range 2 {
				c := f.Counts(side, 0, 1000*second)
				left := c.Sent - c.LostPolicer - c.LostQueue - c.LostRandom
				if left != ends[i][1-side].handled || c.News > c.Data || c.Data > c.Sent || c.Sent == 0 && i < 2 {
					t.Errorf("seed %d, %s, link %d: %d arrive, %d were handled; %+v", seed, f.Name, side, left, ends[i][1-side].handled, c)
				}
			}
		}
	}
}

func randomPath(d sim.Draw) netsim.Path {
	p := d.Path()
	p.Duplicate, p.Overhead = 0, 28
	p.Rate = sim.Among[int64](d, 1e6, 10e6, 50e6)
	p.Queue = sim.Among(d, 0, 8<<10, 64<<10)
	if d.OneIn(3) {
		p.PoliceRate, p.PoliceBurst = p.Rate/2, 20_000
	}
	if d.OneIn(3) {
		p.LossRun = 3
	}
	if d.OneIn(3) {
		p.Tick = 20 * time.Millisecond
	}
	return p
}

// The same seed gives the same, another one does not.
func TestWorldIsRepeatable(t *testing.T) {
	path := s2
	path.Loss = 3
	run := func(seed uint64) string {
		w := worldOf(seed, flows.Path{Down: path, Up: path})
		var all []*flows.Flow
		for _, repair := range both {
			all = append(all, check.Must(w.AddChunks("f", flows.Options{Lanes: lanesOf(2, repair)})).Flow)
		}
		w.Run(5 * second)
		return fmt.Sprintf("%+v", w.Figures(flows.Down, 0, 5*second, all...))
	}
	check.Equal(t, "again", run(1), run(1))
	check.That(t, run(1) != run(2), "another seed")
}

// endless wants to be polled again and again.
type endless struct {
	steady
	sends bool
}

func (e *endless) Poll(core.Micros) (flows.Datagram, bool) { return flows.Datagram{}, e.sends }
func (e *endless) Deadline() core.Micros                   { return 5 }

func TestEndsThatNeverStopAreFound(t *testing.T) {
	for _, sends := range []bool{true, false} {
		w := world(simple)
		w.Add("endless", &endless{sends: sends}, &steady{})
		func() {
			defer func() {
				says := fmt.Sprint(recover())
				check.That(t, strings.Contains(says, "an end of endless never stops"), says)
			}()
			w.Run(second)
		}()
	}
}

func TestBadPathsAreRefused(t *testing.T) {
	bad := netsim.Path{Delay: -1}
	for _, path := range []flows.Path{{Down: bad}, {Up: bad}, {Changes: []flows.Change{{Down: bad}}}} {
		if _, err := flows.NewWorld(path, 1); err == nil {
			t.Errorf("%+v is taken", path)
		}
	}
}
