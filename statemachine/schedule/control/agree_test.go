package control

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/conform/oracle/recoveryoracle"
	"github.com/chunkwire/chunkwire/core"
)

// lane is a sender that a test moves by hand.
type lane struct {
	share        Share
	busy, wanted bool
	flight       int64
}

func (l *lane) Busy() bool      { return l.busy }
func (l *lane) InFlight() int64 { return l.flight }
func (l *lane) Idle() bool      { return !l.busy || !l.wanted }

// controllers are the package's and the oracle's, beside each other, with lanes that use both.
type controllers struct {
	*rapid.T
	*rand.Rand
	product *Controller
	oracle  *recoveryoracle.Controller
	lanes   []*lane
	now     core.Micros
	base    core.Micros // the round trip of the path without a queue
}

func newControllers(t *rapid.T) *controllers {
	p := rapid.SampledFrom([]recoveryoracle.Profile{{}, {}, {}, {}, {}, {}, {Rate: 9_000_000}, {Burst: true}, {Fixed: true, Rate: 20_000_000}}).Draw(t, "profile")
	c := &controllers{
		T: t, Rand: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)), oracle: recoveryoracle.NewController(p),
		product: New(Config{MaxRate: p.Rate, Burst: p.Burst, Fixed: p.Fixed}),
		now:     rapid.SampledFrom([]core.Micros{0, 1, 3_600_000_000}).Draw(t, "time"),
		base:    40_000,
	}
	for range rapid.SampledFrom([]int{1, 1, 2, 8}).Draw(t, "lanes") {
		l := &lane{}
		c.lanes = append(c.lanes, l)
		c.oracle.Join(l)
	}
	return c
}

// same fails unless both know the same.
func (c *controllers) same(event string) {
	v, w, l := c.product.Vars(), c.oracle.Vars(), &c.product.limit
	got := recoveryoracle.Vars{
		SRTT: int64(v.SmoothedRTT), MinRTT: int64(v.MinRTT), PaceAt: 1000*int64(v.PaceAt) + v.PaceNano, Limit: v.Limit, Flight: int64(v.Flight),
		BeganAt: int64(l.beganAt), DecidesAt: int64(l.decidesAt), Misses: int64(c.product.base.misses), Above: int64(l.above), Speed: l.speed, Step: l.step, Quiet: int64(l.quiet),
		Others: v.Others, CalmLost: v.CalmLost, CalmPassed: v.CalmPassed, SilentAt: int64(c.product.SilentAt()), ProbeAt: int64(c.product.ProbeAt()),
		Slices: int64(c.product.PathSlices()), Room: c.product.HasRoom(), Lost: c.product.Losses().Lost, Arrived: c.product.Losses().Arrived,
	}
	if got != w {
		c.Fatalf("at %d, after %s: %+v\nwant %+v", c.now, event, got, w)
	}
}

// begin starts a chunk of a lane, unless it has one that it does not give up.
func (c *controllers) begin(l *lane, givesUp bool) {
	if l.busy && !givesUp {
		return
	}
	l.flight = 0
	c.product.Begin(c.now, &l.share)
	c.oracle.OnBegin(int64(c.now))
	l.wanted = l.wanted && l.busy
	l.busy = true
	c.same("begin")
}

// fly puts so many slices of a lane in flight.
func (c *controllers) fly(l *lane, n int64) {
	l.flight = n
	c.product.Flight(&l.share, int(n))
	c.oracle.OnFlight()
}

func (c *controllers) end(l *lane) {
	l.busy, l.wanted, l.flight = false, false, 0
	c.product.Leave(&l.share)
	c.oracle.OnFlight()
	c.same("the end")
}

// send lets a lane send as many as it may.
func (c *controllers) send(l *lane, most int) {
	for range most {
		wants, fresh := c.product.HasRoom(), c.IntN(2) == 0
		got, want := c.product.Go(c.now, &l.share, wants, fresh), c.oracle.Goes(int64(c.now), wants, fresh)
		if l.wanted = wants; got != want {
			c.Fatalf("at %d: a slice goes: %t, want %t", c.now, got, want)
		}
		if !got {
			return
		}
		c.fly(l, l.flight+1)
		c.same("a slice")
	}
}

// news acks some slices of a lane, and finds some lost; r is a clean sample, or 0.
func (c *controllers) news(l *lane, r core.Micros, arrived, lost int64) {
	if r > 0 {
		c.product.Clean(c.now, r)
		c.oracle.OnCleanSample(int64(c.now), int64(r))
	}
	c.fly(l, max(l.flight-arrived-lost, 0))
	c.product.Arrived(c.now, int(arrived), int(lost))
	c.oracle.OnNews(int64(c.now), arrived, lost)
	c.same("news")
}

// beside is at most a microsecond beside a time.
func (c *controllers) beside(at core.Micros) core.Micros { return at + core.Micros(c.IntN(3)-1) }

// pass lets time go by: so much, or now and then to a time at which a rule holds for the first time.
func (c *controllers) pass(after core.Micros) {
	p, at := c.product, c.now+after
	delay, _ := p.RTT.Delay()
	if c.IntN(4) == 0 {
		edges := []core.Micros{
			p.limit.decidesAt, p.limit.countsAt, p.base.until, p.base.fullAt, p.base.drainAt, p.base.drainAt + life, p.base.at + life,
			p.breaker.since + life, p.newsAt + p.limit.latest, p.newsAt + 2*life, p.newsAt + silentDelays*delay, p.pace.at,
		}
		at = c.beside(edges[c.IntN(len(edges))])
	}
	if at > c.now && at < c.now+4*life {
		c.now = at
	}
}

// atEdge is a sample that is just long enough for a rule, or just too long.
func (c *controllers) atEdge(r core.Micros) core.Micros {
	b, t := c.product.base.value, c.product.target()
	edges := []core.Micros{r, b, b + t, b + t/2, b + t/part, b - t/part, b + targetLeast/part}
	return max(c.beside(edges[c.IntN(len(edges))]), 1)
}

// rounds are so many round trips, with a queue of so much, in which some are lost.
func (c *controllers) rounds(number int, queue core.Micros, lossy, used int) {
	l := c.lanes[c.IntN(len(c.lanes))]
	c.begin(l, false)
	for range number {
		c.fly(l, max(int64(c.product.PathSlices()*used/100), 1))
		parts := 1 + c.IntN(3)
		for k := range parts {
			r := max(c.base+queue, 1)
			if c.IntN(4) == 0 {
				r += core.Micros(c.Int64N(int64(r)/8 + 1))
			}
			if c.pass(r/core.Micros(parts) + core.Micros(c.IntN(50))); c.IntN(8) == 0 {
				r = c.atEdge(r)
			}
			n := l.flight / int64(parts-k)
			lost := n * int64(lossy) / 100
			if n > 0 && c.IntN(100) < lossy {
				lost = min(lost+1, n)
			}
			if c.IntN(12) == 0 {
				lost = -lost
			}
			if c.IntN(8) == 0 && c.oracle.IsMeasured() {
				again := core.Micros(c.Int64N(2 * int64(r)))
				c.product.Resent(again)
				c.oracle.OnResentSample(int64(again))
			}
			if c.IntN(8) == 0 {
				r = 0
			}
			c.news(l, r, n-max(lost, 0), lost)
		}
	}
	if c.IntN(2) == 0 {
		c.end(l)
	}
}

func (c *controllers) timer() {
	n := c.IntN(4)
	c.product.TimedOut(c.now, n)
	c.oracle.OnTimer(int64(c.now), int64(n))
	c.same("a timer")
}

func (c *controllers) late() {
	n := c.IntN(3)
	c.product.Late(n)
	c.oracle.OnLate(int64(n))
}

func (c *controllers) marks() {
	n := c.IntN(3)
	c.product.Marked(n)
	c.oracle.OnMarks(int64(n))
}

var (
	queues = []core.Micros{0, 0, 0, 0, 700, 3000, 6000, 9000, 15_000, 40_000, 200_000, -100, -1500, -20_000}
	waits  = []core.Micros{1, 300, 9000, 60_000, 400_000, 3_000_000, 12_000_000, 33_000_000}
	losses = []int{0, 0, 0, 0, 1, 3, 10, 24, 27, 40, 70, 100}
)

// The two controllers know the same after each event, whatever senders tell them.
func TestControllersAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newControllers(t)
		for range rapid.IntRange(1, 150).Draw(t, "events") {
			l := c.lanes[c.IntN(len(c.lanes))]
			switch rapid.SampledFrom([]string{"rounds", "rounds", "rounds", "rounds", "same", "same", "path", "send", "wait", "timer", "late", "marks", "yield", "end", "begin"}).Draw(t, "event") {
			case "rounds":
				number := rapid.SampledFrom([]int{1, 2, 3, 8, 8, 20, 60, 300}).Draw(t, "number")
				c.rounds(number, rapid.SampledFrom(queues).Draw(t, "queue"), rapid.SampledFrom(losses).Draw(t, "lossy"), rapid.SampledFrom([]int{100, 100, 100, 90, 50, 5}).Draw(t, "used"))
			case "same": // a queue that is always a little longer than the target
				c.rounds(8, max(c.base/4, 5000)+6000, rapid.SampledFrom(losses).Draw(t, "lossy"), rapid.SampledFrom([]int{100, 100, 1}).Draw(t, "used"))
			case "path":
				c.base = rapid.SampledFrom([]core.Micros{1, 300, 4000, 40_000, 41_500, 52_000, 180_000}).Draw(t, "base")
			case "send":
				c.begin(l, false)
				c.send(l, rapid.IntRange(1, 60).Draw(t, "most"))
			case "wait":
				c.pass(rapid.SampledFrom(waits).Draw(t, "time"))
			case "timer":
				for range rapid.IntRange(1, 4).Draw(t, "times") {
					c.pass(40_000)
					c.timer()
				}
			case "late":
				c.late()
			case "marks":
				c.marks()
			case "yield":
				yields := rapid.Bool().Draw(t, "yields")
				c.product.Yield(yields)
				c.oracle.Yield(yields)
			case "end":
				c.end(l)
			case "begin":
				c.begin(l, true)
			}
		}
	})
}
