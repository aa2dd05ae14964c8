package tcp

// Ratio is a figure below 1, such as 7/10.
type Ratio struct{ Up, Down int64 }

func (r Ratio) of(x int64) int64 { return x * r.Up / r.Down }

// Control is how a window grows and shrinks.
type Control uint8

const (
	Reno  Control = iota // RFC 5681, 6582
	Cubic                // RFC 9438
)

// Start is how slow start ends before something is lost.
type Start uint8

const (
	Standard Start = iota // not at all
	HyStart               // RFC 9406
	hybrid                // that of quic-go
)

// Config is a bulk sender. The zero value of a field is what the RFCs recommend.
type Config struct {
	Control Control
	Start   Start
	Size    int   // bytes of a datagram with data; 0: 1038
	Total   int64 // datagrams to send; 0: without end
	Window  int   // datagrams of the first window; 0: 10 (RFC 6928)
	Beta    Ratio // what a loss leaves of the window; zero: 1/2, or 7/10 for Cubic
	Paced   bool  // at 2 and 6/5 windows a round trip, as Linux
}

// New returns the two ends of a flow of TCP.
func New(c Config) (*Sender, End) {
	c = c.withDefaults()
	return newSender(c), newReceiver()
}

func (c Config) withDefaults() Config {
	if c.Size == 0 {
		c.Size = dataSize
	}
	if c.Window == 0 {
		c.Window = 10
	}
	if c.Beta == (Ratio{}) {
		c.Beta = Ratio{1, 2}
		if c.Control == Cubic {
			c.Beta = Ratio{7, 10}
		}
	}
	return c
}

func (c Config) window() window {
	if c.Control == Cubic {
		return newCubic(c)
	}
	return &reno{newLoss(c)}
}

func (c Config) start() slowStart {
	if c.Start == HyStart {
		return newHystart()
	}
	return standard{}
}
