package chunksim

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/adaptive"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
	"github.com/chunkwire/chunkwire/statemachine/schedule/rateless"
)

// pace is how a sender is set up, and what its judge allows.
type pace struct {
	chunk.Pace
	rate      int64                                  // bytes a second; 0: no limit
	scheduler func() (statemachine.Scheduler, error) // a new one for each sender
}

// slowest is the lowest rate that is drawn, in bytes a second: so slow that a slice takes a quarter of a second, but less
// than any GIVE_UP.
const slowest = 4_000

// drawRate draws a rate in bits a second, or 0.
func (w *world) drawRate() int64 {
	if w.OneIn(6) {
		return 0
	}
	return 8 * w.Spread(slowest, 20_000_000)
}

// drawPace draws a profile of one of the schedulers. Half of those that find a rate themselves have a limit.
func (w *world) drawPace() pace {
	limit := int64(0)
	if w.OneIn(2) {
		limit = w.drawRate()
	}
	fixed := max(w.drawRate(), 8*slowest)
	switch {
	case w.kind == codec.Repair:
		p := [...]rateless.Profile{rateless.Default(), rateless.Default(), rateless.Redundant(), rateless.Burst(), rateless.Fixed(fixed)}[w.IntN(5)]
		if p.MaxRate == 0 {
			p.MaxRate = limit
		}
		return pace{chunk.RatelessPace(p), p.MaxRate / 8, func() (statemachine.Scheduler, error) { return rateless.New(p) }}
	case w.OneIn(2):
		p := [...]adaptive.Profile{adaptive.Adaptive(), adaptive.Adaptive(), adaptive.Burst(), adaptive.Redundant(), adaptive.Fixed(fixed)}[w.IntN(5)]
		if p.MaxRate == 0 {
			p.MaxRate = limit
		}
		return pace{chunk.AdaptivePace(p), p.MaxRate / 8, func() (statemachine.Scheduler, error) { return adaptive.New(p) }}
	}
	rate := w.drawRate()
	p := [...]base.Profile{base.Burst(), base.Burst(), base.Fixed(rate), base.Article(rate), w.anyProfile(rate)}[w.IntN(5)]
	return pace{chunk.BasePace(p), p.Rate / 8, func() (statemachine.Scheduler, error) { return base.New(p) }}
}

// anyProfile draws any figures that BUD-1 allows.
func (w *world) anyProfile(rate int64) base.Profile {
	p := base.Profile{Name: "drawn", Rate: rate, Cap: w.Spread(1_066, 300_000), AckPays: w.OneIn(2), Spacing: core.Micros(w.Spread(1, 2_000))}
	p.Burst = int64(w.Between(0, int(p.Cap)))
	return p
}
