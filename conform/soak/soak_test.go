package soak_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/conform/soak"
	"github.com/chunkwire/chunkwire/core"
)

// empty is a world without ends.
func empty() *soak.World {
	w := soak.New(1, 2, soak.NewLog(true))
	w.Timeline = sim.NewWorld[int](nil)
	return &w
}

// A world fails with what is left when its time is over, with what a judge found first, and with a panic.
func TestLive(t *testing.T) {
	left := errors.New("a message")
	for _, c := range []struct {
		name   string
		course func(w *soak.World, c *soak.Course)
		want   string
	}{
		{"nothing", func(*soak.World, *soak.Course) {}, ""},
		{"what is left", func(_ *soak.World, c *soak.Course) { c.Left = func() error { return left } }, "at 3.000000 s: 2s after all is good: a message"},
		{"the first of two", func(w *soak.World, c *soak.Course) {
			w.At(500, func() { w.Check(left); w.Check(errors.New("another")) })
		}, "at 0.000500 s: a message"},
		{"a panic", func(w *soak.World, c *soak.Course) { c.Good = func() { panic("no") } }, "at 1.000000 s: panic: no"},
	} {
		w := empty()
		course := soak.Course{Troubles: core.Second, Settles: 2 * core.Second, Good: func() {}, Left: func() error { return nil }}
		w.At(3*core.Second, func() {})
		c.course(w, &course)
		w.Live(course)
		if _, err := w.Result(); (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// Each trouble comes as often as it is drawn, in time.
func TestPlan(t *testing.T) {
	w := empty()
	times := 0
	w.Plan(core.Second, soak.Trouble{Times: []int{7}, Draw: func() func() { return func() { times++ } }})
	w.Run(core.Second, w.Failed)
	if times != 7 {
		t.Errorf("%d times", times)
	}
}

func TestCounts(t *testing.T) {
	var all soak.Counts
	for _, n := range []int64{3, 2} {
		all.Add(&soak.Counts{soak.Worlds: 1, soak.LongestEnd: n * 1000, soak.Own: n})
	}
	var out strings.Builder
	row := soak.Row{Name: "all", Format: "%d worlds, %d, %v", Counts: []soak.Count{soak.Worlds, soak.Own, soak.LongestEnd}}
	if row.Print(&out, &all); out.String() != "all           2 worlds, 5, 3ms\n" {
		t.Errorf("%q", &out)
	}
}

// A log keeps the latest lines.
func TestLog(t *testing.T) {
	log := soak.NewLog(true)
	for range 5000 {
		log.Add(0, "before")
	}
	log.Add(core.Second+1, "last")
	if got := strings.Join(log.Latest(2), "; "); got != "0.000000 s  before; 1.000001 s  last" {
		t.Error(got)
	}
	if soak.NewLog(false).Verbose() || len(soak.NewLog(false).Latest(3)) > 0 {
		t.Error("nobody reads it")
	}
}
