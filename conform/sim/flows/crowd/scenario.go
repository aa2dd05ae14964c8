package crowd

import (
	"fmt"
	"strings"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/conform/sim/flows/tcp"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
)

const (
	second  = core.Second
	slowest = 50_000                          // bits a second that a good path has for each flow
	headers = 28                              // of IP and UDP
	full    = codec.MaxDatagramSize + headers // bytes of a datagram on the link
	settles = 30 * second                     // of the good path before anything is judged
	judged  = 60 * second                     // of the good path that is judged for its load
	late    = 30 * second                     // the end of that, which is judged for shares and speed
	lasts   = settles + judged                // of the good path
	givesUp = 12 * second                     // after the bad path a flow may still fail for it
)

// Scenario is a world as data.
type Scenario struct {
	Seed   uint64      // of the links
	Bad    []Stretch   // what comes first
	Good   netsim.Path // of either direction, from then on: without random loss
	Ours   []Ours
	Alike  bool         // ours have the same options
	Beside []tcp.Config // models, until the path is good
}

// Stretch is a path for a time.
type Stretch struct {
	Long     core.Micros
	Down, Up netsim.Path
}

// Ours is one of our flows.
type Ours struct {
	Lanes     int
	Repair    bool
	ChunkSize int
	BothWays  bool
	Start     core.Micros
	Every     core.Micros // from one submission to the next; 0: the next always waits
}

func (o Ours) options() flows.Options {
	return flows.Options{Lanes: lanes.Config{Lanes: o.Lanes, Repair: o.Repair}, Sizes: []int{o.ChunkSize}, BothWays: o.BothWays, Start: o.Start, Every: o.Every}
}

// greedy reports whether the flow always has something to send, on a path that carries so
// many bytes a round trip.
func (o Ours) greedy(bytes int) bool { return o.Every == 0 && (o.Lanes-1)*o.ChunkSize > 2*bytes }

// String prints the scenario, a part a line.
func (s *Scenario) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d\n", s.Seed)
	for _, x := range s.Bad {
		fmt.Fprintf(&b, "for %d ms: down %+v, up %+v\n", x.Long/core.Millisecond, x.Down, x.Up)
	}
	fmt.Fprintf(&b, "then: %+v\n", s.Good)
	for _, o := range s.Ours {
		fmt.Fprintf(&b, "ours: %+v\n", o)
	}
	for _, c := range s.Beside {
		fmt.Fprintf(&b, "beside: %v %+v\n", c.Model, c)
	}
	return b.String()
}

// goodFrom returns when the path is good.
func (s *Scenario) goodFrom() (at core.Micros) {
	for _, x := range s.Bad {
		at += x.Long
	}
	return (at + flows.Slot - 1) / flows.Slot * flows.Slot
}

// drawn draws scenarios.
type drawn struct{ sim.Draw }

// spread draws from low to high so that each power of two has the same chance.
func (d drawn) spread(low, high int) int {
	for at := low; ; at *= 2 {
		if 2*at > high || d.IntN(bitsBetween(at, high)) == 0 {
			return d.Between(at, min(2*at, high))
		}
	}
}

// bitsBetween returns how many doublings lead from one figure to at least another.
func bitsBetween(low, high int) (n int) {
	for ; low < high; low *= 2 {
		n++
	}
	return max(n, 1)
}

// Draw returns the scenario of a seed.
func Draw(seed uint64) *Scenario {
	d := drawn{sim.NewDraw(seed, 22)}
	s := &Scenario{Seed: seed, Alike: !d.OneIn(3)}
	n := d.spread(1, 10)
	s.Good = d.good(n)
	for range sim.Among(d.Draw, 0, 0, 1, 2, 4) {
		s.Bad = append(s.Bad, d.stretch(s.Good))
	}
	one := d.ours()
	for range n {
		if !s.Alike {
			one = d.ours()
		}
		one.Start = d.Time(0, sim.Among[core.Micros](d.Draw, 0, 1, 10, 40)*second)
		s.Ours = append(s.Ours, one)
	}
	if len(s.Bad) > 0 {
		for range sim.Among(d.Draw, 0, 0, 1, 2) {
			s.Beside = append(s.Beside, d.beside(s.goodFrom()/2))
		}
	}
	return s
}

// good draws a path for n flows.
func (d drawn) good(n int) netsim.Path {
	rate := max(d.spread(250_000, 8_000_000), n*slowest)
	trip := time.Duration(d.spread(2_000, 300_000)) * time.Microsecond
	bytes := max(int(int64(rate)*int64(trip)/8e9), 4*full)
	p := netsim.Path{Rate: int64(rate), Delay: trip / 2, Overhead: headers, Queue: max(d.spread(bytes/4, 8*bytes), sim.Among(d.Draw, 1, 4, 4, 8)*n*full)}
	switch d.IntN(8) {
	case 0:
		p.Jitter = time.Duration(d.spread(500, 30_000)) * time.Microsecond
	case 1:
		p.PoliceRate = max(p.Rate/int64(d.Between(2, 8)), int64(n*slowest))
		p.PoliceBurst = max(d.spread(full, 64<<10), 2*n*full)
	}
	return p
}

// stretch draws what a path is like before it is good.
func (d drawn) stretch(good netsim.Path) Stretch {
	down := good
	switch d.IntN(8) {
	case 0:
		down.Loss = 100
		return Stretch{Long: d.Time(1, 6) * second, Down: down, Up: down}
	case 1:
		down.Rate = max(good.Rate/int64(d.Between(2, 10)), 100_000)
	case 2:
		down.Rate = good.Rate * int64(d.Between(2, 10))
	case 3:
		down.Delay = good.Delay * time.Duration(d.Between(2, 6)) / 2
	case 4:
		down.Reorder, down.ReorderDelay = d.Float64()*30, time.Duration(d.spread(1, 50))*time.Millisecond
	case 5:
		down.PoliceRate, down.PoliceBurst = good.Rate/int64(d.Between(2, 8)), d.spread(full, 64<<10)
	case 6:
		down.Loss, down.LossRun = d.Float64()*sim.Among(d.Draw, 2., 10, 40), float64(d.Between(1, 8))
	case 7:
		down.Tick = time.Duration(d.spread(1, 40)) * time.Millisecond
	}
	up := down
	if d.OneIn(3) {
		up.Loss = d.Float64() * 50
	}
	return Stretch{Long: d.Time(3, 15) * second, Down: down, Up: up}
}

// ours draws a flow.
func (d drawn) ours() Ours {
	o := Ours{Lanes: sim.Among(d.Draw, 1, 2, 4, 8, 8), Repair: !d.OneIn(3), ChunkSize: codec.MaxChunkSize, BothWays: d.OneIn(6)}
	if d.OneIn(4) {
		o.ChunkSize = d.spread(1_000, codec.MaxChunkSize)
	}
	if d.OneIn(6) {
		o.Every = d.Time(20, 3_000) * core.Millisecond
	}
	return o
}

// beside draws a model that comes before a time, and leaves when the path is good.
func (d drawn) beside(before core.Micros) tcp.Config {
	return tcp.Config{
		Model:   sim.Among(d.Draw, tcp.NewReno, tcp.NewReno, tcp.Cubic, tcp.Cubic, tcp.QuicGo, tcp.QuicGo, tcp.Turbo),
		HyStart: d.OneIn(2),
		Paced:   d.OneIn(2),
		Start:   d.Time(0, before),
	}
}
