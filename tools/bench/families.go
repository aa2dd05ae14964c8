package bench

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Situation is an example of a family of paths and loads on which a sender can do harm.
type Situation struct {
	Family string
	Name   string // the figures of this one
	Cell   Cell
	Conns  int           // at once; 0 is 1
	Apart  time.Duration // between their beginnings
	Load
	For     time.Duration // as of a [FlowPlan]
	Trouble func(p *path)
	Least   time.Duration // that nobody can be faster than, of what Counts says; 0 is unknown
	Counts  Figure
}

// Figure is what of a run is compared.
type Figure string

// The figures.
const (
	Each  Figure = "each" // the time of each block
	Last  Figure = "last" // the time of the last block of each flow
	Sum   Figure = "sum"  // the sum of the times of its blocks
	All   Figure = "all"  // the time until everything has arrived
	Rates Figure = "rate" // what each flow moves
)

// FamilyFigures is what many runs of one situation have.
type FamilyFigures struct {
	Family   string
	Counts   Figure
	Least    time.Duration   `json:",omitempty"`
	Loss     float64         `json:",omitempty"` // of the path, at random; 0.5 is half of what is sent
	Policed  bool            `json:",omitempty"`
	Sequence []time.Duration `json:",omitempty"` // the median of each block, of the first flow
	All      time.Duration   // the median of the time until everything has arrived
	Dropped  float64         // datagrams that queues and policers dropped, over those sent; the median
	Mbits    float64         `json:",omitempty"` // of all flows, after the first quarter; the median
	Jain     float64         `json:",omitempty"` // of the flows; the median
	Mean     time.Duration   // in the queue on the way down
}

// FamilyPeers are those that are compared on them, ours first.
func FamilyPeers() []Peer {
	return append(ourFlows(), quicPeer(), kcpPeers()[1])
}

const (
	kilo = 1 << 10
	mega = 1 << 20
	ms   = time.Millisecond
)

// link is a path of so many Mbit/s, ms of round trip and KiB of queue.
func link(mbits float64, rtt, queue int) Cell {
	return Cell{Rate: int64(mbits * 1e6), RTT: time.Duration(rtt) * ms, Queue: queue * kilo}
}

func (c Cell) but(change func(*Cell)) Cell {
	change(&c)
	return c
}

func (c Cell) figures() string {
	return fmt.Sprintf("%v Mbit/s, %d ms, %d KiB", float64(c.Rate)/1e6, c.RTT.Milliseconds(), c.Queue/kilo)
}

// Situations returns those of all families.
func Situations() []Situation {
	return slices.Concat(shortQueues(), severalStreams(), severalChunks(), bothWays(), policed(), smallChunks(),
		slowReaders(), clumps(), longerRoundTrips(), muchLoss(), thinBacks(), coldChunks(), rising(), kept())
}

func shortQueues() (all []Situation) {
	for _, c := range []Cell{link(20, 30, 64), link(20, 30, 64).but(func(c *Cell) { c.Jitter = 10 * ms }), link(50, 40, 64), link(10, 80, 32)} {
		name := "16 MiB, " + c.figures()
		if c.Jitter > 0 {
			name += ", 10 ms of jitter"
		}
		all = append(all, Situation{Family: "one stream, queue below a BDP", Name: name, Cell: c, Load: stream(16 * mega), Counts: All})
	}
	return all
}

// stream is so many bytes as blocks of 256 KiB, each pushed when there is room.
func stream(bytes int) Load {
	return Load{Sizes: slices.Repeat([]int{block}, bytes/block), Queued: true}
}

// endless is a stream until the run ends.
func endless() Load { return Load{Sizes: []int{block}, Again: true, Queued: true} }

// oneByOne is so many blocks, each a second after the one before has arrived.
func oneByOne(n, size int) Load { return Load{Sizes: slices.Repeat([]int{size}, n), Gap: settle} }

func severalStreams() (all []Situation) {
	for _, of := range []struct {
		n int
		c Cell
	}{{4, link(5, 40, 64)}, {8, link(5, 40, 64)}, {2, link(10, 50, 64)}, {16, link(20, 30, 64)}} {
		all = append(all, Situation{Family: "several streams", Name: fmt.Sprintf("%d, %s", of.n, of.c.figures()), Cell: of.c, Conns: of.n,
			Load: endless(), For: 40 * time.Second, Counts: Rates})
	}
	for _, of := range []struct {
		n int
		c Cell
	}{{4, link(5, 40, 64)}, {3, link(2, 100, 64)}} {
		apart := 4 * time.Second
		all = append(all, Situation{Family: "several streams", Name: fmt.Sprintf("%d, %v apart, %s", of.n, apart, of.c.figures()), Cell: of.c, Conns: of.n, Apart: apart,
			Load: endless(), For: 80 * time.Second, Counts: Rates})
	}
	return all
}

func severalChunks() (all []Situation) {
	for _, of := range []struct {
		n int
		c Cell
	}{{4, link(5, 40, 64)}, {8, link(5, 40, 64)}, {16, link(20, 30, 64)}, {6, link(10, 80, 48)}} {
		all = append(all, Situation{Family: "several single chunks at once", Name: fmt.Sprintf("%d, %s", of.n, of.c.figures()), Cell: of.c, Conns: of.n,
			Load: oneByOne(1, block), Counts: All})
	}
	return all
}

func bothWays() (all []Situation) {
	for _, of := range []struct {
		n int
		c Cell
	}{{8, link(2, 40, 64)}, {4, link(1, 100, 64)}, {8, link(10, 50, 48)}} {
		load := stream(of.n * block)
		load.Both = true
		all = append(all, Situation{Family: "both ways at once", Name: fmt.Sprintf("%d chunks each way, %s", of.n, of.c.figures()), Cell: of.c, Load: load, Counts: All})
	}
	return all
}

func policed() (all []Situation) {
	for _, of := range []struct {
		mbits, burst, size int
	}{{1, 32, block}, {1, 32, 4 * mega}, {5, 16, block}, {2, 128, 4 * mega}, {10, 64, 16 * mega}} {
		c := link(100, 30, 1024).but(func(c *Cell) { c.Police, c.Burst = int64(of.mbits)*1e6, of.burst*kilo })
		rate := time.Duration(float64(of.size-c.Burst) * 1.04 * 8 / float64(of.mbits) * 1e3)
		all = append(all, Situation{Family: "policer", Name: fmt.Sprintf("%d KiB, %d Mbit/s with a burst of %d KiB, behind 100 Mbit/s, 30 ms", of.size/kilo, of.mbits, of.burst),
			Cell: c, Load: stream(of.size), Counts: All, Least: rate + 15*ms})
	}
	return all
}

func smallChunks() (all []Situation) {
	for _, of := range []struct {
		size, loss int
		c          Cell
	}{{8, 1, link(20, 60, 256)}, {16, 2, link(10, 100, 256)}, {4, 1, link(50, 20, 256)}} {
		small := Load{Sizes: slices.Repeat([]int{of.size * kilo}, 200), Gap: 100 * ms}
		name := fmt.Sprintf("%d KiB, %s, %d %%", of.size, of.c.figures(), of.loss)
		all = append(all, Situation{Family: "small chunks", Name: "200 of " + name, Cell: of.c.with(of.loss), Load: small, Counts: Each})
		large := Load{Sizes: append(slices.Repeat([]int{of.size * kilo}, 20), block), Gap: 100 * ms}
		all = append(all, Situation{Family: "small chunks", Name: "256 KiB after 20 of " + name, Cell: of.c.with(of.loss), Load: large, Counts: Last})
	}
	return all
}

func slowReaders() (all []Situation) {
	for _, of := range []struct {
		n     int
		pause time.Duration
		c     Cell
	}{{40, 200 * ms, link(100, 50, 1024)}, {100, 10 * ms, link(1000, 1, 1024)}, {20, 300 * ms, link(20, 30, 128)}, {100, 10 * ms, link(10000, 1, 8192)}} {
		load := stream(of.n * block)
		load.Pause = of.pause
		all = append(all, Situation{Family: "slow reader", Name: fmt.Sprintf("%d chunks, %v before each is taken, %s", of.n, of.pause, of.c.figures()), Cell: of.c, Load: load,
			Counts: All, Least: time.Duration(of.n) * of.pause})
	}
	return all
}

func clumps() (all []Situation) {
	for _, of := range []struct {
		tick time.Duration
		c    Cell
	}{{20 * ms, link(20, 40, 256)}, {30 * ms, link(50, 30, 512)}, {10 * ms, link(10, 50, 256)}} {
		c := of.c.but(func(c *Cell) { c.AckTick = of.tick })
		all = append(all, Situation{Family: "acks in clumps", Name: fmt.Sprintf("a tick of %v, %s", of.tick, c.figures()), Cell: c, Load: oneByOne(6, block), Counts: Sum})
	}
	return all
}

func longerRoundTrips() (all []Situation) {
	for _, of := range []struct {
		rtt int
		c   Cell
	}{{100, link(20, 10, 256)}, {200, link(50, 20, 512)}, {150, link(10, 50, 256)}} {
		longer := of.c.but(func(c *Cell) { c.RTT = time.Duration(of.rtt) * ms })
		all = append(all, Situation{Family: "a round trip that gets longer", Name: fmt.Sprintf("to %d ms, %s", of.rtt, of.c.figures()), Cell: of.c, Load: oneByOne(10, block), Counts: Sum,
			Trouble: after(5*time.Second/2, longer)})
	}
	return all
}

// after changes the path, once.
func after(d time.Duration, c Cell) func(*path) {
	return func(p *path) { time.AfterFunc(d, func() { p.set(c) }) }
}

func muchLoss() (all []Situation) {
	for _, of := range []struct {
		loss int
		c    Cell
	}{{55, link(5, 50, 256)}, {60, link(20, 50, 256)}, {50, link(10, 100, 256)}} {
		all = append(all, Situation{Family: "much loss", Name: fmt.Sprintf("%d %%, %s", of.loss, of.c.figures()), Cell: of.c.with(of.loss), Load: oneByOne(8, block), Counts: Sum})
	}
	return all
}

func thinBacks() (all []Situation) {
	for _, of := range []struct {
		back int
		c    Cell
	}{{128, link(50, 40, 512)}, {64, link(20, 40, 256)}, {256, link(100, 20, 512)}} {
		c := of.c.but(func(c *Cell) { c.Back = int64(of.back) * 1000 })
		all = append(all, Situation{Family: "thin ack path", Name: fmt.Sprintf("%d kbit/s back, %s", of.back, c.figures()), Cell: c, Load: oneByOne(6, block), Counts: Sum})
	}
	return all
}

func coldChunks() (all []Situation) {
	for _, of := range []struct {
		size int
		c    Cell
	}{{64, link(1, 50, 48)}, {64, link(2, 100, 32)}, {128, link(1, 100, 64)}} {
		all = append(all, Situation{Family: "a cold chunk that does not fit the queue", Name: fmt.Sprintf("%d KiB, %s", of.size, of.c.figures()), Cell: of.c, Load: oneByOne(1, of.size*kilo), Counts: Each})
	}
	return all
}

func rising() (all []Situation) {
	for _, of := range []struct {
		mbits int
		c     Cell
	}{{100, link(1, 50, 256)}, {50, link(2, 30, 128)}, {10, link(1, 100, 128)}} {
		faster := of.c.but(func(c *Cell) { c.Rate = int64(of.mbits) * 1e6 })
		first := time.Duration(block*8*1.05*1e9/float64(of.c.Rate)) + of.c.RTT + settle/2
		all = append(all, Situation{Family: "a rate that rises", Name: fmt.Sprintf("to %d, %s", of.mbits, of.c.figures()), Cell: of.c, Load: oneByOne(7, block), Counts: Sum,
			Trouble: after(first, faster)})
	}
	return all
}

// kept is what was good before, and is to stay so.
func kept() []Situation {
	deep, far, bursts := link(2, 50, 2048), link(100, 600, 2048), link(20, 40, 256).with(3)
	acks, doubled, late := link(20, 40, 256), link(20, 40, 256), link(20, 40, 256)
	bursts.LossRun, acks.AckLoss, doubled.Doubled, late.Late = 4, 70, 10, 20
	of := func(name string, c Cell, l Load, counts Figure) Situation {
		return Situation{Family: "good before", Name: name + ", " + c.figures(), Cell: c, Load: l, Counts: counts}
	}
	return []Situation{
		of("4 MiB, a deep queue", deep, stream(4*mega), All),
		of("far", far, oneByOne(4, block), Last),
		of("3 % lost, four in a row", bursts, oneByOne(6, block), Sum),
		of("70 % of acks lost", acks, oneByOne(6, block), Sum),
		of("10 % doubled", doubled, oneByOne(6, block), Sum),
		of("20 % late by 10 ms", late, oneByOne(6, block), Sum),
	}
}

// plan makes the plan of a situation for one peer.
func (s Situation) plan(p Peer) FlowPlan {
	plan := FlowPlan{Cell: s.Cell, For: s.For, Trouble: s.Trouble, Sample: 20 * ms}
	for i := range max(1, s.Conns) {
		plan.Flows = append(plan.Flows, Flow{Peer: p, Begin: time.Duration(i) * s.Apart, Load: s.Load})
	}
	return plan
}

// least returns what nobody can be faster than, in what counts: the bytes at the rate of
// the path, and half a round trip for all that goes at once.
func (s Situation) least() time.Duration {
	if s.Least != 0 || s.Trouble != nil {
		return s.Least
	}
	bytes, trips := s.Sizes[len(s.Sizes)-1], 1
	switch s.Counts {
	case All:
		bytes = total(s.Sizes) * max(1, s.Conns)
	case Sum:
		bytes, trips = total(s.Sizes), len(s.Sizes)
	}
	return time.Duration(float64(bytes)*leastBytes*8*1e9/float64(s.Cell.Rate)/(1-float64(s.Cell.Loss)/100)) + time.Duration(trips)*s.Cell.RTT/2
}

// leastBytes is what headers add.
const leastBytes = 1.04

// summarizeFamily sums up runs of one situation by one peer.
func summarizeFamily(s Situation, plan FlowPlan, runs []FlowsRun) (Summary, *FamilyFigures) {
	sum := Summary{Runs: len(runs)}
	f := &FamilyFigures{Family: s.Family, Counts: s.Counts, Least: s.least(), Loss: float64(s.Cell.Loss) / 100, Policed: s.Cell.Police > 0}
	var times []time.Duration
	for _, r := range runs {
		times = append(times, r.counted(s.Counts)...)
		if failed, _ := r.failures(); failed > 0 {
			sum.Failed++
		}
	}
	sum.times(times)
	sum.Bytes = medianOf(runs, func(r FlowsRun) float64 { return r.ratio(plan) })
	f.Dropped = medianOf(runs, FlowsRun.dropped)
	f.All = medianOf(runs, func(r FlowsRun) time.Duration { return r.All })
	f.Mean = medianOf(runs, FlowsRun.meanWait)
	if s.Counts == Rates {
		rates := func(r FlowsRun) []float64 { return r.rates(plan, plan.For/4, plan.For) }
		f.Mbits = medianOf(runs, func(r FlowsRun) float64 { return total(rates(r)) })
		f.Jain = medianOf(runs, func(r FlowsRun) float64 { return jain(rates(r)) })
	}
	if n := len(s.Sizes); n > 1 && n <= mostSequence && !s.Queued {
		f.Sequence = sequence(n, runs)
	}
	return sum, f
}

// mostSequence is the most blocks whose times are listed.
const mostSequence = 10

// sequence returns the median time of each of the n blocks of the first flow.
func sequence(n int, runs []FlowsRun) (medians []time.Duration) {
	for i := range n {
		var times []time.Duration
		for _, r := range runs {
			if took := r.Flows[0].Took; i < len(took) {
				times = append(times, took[i])
			}
		}
		medians = append(medians, median(times))
	}
	return medians
}

// counted returns the times that are compared, of flows that did not fail.
func (r FlowsRun) counted(by Figure) (times []time.Duration) {
	if failed, _ := r.failures(); by == All && failed == 0 {
		return []time.Duration{r.All}
	}
	for _, f := range r.Flows {
		switch {
		case f.Err != nil || len(f.Took) == 0:
		case by == Each:
			times = append(times, f.Took...)
		case by == Last:
			times = append(times, f.Took[len(f.Took)-1])
		case by == Sum:
			times = append(times, total(f.Took))
		}
	}
	return times
}

// ratio returns the bytes on the wire over those of the blocks that arrived.
func (r FlowsRun) ratio(plan FlowPlan) float64 {
	arrived := 0
	for i, f := range r.Flows {
		sizes := plan.Flows[i%len(plan.Flows)].Sizes
		for k := range f.Took {
			arrived += sizes[k%len(sizes)]
		}
	}
	if arrived == 0 {
		return 0
	}
	return float64(r.Bytes) / float64(arrived)
}

func (r FlowsRun) dropped() float64 { return float64(r.Dropped) / float64(r.Sent) }

func (r FlowsRun) meanWait() time.Duration {
	var sum int64
	for _, s := range r.Samples {
		sum += s.WaitMicro
	}
	return time.Duration(sum/int64(max(1, len(r.Samples)))) * time.Microsecond
}

func total[T int | float64 | time.Duration](values []T) (sum T) {
	for _, v := range values {
		sum += v
	}
	return sum
}

// medianOf returns the median of a figure of many runs.
func medianOf[R any, T cmp.Ordered](runs []R, of func(R) T) T {
	var values []T
	for _, r := range runs {
		values = append(values, of(r))
	}
	return median(values)
}

// median returns the middle value, or zero if there is none.
func median[T cmp.Ordered](values []T) (middle T) {
	if len(values) == 0 {
		return middle
	}
	return quantile(slices.Sorted(slices.Values(values)), 50)
}
