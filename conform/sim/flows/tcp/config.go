package tcp

import (
	"cmp"

	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/core"
)

// Ratio is a figure below 1, such as 7/10.
type Ratio struct{ Up, Down int64 }

func (r Ratio) of(x int64) int64 { return x * r.Up / r.Down }

// Model is what a sender behaves like.
type Model uint8

const (
	NewReno Model = iota // TCP with the window of RFC 5681
	Cubic                // TCP with the window of RFC 9438
	QuicGo               // quic-go, which is NewReno with a beta of 7/10, pacing and hybrid slow start
	Turbo                // kcp-go with NoDelay(1, 10, 2, 1): a window of 1024 without congestion control
	BBR                  // TCP with BBR's first version, as far as bbr.go goes
)

// String returns the model's name.
func (m Model) String() string {
	return [...]string{"NewReno", "CUBIC", "quic-go", "kcp-go turbo", "BBR"}[m]
}

// Config is a bulk sender. The zero value of a field is what the RFCs recommend, or the
// project that a model is of. HyStart and Paced are for TCP alone; Turbo has no window and no
// beta to set.
type Config struct {
	Model   Model
	HyStart bool  // slow start ends when the round trip rises (RFC 9406)
	Paced   bool  // at 2 and 6/5 windows a round trip, as Linux
	Size    int   // bytes of a datagram with data; 0: 1038, or 1280 for QuicGo
	Window  int   // datagrams of the first window; 0: 10 (RFC 6928), or 32 for QuicGo
	Beta    Ratio // what a loss leaves of the window; zero: 1/2, or 7/10 for Cubic and QuicGo
	Total   int64 // datagrams to send; 0: without end
	// Start and Stop are when the application begins, and when it is gone, which only the
	// sender knows. Stop 0: never.
	Start, Stop core.Micros
}

// New returns the two ends of a flow.
func New(c Config) (sends, receives flows.End) {
	c = c.withDefaults()
	switch c.Model {
	case QuicGo:
		return c.during(newQuicSender(c)), newQuicReceiver()
	case Turbo:
		return c.during(newTurboSender(c)), newTurboReceiver()
	}
	return c.during(newSender(c)), newReceiver()
}

// during returns a sender that is active from Start to Stop.
func (c *Config) during(sender flows.End) flows.End {
	return &during{End: sender, start: c.Start, stop: c.Stop}
}

// usual are the figures of each model.
var usual = [...]Config{
	NewReno: {Size: dataSize, Window: 10, Beta: Ratio{1, 2}},
	Cubic:   {Size: dataSize, Window: 10, Beta: Ratio{7, 10}},
	QuicGo:  {Size: 1280, Window: 32, Beta: Ratio{7, 10}},
	Turbo:   {Size: dataSize},
	BBR:     {Size: dataSize, Window: 10, Paced: true},
}

func (c Config) withDefaults() Config {
	u := usual[c.Model]
	c.Size = cmp.Or(c.Size, u.Size)
	c.Window = cmp.Or(c.Window, u.Window)
	c.Beta = cmp.Or(c.Beta, u.Beta)
	c.Paced = c.Paced || u.Paced
	c.Stop = cmp.Or(c.Stop, core.Never)
	return c
}

func (c Config) window() window {
	switch c.Model {
	case Cubic:
		return newCubic(c)
	case BBR:
		return newBBR(c)
	}
	return &reno{newLoss(c)}
}

func (c Config) start() slowStart {
	if c.HyStart {
		return newHystart()
	}
	return standard{}
}
