package measure

import (
	"fmt"
	"time"

	"github.com/chunkwire/chunkwire/netsim"
)

// Networks are the four of the tables. Loss strikes behind the bottleneck, and
// every datagram takes 28 bytes more on the link, for IP and UDP.
var Networks = map[string]netsim.Path{
	"S1": {Rate: 100e6, Delay: 25 * time.Millisecond, Queue: 1 << 20, Overhead: 28},
	"S2": {Rate: 10e6, Delay: 25 * time.Millisecond, Queue: 256 << 10, Overhead: 28},
	"S3": {Rate: 1e6, Delay: 50 * time.Millisecond, Queue: 64 << 10, Overhead: 28},
	"S4": {Delay: 25 * time.Millisecond, Overhead: 28},
}

// Cells are those of the tables, in their order.
var Cells = []Cell{
	{"S1", 0}, {"S1", 1}, {"S1", 5}, {"S1", 20},
	{"S2", 0}, {"S2", 1}, {"S2", 5}, {"S2", 20},
	{"S3", 0}, {"S3", 1}, {"S3", 5},
	{"S4", 0}, {"S4", 1}, {"S4", 5}, {"S4", 20}, {"S4", 50},
}

// Cell is one network at one rate of loss, the same in each direction.
type Cell struct {
	Network string
	Loss    int // percent
}

func (c Cell) String() string { return fmt.Sprintf("%s %2d %%", c.Network, c.Loss) }

// Path returns the path of either direction.
func (c Cell) Path() netsim.Path { return Lossy(Networks[c.Network], c.Loss) }

// Scenario returns the transfer of a full chunk after so many others.
func (c Cell) Scenario(before int) Scenario {
	return Scenario{Down: c.Path(), Up: c.Path(), Before: before}
}

// Lossy returns the path with so many percent of loss.
func Lossy(p netsim.Path, percent int) netsim.Path {
	p.Loss = float64(percent)
	return p
}

// PathOf returns a path of this rate in bits a second, round trip and queue in bytes.
func PathOf(rate int64, rtt time.Duration, queue int) netsim.Path {
	return netsim.Path{Rate: rate, Delay: rtt / 2, Queue: queue, Overhead: 28}
}

// Late is S1 where so many percent of the datagrams are 10 ms late.
func Late(percent float64) netsim.Path {
	p := Networks["S1"]
	p.Reorder, p.ReorderDelay = percent, 10*time.Millisecond
	return p
}

// Doubled is S1 where so many percent of the datagrams come twice.
func Doubled(percent float64) netsim.Path {
	p := Networks["S1"]
	p.Duplicate = percent
	return p
}

// Both returns the transfer of a full chunk over a path that is the same in either
// direction.
func Both(p netsim.Path) Scenario { return Scenario{Down: p, Up: p} }

// Warm returns the scenario after another chunk.
func (s Scenario) Warm() Scenario {
	s.Before = 1
	return s
}

// Outage is a transfer over p with nothing but loss from one time to another.
func Outage(p netsim.Path, from, to time.Duration) Scenario {
	s, gone := Both(p), Lossy(p, 100)
	s.Changes = []Change{{from, gone, gone}, {to, p, p}}
	return s
}

// Jumping is S2 whose round trip becomes another in mid-transfer.
func Jumping(rtt time.Duration) Scenario {
	s := Both(Networks["S2"])
	longer := PathOf(10e6, rtt, 256<<10)
	s.Changes = []Change{{120 * time.Millisecond, longer, longer}}
	return s
}

// Dropping is a path whose rate falls to a tenth.
func Dropping(p netsim.Path, at time.Duration) Scenario {
	s, slower := Both(p), p
	slower.Rate /= 10
	s.Changes = []Change{{at, slower, p}}
	return s
}
