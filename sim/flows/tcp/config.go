package tcp

import (
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/sim/flows"
)

// Ratio is a figure below 1, such as 7/10.
type Ratio struct{ Up, Down int64 }

func (r Ratio) of(x int64) int64 { return x * r.Up / r.Down }

// Model is what a sender behaves like.
type Model uint8

const (
	NewReno Model = iota // TCP with the window of RFC 5681
	Cubic                // TCP with the window of RFC 9438
)

// Config is a bulk sender. The zero value of a field is what the RFCs recommend.
type Config struct {
	Model   Model
	HyStart bool  // slow start ends when the round trip rises (RFC 9406)
	Paced   bool  // at 2 and 6/5 windows a round trip, as Linux
	Size    int   // bytes of a datagram with data; 0: 1038
	Window  int   // datagrams of the first window; 0: 10 (RFC 6928)
	Beta    Ratio // what a loss leaves of the window; zero: 1/2, or 7/10 for Cubic
	Total   int64 // datagrams to send; 0: without end
	// Start and Stop are when the application begins, and when it is gone, which only the
	// sender knows. Stop 0: never.
	Start, Stop machine.Micros
}

// New returns the two ends of a flow of TCP.
func New(c Config) (sends, receives flows.End) {
	c = c.withDefaults()
	return c.during(newSender(c)), newReceiver()
}

// during returns a sender that is active from Start to Stop.
func (c *Config) during(sender flows.End) flows.End {
	return &during{sender, c.Start, c.Stop}
}

func (c Config) withDefaults() Config {
	if c.Size == 0 {
		c.Size = dataSize
	}
	if c.Stop == 0 {
		c.Stop = machine.Never
	}
	if c.Window == 0 {
		c.Window = 10
	}
	if c.Beta == (Ratio{}) {
		c.Beta = Ratio{1, 2}
		if c.Model == Cubic {
			c.Beta = Ratio{7, 10}
		}
	}
	return c
}

func (c Config) window() window {
	if c.Model == Cubic {
		return newCubic(c)
	}
	return &reno{newLoss(c)}
}

func (c Config) start() slowStart {
	if c.HyStart {
		return newHystart()
	}
	return standard{}
}
