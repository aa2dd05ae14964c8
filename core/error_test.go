package core_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/core"
)

var (
	letters = &core.Format{Name: "letters", Unit: "byte"}
	short   = letters.Rule("let-1", "truncated", "no letter is left", 1, 8)
	even    = letters.Rule("let-2", "odd", "not at an even place", 2, 8)

	errShort = letters.Sentinel("truncated")
	errOdd   = letters.Sentinel("odd")
)

// An error has the rule's code and id, and its place, whether it was made in
// advance or not.
func TestErrorsOfARule(t *testing.T) {
	for _, place := range []int{0, 1, 7, 8, 9, 10, 1000} {
		for _, rule := range []struct {
			*core.Rule
			id   string
			code core.Code
			text string
		}{
			{short, "let-1", "truncated", "letters: truncated at byte %d: no letter is left"},
			{even, "let-2", "odd", "letters: odd at byte %d: not at an even place"},
		} {
			e := rule.At(place)
			if e.Place() != place || e.Rule() != rule.id || e.Code() != rule.code || e.Error() != fmt.Sprintf(rule.text, place) {
				t.Errorf("At(%d): %q, rule %s, code %s, place %d", place, e, e.Rule(), e.Code(), e.Place())
			}
		}
	}
}

// A fault may lie in no byte at all: the error has no place then, and its text names none.
func TestErrorsInNoPlace(t *testing.T) {
	e := short.NotAt()
	if e.Place() != core.NoPlace || e.Rule() != "let-1" || e.Error() != "letters: truncated: no letter is left" || !errors.Is(e, errShort) {
		t.Errorf("NotAt: %q, rule %s, place %d", e, e.Rule(), e.Place())
	}
	if got := fmt.Sprintf("%v, %s, %q, %+v, %+v", e, e, e, e, errShort); got != `letters: truncated: no letter is left, letters: truncated: no letter is left, "letters: truncated: no letter is left", letters: truncated: no letter is left (let-1), letters: truncated` {
		t.Error(got)
	}
	if again := short.NotAt(); again != e {
		t.Error("it is not made in advance")
	}
}

func TestSentinelsMatchByFormatAndCode(t *testing.T) {
	other := (&core.Format{Name: "digits", Unit: "bit"}).Sentinel("truncated")
	wrapped := fmt.Errorf("reading: %w", short.At(3))
	for _, c := range []struct {
		err, target error
		want        bool
	}{
		{wrapped, errShort, true}, {wrapped, errOdd, false}, {wrapped, other, false},
		{wrapped, short.At(3), true}, {wrapped, short.At(4), false}, {errShort, short.At(3), false}, {errOdd, errOdd, true},
		{wrapped, errors.New("letters: truncated"), false},
	} {
		if got := errors.Is(c.err, c.target); got != c.want {
			t.Errorf("Is(%v, %v) = %v", c.err, c.target, got)
		}
	}
	if got := errShort.Error(); got != "letters: truncated" || errShort.Rule() != "" {
		t.Errorf("the sentinel says %q, rule %q", got, errShort.Rule())
	}
}

// Errors for the places up to the last are made in advance, and no others.
func TestErrorsMadeInAdvanceAreNotAllocated(t *testing.T) {
	for _, c := range []struct {
		rule   *core.Rule
		place  int
		allocs float64
	}{{short, 8, 0}, {short, 9, 1}, {even, 8, 0}, {even, 10, 1}, {even, 7, 1}} {
		var err error
		if n := testing.AllocsPerRun(100, func() { err = c.rule.At(c.place) }); n != c.allocs {
			t.Errorf("%v: %v allocations, want %v", err, n, c.allocs)
		}
	}
}
