package channel

import (
	"runtime"
	"slices"
	"sync"

	protocol "github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
)

// Figures sum up the runs of a workload with several seeds.
type Figures struct {
	Runs, Failed int
	Delay        Quantiles // of a message, over all runs
	Last         Quantiles // from the last send call until all were read, of each run
	Late         float64   // share of the runs that took longer than 4 round trips for that
	Again        float64   // records sent again, as a share of all that were sent
	Needless     float64   // those sent although an earlier transmission arrives
	// Means of a run.
	Records, Reports           float64
	DatagramsDown, DatagramsUp float64
	BytesDown, BytesUp         float64 // without IP and UDP
	Refused                    float64
}

// Quantiles are figures of a set of times, by nearest rank.
type Quantiles struct{ Median, P95, Max core.Micros }

// QuantilesOf sorts times and returns their figures; all are 0 if there are none.
func QuantilesOf(times []core.Micros) Quantiles {
	if len(times) == 0 {
		return Quantiles{}
	}
	slices.Sort(times)
	rank := func(percent int) core.Micros { return times[(len(times)*percent+99)/100-1] }
	return Quantiles{rank(50), rank(95), rank(100)}
}

// Measure runs a workload with so many seeds, from the first one on, as many at once as there
// are processors. After each run it calls done, unless that is nil; when done returns false
// no more begin. It returns the first error of a run with a figure of what succeeded.
func Measure(w Workload, first uint64, seeds int, done func() bool) (Figures, error) {
	runs, errs := make([]Run, seeds), make([]error, seeds)
	var mu sync.Mutex
	var workers sync.WaitGroup
	next, stopped := 0, false
	take := func() (i int, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		i, ok = next, next < seeds && !stopped
		next++
		return i, ok
	}
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				runs[i], errs[i] = w.Run(first + uint64(i))
				mu.Lock()
				if done != nil && !done() {
					stopped = true
				}
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	return sumUp(w, runs, errs)
}

// sumUp returns the figures of runs; one without delays was not begun.
func sumUp(w Workload, runs []Run, errs []error) (f Figures, err error) {
	var delays, lasts []core.Micros
	var all Run
	for i, r := range runs {
		switch {
		case errs[i] != nil:
			f.Failed++
			if err == nil {
				err = errs[i]
			}
			continue
		case len(r.Delays) == 0:
			continue
		}
		f.Runs++
		if r.Last > 4*w.roundTrip() {
			f.Late++
		}
		delays, lasts = append(delays, r.Delays...), append(lasts, r.Last)
		all.add(r)
	}
	f.Delay, f.Last = QuantilesOf(delays), QuantilesOf(lasts)
	if all.Records > 0 {
		f.Again, f.Needless = float64(all.Again)/float64(all.Records), float64(all.Needless)/float64(all.Records)
	}
	f.Late /= float64(max(f.Runs, 1))
	mean := func(n int64) float64 { return float64(n) / float64(max(f.Runs, 1)) }
	f.Records, f.Reports, f.Refused = mean(all.Records), mean(all.Reports), mean(all.Refused)
	f.DatagramsDown, f.DatagramsUp = mean(all.Datagrams[0]), mean(all.Datagrams[1])
	f.BytesDown, f.BytesUp = mean(all.Bytes[0]), mean(all.Bytes[1])
	return f, err
}

// roundTrip returns that of the paths, without what chance adds.
func (w *Workload) roundTrip() core.Micros {
	return core.FromDuration(w.Down.Delay + w.Up.Delay)
}

// add adds the counts of another run.
func (r *Run) add(o Run) {
	r.Records += o.Records
	r.Again += o.Again
	r.Needless += o.Needless
	r.Reports += o.Reports
	r.Refused += o.Refused
	for i := range r.Datagrams {
		r.Datagrams[i] += o.Datagrams[i]
		r.Bytes[i] += o.Bytes[i]
	}
}

// Game is the workload of the specification's figures: 64 messages of 64 bytes a frame at 60
// frames a second, 4,096 of them, over this path each way.
func Game(kind protocol.Kind, window int, path netsim.Path) Workload {
	return Workload{
		Channel: protocol.Config{Kind: kind, Format: protocol.Format{Window: window}},
		Frames:  64, PerFrame: 64, Size: 64, Frame: core.Second / 60,
		Down: path, Up: path, Limit: 60 * core.Second,
	}
}
