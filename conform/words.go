package conform

import (
	"fmt"
	"strconv"
	"strings"
)

// Words reads the words of a script. The first one that cannot be read stays in Err, and
// whatever is read after it is zero or nonsense.
type Words struct {
	Err      error
	Nth      int // which event of its line is read
	Position int // how many events are before it
}

// Bad says that a word cannot be read.
func (w *Words) Bad(what, text string) {
	if w.Err == nil {
		w.Err = fmt.Errorf("no %s: %q", what, text)
	}
}

// Time reads a sum such as 10s-1 of microseconds, ms, s and h; a number is one, too.
func (w *Words) Time(text string) (us int64) {
	if text == "" {
		w.Bad("time", text)
	}
	for text != "" {
		n := 1 + strings.IndexAny(text[1:]+"+", "+-")
		us += w.term(text[:n])
		text = text[n:]
	}
	return us
}

func (w *Words) term(text string) int64 {
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
		w.Bad("time", text)
	}
	return n * unit
}

// Times reads a time, or FROM/STEP/COUNT.
func (w *Words) Times(text string) (times []int64) {
	part := strings.Split(text, "/")
	if len(part) != 3 {
		return []int64{w.Time(text)}
	}
	from, step := w.Time(part[0]), w.Time(part[1])
	for i := range w.Time(part[2]) {
		times = append(times, from+i*step)
	}
	return times
}

// List reads numbers such as 0-2,5.
func (w *Words) List(text string) (list []int64) {
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		for n, last := w.Time(from), w.Time(to); n <= last && w.Err == nil; n++ {
			list = append(list, n)
		}
	}
	if len(list) == 0 {
		w.Bad("number", text)
	}
	return list
}

// Number reads the number of an event. A list has one for each event of the line, and the
// last one for those that are left.
func (w *Words) Number(word string) int64 {
	if !strings.ContainsAny(word, ",-") || strings.HasPrefix(word, "-") || strings.ContainsAny(word, "smh") {
		return w.Time(word)
	}
	list := w.List(word)
	if w.Err != nil {
		return 0
	}
	return list[min(w.Nth, len(list)-1)]
}

// mostSize is the largest size of a payload in a script.
const mostSize = 1 << 20

// Size reads a size.
func (w *Words) Size(word string) int {
	n := w.Time(word)
	if n < 0 || n > mostSize {
		w.Bad("size", word)
		return 0
	}
	return int(n)
}

// WriteTime writes a time as scripts do: 21ms, 21ms-1, 1s.
func WriteTime(us int64) string {
	ms := (us + 500) / 1000
	switch d := us - ms*1000; {
	case us%1_000_000 == 0 && us > 0:
		return strconv.FormatInt(us/1_000_000, 10) + "s"
	case ms == 0 || d > 9 || d < -9:
		return strconv.FormatInt(us, 10)
	case d == 0:
		return strconv.FormatInt(ms, 10) + "ms"
	default:
		return fmt.Sprintf("%dms%+d", ms, d)
	}
}

// WriteDeadline writes @TIME, or @never.
func WriteDeadline(at Opt[int64]) string {
	if !at.Is {
		return "@never"
	}
	return "@" + WriteTime(at.V)
}

// WriteRanges writes numbers as 3,5-7.
func WriteRanges(list []int64) string {
	var parts []string
	for i := 0; i < len(list); i++ {
		first := i
		for i+1 < len(list) && list[i+1] == list[i]+1 {
			i++
		}
		part := strconv.FormatInt(list[first], 10)
		if i > first {
			part += "-" + strconv.FormatInt(list[i], 10)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ",")
}

// Content returns the bytes of a payload or message in a trace. None of them is 0, so that
// no payload is quiet.
func Content(number, size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(1 + (i+31*(i/256)+7*number)%255)
	}
	return b
}

// Ascending is n bytes that ascend from one.
func Ascending(first byte, n int) Bytes {
	b := make([]byte, n)
	for i := range b {
		b[i] = first + byte(i)
	}
	return Bytes(b)
}
