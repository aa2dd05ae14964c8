package statemachine

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/codec"
)

// budgetIsNotExceeded: in any window of time no more is sent than the cap and what
// is paid in it (SCH-4, BUD-2): by time at the regular rate, by the burst of each
// chunk that begins (BUD-5), and if acks pay by what they tell of, less what time
// has paid since the last of them, of which the cap is counted at most (BUD-3,
// BUD-6). Bytes are counted in millionths.
//
// A window from i to j is exceeded if spent(j) - paid(j) is more than the cap
// above spent(i) - paid(i), so it is enough to keep the smallest of the latter.
func budgetIsNotExceeded() property {
	var spent, paid, byTime int64
	var acked codec.Bitset
	var at Micros
	smallest := int64(0)
	return func(w *world, m moment) {
		w.Helper()
		p := w.profile
		if p.Rate == 0 {
			return
		}
		earned := p.Rate * int64(w.now-at)
		at, paid, byTime = w.now, paid+earned, min(byTime+earned, p.Cap*perByte)
		switch m.kind {
		case submitted:
			paid, byTime, acked = paid+p.Burst*perByte, 0, codec.Bitset{}
		case ackTaken:
			news := w.sender.Acked().Minus(acked)
			if acked = w.sender.Acked(); p.AckPays && !news.Empty() {
				paid += max(0, costOfAll(news, w.submitted[len(w.submitted)-1])*perByte-byTime)
				byTime = 0
			}
		case sliceOut:
			smallest = min(smallest, spent-paid)
			spent += costOf(m.slice.SliceID, m.slice.NumSlices, len(m.slice.Data)) * perByte
			if over := spent - paid - smallest - p.Cap*perByte; over > 0 {
				w.Fatalf("budget (SCH-4, BUD-2): a window that ends at %d has %d bytes too many", w.now, (over+perByte-1)/perByte)
			}
		}
	}
}

// costOf is what a slice costs, by the table of section 5 and BUD-2.
func costOf(id, numSlices, bytes int) int64 {
	if id == numSlices-1 {
		return int64(14+bytes) + 28
	}
	return 1037 + 28
}

// costOfAll is what some slices of a chunk cost.
func costOfAll(some codec.Bitset, chunk []byte) (cost int64) {
	for _, s := range slicesOf(0, chunk) {
		if some.Has(s.SliceID) {
			cost += costOf(s.SliceID, s.NumSlices, len(s.Data))
		}
	}
	return cost
}

// The budget is never exceeded in any window (SCH-4, BUD-2, BUD-3, BUD-6), whatever is
// lost, at any rate.
func TestBudgetIsNeverExceededInAnyWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		p := rapid.SampledFrom([]Profile{
			Fixed(rapid.Int64Range(MinRate, 400_000).Draw(t, "rate")),
			Burst(),
			{Rate: 50_000, Cap: 9000, Burst: 5000, AckPays: true, Spacing: 700},
		}).Draw(t, "budget")
		w.profile = p.withinLimits()
		w.sender.sched = NewBase(p)
		w.watch(budgetIsNotExceeded)
		w.run(t)
	})
}

// Spacing holds in any window, too, but for the 20 ms that a driver who comes late
// may make up for (SPC-1, SPC-2).
func TestSpacingHoldsInAnyWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spacing := Micros(rapid.Int64Range(1, 5000).Draw(t, "spacing"))
		base := NewBase(Profile{Spacing: spacing})
		base.Begin(Flight{NumSlices: codec.MaxSlices, LastBytes: codec.SliceSize})
		now, last, ahead := Micros(0), Micros(0), Micros(0) // ahead of what spacing asks for
		for range rapid.IntRange(1, 30).Draw(t, "polls") {
			now += Micros(rapid.SampledFrom([]int64{0, 1, 900, 19_000, 70_000}).Draw(t, "later"))
			for _, ok := base.Next(now); ok; _, ok = base.Next(now) {
				ahead, last = max(0, ahead-(now-last))+spacing, now
				if ahead > catchUp+spacing {
					t.Fatalf("spacing (SPC-2): the slices until %d are %d us too early", now, ahead-catchUp-spacing)
				}
			}
		}
	})
}
