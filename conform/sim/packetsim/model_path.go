package packetsim

import (
	"math/big"

	"github.com/chunkwire/chunkwire/core"
	protocol "github.com/chunkwire/chunkwire/packet"
)

// modelPath is all that was ever measured of a path (section 8). Every figure is computed
// from these lists.
type modelPath struct {
	samples               []sampled
	latencies             []core.Micros
	settled               []settled
	sent, received, acked []counted
	patience, patienceAt  core.Micros // and when it was so
}

type sampled struct{ at, r core.Micros }

type settled struct {
	at   core.Micros
	lost bool
}

type counted struct {
	at    core.Micros
	bytes int
}

// smoothed returns srtt and jitter (PKE-2).
func (p *modelPath) smoothed() (srtt, jitter core.Micros) {
	for i, s := range p.samples {
		if i == 0 {
			srtt, jitter = s.r, 0
			continue
		}
		distance := s.r - srtt
		if distance < 0 {
			distance = -distance
		}
		jitter += (distance - jitter) / 16
		srtt += (s.r - srtt) / 10
	}
	return srtt, jitter
}

func (p *modelPath) srtt() core.Micros {
	srtt, _ := p.smoothed()
	return srtt
}

// minRTT is PKE-3.
func (p *modelPath) minRTT() core.Micros {
	var periods [][]sampled
	for _, s := range p.samples {
		last := len(periods) - 1
		if last < 0 || s.at-periods[last][0].at >= 5*core.Second {
			periods = append(periods, []sampled{s})
		} else {
			periods[last] = append(periods[last], s)
		}
	}
	least := core.Never
	for i := max(0, len(periods)-2); i < len(periods); i++ {
		for _, s := range periods[i] {
			least = min(least, s.r)
		}
	}
	if least == core.Never {
		return 0
	}
	return least
}

// overtook is PKE-4. Its sample has been taken.
func (p *modelPath) overtook(now, latency core.Micros) {
	p.patience = max(p.patienceOf(now), min(latency*9/8, p.srtt()*3/2))
	p.patienceAt = now
}

// patienceOf lets patience fall at the end of each second up to now.
func (p *modelPath) patienceOf(now core.Micros) core.Micros {
	patience := p.patience
	for second := p.patienceAt/core.Second + 1; second <= now/core.Second; second++ {
		if patience/16 == 0 {
			break
		}
		patience -= patience / 16
	}
	return patience
}

// lately reports whether a time is in the last ten whole seconds (PKE-9).
func lately(at, now core.Micros) bool {
	second, this := at/core.Second, now/core.Second
	return second >= this-10 && second < this
}

// rate is PKE-7.
func rate(list []counted, now core.Micros) (bits int64) {
	for _, c := range list {
		if lately(c.at, now) {
			bits += int64(c.bytes) * 8
		}
	}
	return bits / 10
}

// Estimates is what section 8 says at now.
func (m *Model) Estimates(now core.Micros) protocol.Estimates {
	m.now = max(m.now, now)
	p := &m.path
	e := protocol.Estimates{
		Measured: len(p.samples) > 0, MinRTT: p.minRTT(), Patience: p.patienceOf(m.now),
		SentRate: rate(p.sent, m.now), ReceivedRate: rate(p.received, m.now), AckedRate: rate(p.acked, m.now),
	}
	e.SRTT, e.Jitter = p.smoothed()
	if e.Measured {
		e.Latest = p.samples[len(p.samples)-1].r
	}
	for _, s := range p.settled {
		if lately(s.at, m.now) {
			e.Settled++
			if s.lost {
				e.Lost++
			}
		}
	}
	return e
}

// Samples is PKE-6.
func (m *Model) Samples() (s protocol.Samples) {
	last := m.path.latencies[max(0, len(m.path.latencies)-512):]
	if len(last) == 0 {
		return s
	}
	shown := func(r core.Micros) core.Micros { return min(r, 1<<26) }
	sum, above := core.Micros(0), core.Micros(0)
	s.Count, s.Min = len(last), core.Never
	for _, r := range last {
		sum += shown(r)
		s.Min, s.Max = min(s.Min, shown(r)), max(s.Max, shown(r))
	}
	n := core.Micros(len(last))
	s.Avg = sum / n
	squares := new(big.Int)
	for _, r := range last {
		above += shown(r) - s.Min
		d := big.NewInt(int64(shown(r) - s.Avg))
		squares.Add(squares, d.Mul(d, d))
	}
	s.JitterAvg, s.JitterMax = above/n, s.Max-s.Min
	s.JitterDev = core.Micros(squares.Sqrt(squares.Div(squares, big.NewInt(int64(n)))).Int64())
	return s
}
