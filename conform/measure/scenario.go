package measure

import (
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
)

// FullChunk is what is sent in every measurement.
var FullChunk = func() []byte {
	b := make([]byte, codec.MaxChunkSize)
	for i := range b {
		b[i] = byte(i * 7 >> 3)
	}
	return b
}()

// Scenario is a transfer to measure.
type Scenario struct {
	Down, Up netsim.Path
	Before   int // full chunks that are sent before: 0 is cold, 1 warm
	Size     int // bytes; 0: a full chunk
	Changes  []Change
}

// Change sets both links anew in the middle of the transfer.
type Change struct {
	At       time.Duration
	Down, Up netsim.Path
}

// Figures sum up the transfers of one scenario.
type Figures struct {
	Median, P95, Max float64 // ms until delivered
	Bytes            float64 // both ways, over the chunk's size, median
	Failed           int
}

// Of returns a figure by its name: "median", "95th" or "bytes".
func (f Figures) Of(name string) float64 {
	return map[string]float64{"median": f.Median, "95th": f.P95, "bytes": f.Bytes}[name]
}

// Run transfers a chunk for every seed from 1 on.
func (s Scenario) Run(seeds int, scheme Scheme) Figures {
	type result struct{ ms, bytes float64 }
	results := Seeds(1, seeds, nil, func(seed uint64) result {
		ms, bytes := s.Transfer(seed, scheme)
		return result{ms, bytes}
	})
	var f Figures
	var times, bytes []float64
	for _, r := range results {
		if r.ms < 0 {
			f.Failed++
			continue
		}
		times = append(times, r.ms)
		bytes = append(bytes, r.bytes)
	}
	if f.Failed == seeds {
		f.Median, f.P95, f.Max, f.Bytes = -1, -1, -1, -1
		return f
	}
	took := Quantiles(times)
	f.Median, f.P95, f.Max = took.Median, took.P95, took.Max
	f.Bytes = Quantiles(bytes).Median
	return f
}

// Ends returns the two ends of a connection over links of their own.
func (s Scenario) Ends(seed uint64, scheme Scheme) Ends {
	return scheme(check.Must(netsim.NewLink(s.Down, 2*seed)), check.Must(netsim.NewLink(s.Up, 2*seed+1)))
}

// Transfer returns how long one transfer took, and its bytes both ways over the
// chunk's size; or -1 and 0 if it failed.
func (s Scenario) Transfer(seed uint64, scheme Scheme) (ms, bytes float64) {
	e := s.Ends(seed, scheme)
	if s.before(e) != nil {
		return -1, 0
	}
	size := s.Size
	if size == 0 {
		size = len(FullChunk)
	}
	before := OnTheWire(e)
	took, err := s.transfer(e, FullChunk[:size])
	if err != nil {
		return -1, 0
	}
	return float64(took.Delivered) / 1000, float64(OnTheWire(e)-before) / float64(size)
}

// before sends the chunks that are not measured.
func (s Scenario) before(e Ends) error {
	for range s.Before {
		if _, err := e.Transfer(FullChunk, Limit); err != nil {
			return err
		}
	}
	return nil
}

// transfer sends a chunk. The path changes on the way as the scenario says.
func (s Scenario) transfer(e Ends, data []byte) (chunk.Transfer, error) {
	down, up := e.Links()
	for _, to := range s.Changes {
		e.At(e.Now()+core.FromDuration(to.At), func() {
			_, _ = down.SetPath(to.Down), up.SetPath(to.Up) // they are valid
		})
	}
	return e.Transfer(data, Limit)
}

// OnTheWire counts the bytes both ways, with IP and UDP headers.
func OnTheWire(e Ends) int64 {
	l, r := e.Links()
	down, up := l.Stats(), r.Stats()
	return down.SentBytes + up.SentBytes + 28*(down.Sent+up.Sent)
}

// DelayOfOthers returns the mean time in the queue of a small datagram each 10 ms, during a
// transfer that nothing changes, in ms.
func (s Scenario) DelayOfOthers(scheme Scheme) float64 {
	e := s.Ends(1, scheme)
	_ = s.before(e)
	var sum time.Duration
	n := 0
	down, _ := e.Links()
	var other func()
	other = func() {
		now := e.Now()
		sum += down.Send(now.Duration(), 0).At(0) - now.Duration() - s.Down.Delay
		n++
		e.At(now+10*core.Millisecond, other)
	}
	e.At(e.Now(), other)
	_, _ = s.transfer(e, FullChunk)
	return float64(sum.Microseconds()) / 1000 / float64(n)
}

// Stream sends so many full chunks one after the other, each as soon as the sender has none,
// to an application that takes a while to read each. It returns the mean time of a chunk in
// ms, and the bytes as Figures do.
func (s Scenario) Stream(seed uint64, scheme Scheme, chunks int, read func(i int) core.Micros) (ms, bytes float64) {
	e := s.Ends(seed, scheme)
	sent, done, waits := 0, 0, false
	e.Run(Limit*core.Micros(chunks), func() bool {
		if !e.Sending() && sent < chunks && e.Submit(FullChunk) == nil {
			sent++
		}
		if e.Ready() && !waits {
			waits = true
			e.At(e.Now()+read(done), func() {
				_, _ = e.Read() // there is one
				waits = false
				done++
			})
		}
		return done == chunks
	})
	n := float64(chunks)
	return float64(e.Now()) / 1000 / n, float64(OnTheWire(e)) / n / float64(len(FullChunk))
}
