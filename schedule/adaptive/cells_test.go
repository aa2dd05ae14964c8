package adaptive_test

import (
	"fmt"
	"time"

	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/schedule/adaptive"
)

// cell is one network at one rate of loss, the same in each direction.
type cell struct {
	network string
	loss    int // percent
}

func (c cell) String() string { return fmt.Sprintf("%s %2d %%", c.network, c.loss) }

// networks are the four of the tables. Loss strikes behind the bottleneck, and
// every datagram takes 28 bytes more on the link, for IP and UDP.
var networks = map[string]netsim.Path{
	"S1": {Rate: 100e6, Delay: 25 * time.Millisecond, Queue: 1 << 20, Overhead: 28},
	"S2": {Rate: 10e6, Delay: 25 * time.Millisecond, Queue: 256 << 10, Overhead: 28},
	"S3": {Rate: 1e6, Delay: 50 * time.Millisecond, Queue: 64 << 10, Overhead: 28},
	"S4": {Delay: 25 * time.Millisecond, Overhead: 28},
}

func (c cell) path() netsim.Path { return lossy(networks[c.network], c.loss) }

// lossy returns the path with so many percent of loss.
func lossy(p netsim.Path, percent int) netsim.Path {
	p.Loss = float64(percent)
	return p
}

// cells are those of the tables, in their order.
var cells = []cell{
	{"S1", 0}, {"S1", 1}, {"S1", 5}, {"S1", 20},
	{"S2", 0}, {"S2", 1}, {"S2", 5}, {"S2", 20},
	{"S3", 0}, {"S3", 1}, {"S3", 5},
	{"S4", 0}, {"S4", 1}, {"S4", 5}, {"S4", 20}, {"S4", 50},
}

// scheme is a profile on a connection that is new (cold) or has sent a chunk
// before (warm).
type scheme struct {
	name    string
	warm    bool
	profile func(cell) adaptive.Profile
}

// schemes are those of the tables, in their order.
var schemes = []scheme{
	{"adaptive cold", false, func(cell) adaptive.Profile { return adaptive.Adaptive() }},
	{"adaptive warm", true, func(cell) adaptive.Profile { return adaptive.Adaptive() }},
	{"burst cold", false, func(cell) adaptive.Profile { return adaptive.Burst() }},
	{"redundant warm", true, func(cell) adaptive.Profile { return adaptive.Redundant() }},
	{"fixed cold", false, func(c cell) adaptive.Profile { return adaptive.Fixed(networks[c.network].Rate) }},
}

// measure transfers a full chunk in a cell, for so many seeds.
func (s scheme) measure(c cell, seeds int) figures {
	return scenario{down: c.path(), up: c.path(), warm: s.warm}.run(seeds, s.profile(c))
}
