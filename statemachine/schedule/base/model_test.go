package base_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
)

func drawProfile(t *rapid.T) base.Profile {
	return rapid.SampledFrom([]base.Profile{
		base.Burst(), base.Fixed(0), base.Fixed(480_000), base.Fixed(16_000_000), base.Article(2_400_000),
		{Rate: 400_000, Cap: 9000, Burst: 5000, AckPays: true, Spacing: 700},
	}).Draw(t, "profile")
}

// twins are a scheduler and its model.
type twins struct {
	*rapid.T
	base          *base.Scheduler
	model         *chunk.BaseModel
	unacked, sent core.Set
	now           core.Micros
}

// Whatever is acked or held, whenever it is asked, the scheduler answers what its
// model does (section 9, SCH-11).
func TestBaseDoesWhatItsModelDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t)
		w := &twins{T: t, base: check.Must(base.New(p)), model: chunk.NewBaseModel(p)}
		w.now = core.Micros(rapid.Int64Range(0, 1000).Draw(t, "start"))
		roundTrip := core.Micros(rapid.SampledFrom([]int64{30, 2000, 50_000, 600_000}).Draw(t, "round trip"))
		for range 3 {
			w.begin()
			for range rapid.IntRange(1, 60).Draw(t, "steps") {
				w.pass(roundTrip)
				w.hear()
				w.ask()
			}
		}
	})
}

func (w *twins) begin() {
	n := rapid.IntRange(1, 40).Draw(w.T, "slices")
	last := 14 + rapid.SampledFrom([]int{1, 500, 1024}).Draw(w.T, "last slice")
	w.unacked, w.sent = core.FirstN(n), core.Set{}
	for _, s := range []statemachine.Scheduler{w.base, w.model} {
		s.Begin(statemachine.Flight{Now: w.now, NumSlices: n, Bytes: 1037, LastBytes: last})
	}
}

// pass lets time go by.
func (w *twins) pass(roundTrip core.Micros) {
	switch rapid.IntRange(0, 5).Draw(w.T, "time") {
	case 0:
	case 1:
		w.now++
	case 2:
		w.now += roundTrip / 2
	case 3:
		w.now += roundTrip + 3*ms
	default:
		if d := w.base.Deadline(); d != core.Never {
			w.now = max(w.now, d-core.Micros(rapid.IntRange(0, 1).Draw(w.T, "early")))
		}
	}
}

// hear may give both newly acked slices, or a hold.
func (w *twins) hear() {
	var news core.Set
	if rapid.IntRange(0, 2).Draw(w.T, "ack") == 0 {
		for id := range w.sent.Intersect(w.unacked).All() {
			if rapid.IntRange(0, 3).Draw(w.T, "acked") == 0 {
				news.Add(id)
			}
		}
	}
	untouched := w.unacked == w.unacked.Union(w.sent)
	hold := untouched && rapid.IntRange(0, 5).Draw(w.T, "hold") == 0
	for _, s := range []statemachine.Scheduler{w.base, w.model} {
		if hold {
			s.Held(w.now)
		}
		if !news.Empty() {
			s.Acked(w.now, statemachine.Progress{News: news})
		}
	}
	w.unacked = w.unacked.Minus(news)
}

// ask asks both for slices and compares all that they return.
func (w *twins) ask() {
	for range rapid.SampledFrom([]int{0, 1, 2, 1000}).Draw(w.T, "asked") {
		got, ok := w.base.Next(w.now)
		if want, wantOK := w.model.Next(w.now); got != want || ok != wantOK {
			w.Fatalf("at %d: slice %d %v, want %d %v", w.now, got, ok, want, wantOK)
		}
		if !ok {
			break
		}
		w.sent.Add(got)
	}
	check.Same(w.T, "deadline", w.base.Deadline(), w.model.Deadline())
	check.Same(w.T, "what is known of the path", w.base.Stats(), w.model.Stats())
}
