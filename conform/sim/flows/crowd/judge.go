package crowd

import (
	"fmt"
	"slices"

	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/core"
)

// What the judges allow.
const (
	mostLost    = 0.10 // of what is sent, dropped by the queue
	mostPoliced = 0.30 // of what is sent, dropped by a policer
	leastPlaces = 4    // of the queue for each flow, so that it is judged
	leastJain   = 0.80 // of flows that are alike
	leastSpeed  = 0.90 // of what the same flows have that begin when the path is good
	leastUse    = 0.60 // of the link, with a queue of a round trip, if nothing goes the other way
)

// Violation is what a judge found.
type Violation struct {
	Judge string // delivery, load, shares or speed
	Text  string
}

func (v *Violation) Error() string { return v.Judge + ": " + v.Text }

// together joins violations in one line.
func together(errs ...error) (all error) {
	for _, err := range errs {
		switch {
		case all == nil:
			all = err
		case err != nil:
			all = fmt.Errorf("%w; %w", all, err)
		}
	}
	return all
}

// finds returns a violation.
func finds(judge, format string, args ...any) error {
	return &Violation{judge, fmt.Sprintf(format, args...)}
}

// alive returns the flows that have not failed while the path was bad.
func (w *world) alive() (all []*flows.Flow) {
	for i, f := range w.ours {
		if !w.failed[i] {
			all = append(all, f.Flow)
		}
	}
	return all
}

// judge lets all judges look.
func (w *world) judge(log func(format string, args ...any)) error {
	end := w.from + lasts
	var load [2]flows.Figures
	for side := range load {
		load[side] = w.Figures(side, end-judged, end, w.alive()...)
		log("link %d, the last minute: %.2f %% lost, wait %.0f ms", side, 100*load[side].LostQueue, load[side].Wait.Mean)
	}
	last := w.Figures(flows.Down, end-late, end, w.alive()...)
	log("the last half minute: use %.3f, Jain %.3f, shares %v", last.Use, last.Jain, last.Shares)
	return together(w.judgeDelivery(), w.judgeLoad(flows.Down, load[0]), w.judgeLoad(flows.Up, load[1]), w.judgeShares(last), w.judgeSpeed(last, log))
}

// judgeDelivery: no flow fails on a good path, or hangs there.
func (w *world) judgeDelivery() error {
	for i, f := range w.ours {
		switch {
		case w.failed[i]:
			continue
		case f.Err() != nil:
			return finds("delivery", "flow %d failed on a good path: %v", i, f.Err())
		case !w.delivers(i):
			return finds("delivery", "flow %d has delivered no chunk for %d s", i, w.patience(i)/second)
		}
		w.counts[ByDelivery]++
	}
	return nil
}

// patience is how long a flow may take for a chunk: eight times its fair share's time.
func (w *world) patience(i int) core.Micros {
	rate := w.Good.Rate
	if w.Good.PoliceRate > 0 {
		rate = w.Good.PoliceRate
	}
	bits := int64(w.Ours[i].ChunkSize+full) * 8 * int64(w.Ours[i].Lanes*len(w.Ours))
	return 8*core.Micros(bits*int64(second)/rate) + 5*second + 2*w.Ours[i].Every
}

// delivers reports whether a flow has delivered lately.
func (w *world) delivers(i int) bool {
	since := w.from + lasts - w.patience(i)
	if since < w.from {
		return true // the path was not good for long enough to say
	}
	sides := []int{flows.Down}
	if w.Ours[i].BothWays {
		sides = append(sides, flows.Up)
	}
	for _, side := range sides {
		all := w.ours[i].Delivered(side)
		if len(all) == 0 || all[len(all)-1].Delivered < since {
			return false
		}
	}
	return true
}

// roomy reports whether the queue has room for all of ours.
func (w *world) roomy() bool { return w.Good.Queue >= leastPlaces*len(w.Ours)*full }

// judgeLoad: what is sent is not dropped in heaps.
func (w *world) judgeLoad(side int, f flows.Figures) error {
	if !w.roomy() || f.Total.Sent == 0 {
		return nil
	}
	w.counts[ByLoad]++
	lost := float64(f.Total.LostQueue) / float64(f.Total.Sent)
	policed := float64(f.Total.LostPolicer) / float64(f.Total.Sent)
	switch {
	case lost > mostLost:
		return finds("load", "the queue of link %d drops %.1f %% of what is sent", side, 100*lost)
	case policed > mostPoliced:
		return finds("load", "the policer of link %d drops %.1f %% of what is sent", side, 100*policed)
	}
	return nil
}

// judgeShares: flows that are alike get alike.
func (w *world) judgeShares(f flows.Figures) error {
	if !w.Alike || len(f.Shares) < 2 || w.Ours[0].Every > 0 || w.Good.PoliceRate > 0 || !w.roomy() {
		return nil
	}
	w.counts[ByShares]++
	if f.Jain < leastJain {
		return finds("shares", "%v: Jain's index is %.3f", f.Shares, f.Jain)
	}
	return nil
}

// judgeSpeed: what a path carries is used, and what was before is forgotten.
func (w *world) judgeSpeed(f flows.Figures, log func(format string, args ...any)) error {
	bytes := int(w.Good.Rate * int64(2*w.Good.Delay) / 8e9) // a round trip
	if !w.roomy() || !w.greedy(bytes+w.Good.Queue) {
		return nil
	}
	w.counts[BySpeed]++
	if w.steady() && w.Good.Queue >= bytes && f.Use < leastUse {
		return finds("speed", "use of the link is %.3f", f.Use)
	}
	if w.from == 0 {
		return nil
	}
	fresh, err := w.fresh()
	if err != nil {
		return err
	}
	log("use of flows that begin on the good path: %.3f", fresh)
	if f.Use < leastSpeed*fresh {
		return finds("speed", "use of the link is %.3f, that of flows that begin on the good path %.3f", f.Use, fresh)
	}
	return nil
}

// greedy reports whether a flow always has something to send.
func (w *world) greedy(bytes int) bool {
	for i, o := range w.Ours {
		if o.greedy(bytes) && !w.failed[i] {
			return true
		}
	}
	return false
}

// steady reports whether nothing but ours one way is on the good path.
func (w *world) steady() bool {
	return w.Good.Jitter == 0 && w.Good.PoliceRate == 0 && !slices.ContainsFunc(w.Ours, func(o Ours) bool { return o.BothWays })
}

// fresh returns the use of the link by the flows that are left, if they had begun when the
// path is good.
func (w *world) fresh() (float64, error) {
	s := &Scenario{Seed: w.Seed, Good: w.Good}
	for i, o := range w.Ours {
		if !w.failed[i] {
			o.Start = max(0, o.Start-w.from)
			s.Ours = append(s.Ours, o)
		}
	}
	again, err := s.world()
	if err != nil {
		return 0, err
	}
	again.World.Run(lasts)
	return again.Figures(flows.Down, lasts-late, lasts, again.Flows()...).Use, nil
}
