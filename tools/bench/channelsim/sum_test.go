package channelsim

import (
	"cmp"

	protocol "github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform/measure"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
)

// Figures sum up the runs of a workload with several seeds.
type Figures struct {
	Runs, Failed int
	Delay        measure.Quantile[core.Micros] // of a message, over all runs
	Last         measure.Quantile[core.Micros] // from the last send call until all were read, of each run
	Late         float64                       // share of the runs that took longer than 4 round trips for that
	Again        float64                       // records sent again, as a share of all that were sent
	Needless     float64                       // those sent although an earlier transmission arrives
	// Means of a run.
	Records, Reports           float64
	DatagramsDown, DatagramsUp float64
	BytesDown, BytesUp         float64 // without IP and UDP
	Refused                    float64
}

// Measure runs a workload with so many seeds, from the first one on. It returns the first error of a run with
// the figures of those that succeeded.
func Measure(w Workload, first uint64, seeds int) (Figures, error) {
	return sumUp(w, measure.Seeds(first, seeds, nil, func(seed uint64) result {
		run, err := w.Run(seed)
		return result{run, err}
	}))
}

// result is what became of a run.
type result struct {
	Run
	err error
}

func sumUp(w Workload, results []result) (f Figures, err error) {
	var delays, lasts []core.Micros
	var all Run
	for _, r := range results {
		if r.err != nil {
			f.Failed++
			err = cmp.Or(err, r.err)
			continue
		}
		f.Runs++
		if r.Last > 4*w.roundTrip() {
			f.Late++
		}
		delays, lasts = append(delays, r.Delays...), append(lasts, r.Last)
		all.add(r.Run)
	}
	f.Delay, f.Last = measure.Quantiles(delays).OrZero(), measure.Quantiles(lasts).OrZero()
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
