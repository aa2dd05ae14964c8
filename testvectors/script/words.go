package script

import (
	"fmt"
	"strconv"
	"strings"
)

// words reads the words of a script. The first one that cannot be read stays in
// err, and whatever is read after it is zero or nonsense.
type words struct{ err error }

func (w *words) bad(what, text string) {
	if w.err == nil {
		w.err = fmt.Errorf("no %s: %q", what, text)
	}
}

func (w *words) number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		w.bad("number", text)
	}
	return n
}

// time reads a sum such as 10s-1 of microseconds, ms, s and h.
func (w *words) time(text string) (us int64) {
	if text == "" {
		w.bad("time", text)
	}
	for text != "" {
		n := 1 + strings.IndexAny(text[1:]+"+", "+-")
		us += w.term(text[:n])
		text = text[n:]
	}
	return us
}

func (w *words) term(text string) int64 {
	unit := int64(1)
	for _, u := range []struct {
		name string
		us   int64
	}{{"ms", 1000}, {"s", 1_000_000}, {"h", 3_600_000_000}} {
		if digits, ok := strings.CutSuffix(text, u.name); ok {
			text, unit = digits, u.us
			break
		}
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(text, "_", ""), 10, 64)
	if err != nil {
		w.bad("time", text)
	}
	return n * unit
}

// times reads a time, or FROM/STEP/COUNT.
func (w *words) times(text string) (times []int64) {
	part := strings.Split(text, "/")
	if len(part) != 3 {
		return []int64{w.time(text)}
	}
	from, step := w.time(part[0]), w.time(part[1])
	for i := range int64(w.number(part[2])) {
		times = append(times, from+i*step)
	}
	return times
}

// ids reads numbers such as 0-2,5.
func (w *words) ids(text string) (ids []int) {
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		for id, last := w.number(from), w.number(to); id <= last; id++ {
			ids = append(ids, id)
		}
	}
	return ids
}

// bits writes out runs such as 1*255.0.
func (w *words) bits(text string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(text, ".") {
		if bit, times, isRun := strings.Cut(part, "*"); isRun {
			part = strings.Repeat(bit, w.number(times))
		}
		b.WriteString(part)
	}
	return b.String()
}

// nth returns the i-th number of a list, or the last one.
func (w *words) nth(list string, i int) int {
	numbers := w.ids(list)
	return numbers[min(i, len(numbers)-1)]
}
