package search

import (
	"fmt"
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
	ms     = core.Millisecond
	second = core.Second
	full   = codec.MaxDatagramSize + codec.HeaderBytes // bytes of a datagram on the link

	// A world is so long that it carries mostSlices, but in these bounds.
	mostSlices = 60_000
	shortest   = 12 * second
	longest    = 60 * second
)

// draw draws worlds.
type draw struct {
	sim.Draw
	seed uint64
}

// path is a path and what it is called in a report.
type path struct {
	flows.Path
	name  string
	rate  int64 // bits a second
	trip  core.Micros
	queue float64 // of a bandwidth-delay product
}

// path draws a path. Nothing is lost by chance, and what goes back is not held up.
func (d draw) path(slow, fast int64, near, far core.Micros, thin, thick int64) path {
	p := path{rate: d.Spread(slow, fast), trip: d.SpreadTime(near, far)}
	product := p.rate / 8 * int64(p.trip) / int64(second)
	bytes := max(product*d.Spread(thin, thick)/100, 4*full)
	p.queue = float64(bytes) / float64(product)
	down := netsim.Path{Rate: p.rate, Delay: p.trip.Duration() / 2, Queue: int(bytes), Overhead: codec.HeaderBytes}
	p.Path = flows.Path{Down: down, Up: netsim.Path{Delay: down.Delay, Overhead: down.Overhead}}
	p.name = fmt.Sprintf("%.1fM/%v q%.0f%%", float64(p.rate)/1e6, p.trip.Duration().Round(time.Millisecond/10), 100*p.queue)
	return p
}

// anywhere draws one of all paths.
func (d draw) anywhere() path { return d.path(1e6, 1000e6, 2*ms, 300*ms, 5, 800) }

// usual draws one of the paths on which several flows are compared.
func (d draw) usual() path { return d.path(2e6, 150e6, 8*ms, 120*ms, 10, 300) }

// lasts returns how long a world with a path is.
func (p path) lasts() core.Micros {
	long := core.Micros(mostSlices * full * 8 * int64(second) / p.rate)
	return min(max(long, shortest, 150*p.trip), longest) / flows.Slot * flows.Slot
}

// options are those of one of our flows.
func (d draw) options(lane ...int) flows.Options {
	return flows.Options{Lanes: lanes.Config{Lanes: sim.Among(d.Draw, lane...), Repair: d.OneIn(2)}}
}

func kind(o flows.Options) string {
	if o.Lanes.Repair {
		return fmt.Sprintf("repair x%d", o.Lanes.Lanes)
	}
	return fmt.Sprintf("named x%d", o.Lanes.Lanes)
}

// lanesCarry returns the part of a path that lanes can use: each has one chunk under way, and hears
// that it has arrived a round trip after its last slice went out.
func (p path) lanesCarry(o flows.Options) float64 {
	chunk := float64(codec.MaxSlices*full*8) / float64(p.rate)
	return min(1, float64(o.Lanes.Lanes)*chunk/(chunk+p.trip.Duration().Seconds()))
}

// add adds a flow of ours from a time on.
func (t *trial) add(o flows.Options, start core.Micros) *flows.Chunks {
	o.Start = start
	c, err := t.world.AddChunks("ours", o)
	if err != nil {
		panic(err) // the draw is at fault
	}
	return c
}

// beside adds a model of another protocol.
func beside(w *flows.World, m tcp.Model, start core.Micros) *flows.Flow {
	s, r := tcp.New(tcp.Config{Model: m, HyStart: m == tcp.Cubic, Start: start})
	return w.Add(m.String(), s, r)
}
