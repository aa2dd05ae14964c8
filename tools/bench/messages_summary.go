package bench

import (
	"cmp"
	"slices"
	"time"
)

// MessageFigures are what many runs took.
type MessageFigures struct {
	Ordered bool // messages are delivered in the order in which they were sent
	// Delays are the 1st to the 99th percentile of the delays of all messages of all
	// runs.
	Delays []time.Duration
	Median Spread  // of the delays of a run
	P95    Spread  // the same, the 95th percentile
	Last   Spread  // from the last frame of a run until the client has all
	Again  float64 // median of what a run sent again, over what it sent first
}

// Spread is what a figure was in many runs.
type Spread struct{ Median, Least, Most time.Duration }

// summarizeMessages sums up runs. One that failed is counted and has no figures.
func summarizeMessages(runs []MessageRun, ordered bool) (Summary, *MessageFigures) {
	s := Summary{Runs: len(runs)}
	runs = slices.DeleteFunc(slices.Clone(runs), func(r MessageRun) bool { return r.Err != nil })
	s.Failed = s.Runs - len(runs)
	if len(runs) == 0 {
		return s, nil
	}
	var all []time.Duration
	for i := range runs {
		slices.Sort(runs[i].Delays)
		all = append(all, runs[i].Delays...)
	}
	slices.Sort(all)
	f := &MessageFigures{
		Ordered: ordered,
		Median:  spread(runs, func(r MessageRun) time.Duration { return quantile(r.Delays, 50) }),
		P95:     spread(runs, func(r MessageRun) time.Duration { return quantile(r.Delays, 95) }),
		Last:    spread(runs, func(r MessageRun) time.Duration { return r.Last }),
		Again:   quantile(each(runs, func(r MessageRun) float64 { return r.Again }), 50),
	}
	for percent := 1; percent < 100; percent++ {
		f.Delays = append(f.Delays, quantile(all, percent))
	}
	s.Median, s.P95, s.Max = quantile(all, 50), quantile(all, 95), all[len(all)-1]
	sent := quantile(each(runs, func(r MessageRun) int64 { return r.Bytes }), 50)
	s.Bytes = float64(sent) / MessageBytes
	return s, f
}

func spread(runs []MessageRun, of func(MessageRun) time.Duration) Spread {
	values := each(runs, of)
	return Spread{quantile(values, 50), values[0], values[len(values)-1]}
}

// each returns a value of each run, sorted.
func each[T cmp.Ordered](runs []MessageRun, of func(MessageRun) T) (values []T) {
	for _, r := range runs {
		values = append(values, of(r))
	}
	slices.Sort(values)
	return values
}
