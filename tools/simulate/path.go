package simulate

import (
	"errors"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/netsim"
)

// Path is a network that is the same each way.
type Path struct {
	RTT, Jitter              time.Duration
	Loss, Duplicate, Reorder float64 // percent, each way
	Rate                     int64   // bits a second, 0 for unlimited
	Queue                    int64   // bytes, 0 for unlimited
}

// MaxDelay is the longest delay that a path may have.
const MaxDelay = 24 * time.Hour

// Check returns why the path is bad, in the words of the command's flags.
func (p Path) Check() error {
	switch {
	case p.RTT < 0 || p.RTT > MaxDelay:
		return errors.New("--rtt must be 0 to 24h")
	case p.Jitter < 0 || p.Jitter > MaxDelay:
		return errors.New("--jitter must be 0 to 24h")
	case p.Queue > 0 && p.Rate == 0:
		return errors.New("--queue needs --rate: an unlimited link has no queue")
	}
	return p.OneWay().Validate()
}

// OneWay is the path in either direction. Every datagram costs 28 bytes more, for IP and UDP.
func (p Path) OneWay() netsim.Path {
	return netsim.Path{
		Delay: p.RTT / 2, Jitter: p.Jitter,
		Loss: p.Loss, Duplicate: p.Duplicate,
		Reorder: p.Reorder, ReorderDelay: 10 * time.Millisecond,
		Rate: p.Rate, Queue: int(p.Queue), Overhead: codec.HeaderBytes,
	}
}

// PathReport is what reports say of the network.
type PathReport struct {
	RTTms            float64 `json:"rtt_ms"`
	JitterMS         float64 `json:"jitter_ms"`
	LossPercent      float64 `json:"loss_percent"`
	DuplicatePercent float64 `json:"duplicate_percent"`
	ReorderPercent   float64 `json:"reorder_percent"`
	RateBits         int64   `json:"rate_bits"`
	QueueBytes       int64   `json:"queue_bytes"`
}

// Report returns the report of the path.
func (p Path) Report() PathReport {
	return PathReport{milliseconds(p.RTT), milliseconds(p.Jitter), p.Loss, p.Duplicate, p.Reorder, p.Rate, p.Queue}
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }
