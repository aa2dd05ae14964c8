package bench

import (
	"fmt"
	"time"

	"github.com/chunkwire/chunkwire/netsim"
)

// overhead is what IPv4 and UDP add to each datagram, in bytes.
const overhead = 28

// Cell is a network on which transfers are measured. Zero values are a perfect
// wire.
type Cell struct {
	Network string        // its name in tables
	Rate    int64         // bits a second each way, 0 is unlimited
	RTT     time.Duration // without queues
	Queue   int           // bytes before the bottleneck, 0 is unlimited
	Loss    int           // percent, each way, behind the bottleneck
	AckLoss int           // percent, on the way back; 0 means the same as Loss
	Late    int           // percent of datagrams that are 10 ms late
	Doubled int           // percent of datagrams that arrive twice
}

// Networks are the four on which blocks are measured.
var Networks = []Cell{
	{Network: "S1", Rate: 100e6, RTT: 50 * time.Millisecond, Queue: 1 << 20},
	{Network: "S2", Rate: 10e6, RTT: 50 * time.Millisecond, Queue: 256 << 10},
	{Network: "S3", Rate: 1e6, RTT: 100 * time.Millisecond, Queue: 64 << 10},
	{Network: "S4", RTT: 50 * time.Millisecond},
}

// Grid returns the networks with the losses at which each is measured.
func Grid() (cells []Cell) {
	for _, n := range Networks {
		losses := []int{0, 1, 5, 20}
		switch n.Network {
		case "S3":
			losses = []int{0, 1, 5}
		case "S4":
			losses = append(losses, 50)
		}
		for _, loss := range losses {
			cells = append(cells, n.with(loss))
		}
	}
	return cells
}

// String names the cell as the tables do.
func (c Cell) String() string { return fmt.Sprintf("%s %d %%", c.Network, c.Loss) }

// with returns the cell with another loss.
func (c Cell) with(loss int) Cell {
	c.Loss = loss
	return c
}

// quiet returns the cell without any fault but its rate and delay.
func (c Cell) quiet() Cell {
	c.Loss, c.AckLoss, c.Late, c.Doubled = 0, 0, 0, 0
	return c
}

func (c Cell) down() netsim.Path {
	return netsim.Path{
		Delay: c.RTT / 2, Rate: c.Rate, Queue: c.Queue, Overhead: overhead,
		Loss: float64(c.Loss), Duplicate: float64(c.Doubled),
		Reorder: float64(c.Late), ReorderDelay: 10 * time.Millisecond,
	}
}

func (c Cell) up() netsim.Path {
	back := c
	if c.AckLoss != 0 {
		back.Loss = c.AckLoss
	}
	p := back.down()
	p.Delay = c.RTT - c.RTT/2
	return p
}
