package main

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestShareGoesByAPowerOfSpeed(t *testing.T) {
	for _, c := range []struct {
		power      float64
		slow, fast int64
	}{{0, 5050, 5050}, {0.5, 919, 9181}, {1, 100, 10_000}} {
		slow, fast := &plan{speed: 100}, &plan{speed: 10_000}
		share([]*plan{slow, fast}, 10_100, c.power)
		if slow.budget != c.slow || fast.budget != c.fast {
			t.Errorf("power %v: %d and %d", c.power, slow.budget, fast.budget)
		}
	}
}

// Budgets add up to the total, and none is below what was done, whatever the speeds.
func TestShareIsWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var plans []*plan
		var done int64
		for range rapid.IntRange(1, 12).Draw(t, "targets") {
			p := &plan{speed: rapid.Float64Range(0, 1e6).Draw(t, "speed"), done: rapid.Int64Range(0, 1e5).Draw(t, "done"), before: rapid.Int64Range(0, 1e5).Draw(t, "before")}
			plans = append(plans, p)
			done += p.sum()
		}
		total := rapid.Int64Range(1, 1e6).Draw(t, "total")
		share(plans, total, rapid.Float64Range(0, 1).Draw(t, "power"))
		var sum int64
		for _, p := range plans {
			sum += p.budget
			if p.budget < p.sum() {
				t.Fatalf("a budget of %d, %d are done", p.budget, p.sum())
			}
		}
		if sum != max(total, done) {
			t.Fatalf("budgets of %d in all; total %d, done %d", sum, total, done)
		}
	})
}

// The one that is furthest behind is next; one that rests never is.
func TestNext(t *testing.T) {
	half, third, rests, over := &plan{budget: 10, done: 5}, &plan{budget: 9, done: 1, before: 2}, &plan{budget: 5, rests: true}, &plan{budget: 5, done: 6}
	all := []*plan{half, rests, over, third}
	if got := next(all); got != third {
		t.Errorf("%+v is next", got)
	}
	third.done, half.done = 7, 10
	if got := next(all); got != nil {
		t.Errorf("%+v is next when all are done", got)
	}
}

func TestSliceOf(t *testing.T) {
	p := &plan{speed: 500, budget: 100_000}
	for _, c := range []struct {
		done, want int64
	}{{0, 30_000}, {95_000, 5_000}, {99_999, smallest}} {
		p.done = c.done
		if got := sliceOf(p, time.Minute); got != c.want {
			t.Errorf("after %d, a slice of %d, want %d", c.done, got, c.want)
		}
	}
	if got := sliceOf(&plan{speed: 1, budget: 1 << 20}, time.Minute); got != smallest {
		t.Errorf("a slow target's slice is %d", got)
	}
	if slow, fast := minimizing(&plan{speed: 1}), minimizing(&plan{speed: 5000}); slow != 200 || fast != 10_000 {
		t.Errorf("to make an input small: %d and %d", slow, fast)
	}
}
