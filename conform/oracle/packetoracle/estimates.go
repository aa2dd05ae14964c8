package packetoracle

import (
	"math/big"
	"slices"
)

// The constants of section 8.
const (
	LongestSample = 1 << 40
	MinRTTPeriod  = 5_000_000
	Shown         = 512
	LongestShown  = 1 << 26

	second       = 1_000_000
	wholeSeconds = 10
)

// Estimates are what an endpoint knows of its path (section 8). What is unknown is 0.
type Estimates struct {
	Measured                     bool
	SRTT, Jitter, Latest, MinRTT int64
	Patience                     int64
	Settled, Lost                int64
	Sent, Received, Acked        int64 // bits a second
	Shown                        Figures
	Silent                       bool
}

// Figures are those of PKE-6.
type Figures struct {
	Count, Min, Max, Avg            int64
	JitterAvg, JitterMax, JitterDev int64
}

// What is counted in the last ten whole seconds.
const (
	countSent = iota
	countReceived
	countAcked
	countSettled
	countLost
)

// path is the variables of section 8: everything that happened is kept.
type path struct {
	samples     []sample
	srtt        int64
	jitter      int64
	patience    int64
	decayed     int64 // the second up to which patience has fallen
	latencies   []int64
	counted     []counted
	newestAcked int64
	newestLost  int64
}

type sample struct{ at, r int64 }

type counted struct{ second, what, n int64 }

func (p *path) count(now int64, what int64, n int) {
	p.counted = append(p.counted, counted{now / second, what, int64(n)})
}

// sum is over the ten seconds before the one of now (PKE-9).
func (p *path) sum(now int64, what int64) (sum int64) {
	for _, c := range p.counted {
		if c.what == what && c.second >= now/second-wholeSeconds && c.second < now/second {
			sum += c.n
		}
	}
	return sum
}

// sample is PKE-2.
func (p *path) sample(now, r int64) {
	if len(p.samples) == 0 {
		p.srtt, p.jitter = r, 0
	} else {
		distance := r - p.srtt
		if distance < 0 {
			distance = -distance
		}
		p.jitter += (distance - p.jitter) / 16
		p.srtt += (r - p.srtt) / 10
	}
	p.samples = append(p.samples, sample{now, r})
}

// minRTT is PKE-3.
func (p *path) minRTT() int64 {
	var began int64
	var periods [][]int64
	for i, s := range p.samples {
		if i == 0 || s.at-began >= MinRTTPeriod {
			began = s.at
			periods = append(periods, nil)
		}
		last := len(periods) - 1
		periods[last] = append(periods[last], s.r)
	}
	if len(periods) == 0 {
		return 0
	}
	return slices.Min(slices.Concat(periods[max(0, len(periods)-2):]...))
}

// decay lets patience fall at the end of each second (PKE-4).
func (p *path) decay(now int64) {
	for ; p.decayed < now/second && p.patience/16 > 0; p.decayed++ {
		p.patience -= p.patience / 16
	}
	p.decayed = now / second
}

// latency is SAMPLE, for a number that takes L1 or L3: is it the ack's own, and which was
// the newest number acked before this packet.
func (p *path) latency(now int64, s *sent, own bool, before int64) {
	r := min(now-s.at, LongestSample)
	p.latencies = append(p.latencies, min(r, LongestShown))
	if own {
		p.sample(now, r)
	}
	if before >= s.number+2 {
		p.decay(now)
		p.patience = max(p.patience, min(r*9/8, p.srtt*3/2))
	}
}

// Estimates returns what is known at the time of the latest event.
func (e *Endpoint) Estimates() Estimates {
	p := &e.path
	p.decay(e.now)
	known := Estimates{
		Measured: len(p.samples) > 0, SRTT: p.srtt, Jitter: p.jitter, MinRTT: p.minRTT(), Patience: p.patience,
		Settled: p.sum(e.now, countSettled), Lost: p.sum(e.now, countLost),
		Sent: p.sum(e.now, countSent) * 8 / 10, Received: p.sum(e.now, countReceived) * 8 / 10, Acked: p.sum(e.now, countAcked) * 8 / 10,
		Shown: figures(p.latencies), Silent: p.newestLost > p.newestAcked,
	}
	if known.Measured {
		known.Latest = p.samples[len(p.samples)-1].r
	}
	return known
}

// figures is PKE-6.
func figures(latencies []int64) (f Figures) {
	list := latencies[max(0, len(latencies)-Shown):]
	if len(list) == 0 {
		return f
	}
	n := int64(len(list))
	f.Count, f.Min, f.Max = n, slices.Min(list), slices.Max(list)
	f.JitterMax = f.Max - f.Min
	var sum, above int64
	for _, r := range list {
		sum += r
		above += r - f.Min
	}
	f.Avg, f.JitterAvg = sum/n, above/n
	squares := new(big.Int)
	for _, r := range list {
		d := big.NewInt(r - f.Avg)
		squares.Add(squares, d.Mul(d, d))
	}
	f.JitterDev = squares.Sqrt(squares.Quo(squares, big.NewInt(n))).Int64()
	return f
}
