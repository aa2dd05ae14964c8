package script

import (
	"fmt"
	"slices"
	"strings"
)

// Said is a line of a script whose bytes depend on what came before: an event at one or more
// times, and what must come of it. Who runs the script reads its words.
type Said struct {
	Text  string
	Times []int64
	Event string
	Args  []string
	With  map[string]string // the arguments KEY=VALUE
	Want  []string
}

// ParseSaid reads the lines of a script: what its first line sets, and the others.
func ParseSaid(lines []string) (with map[string]string, list []Said, err error) {
	with, lines = settings(lines)
	for _, text := range lines {
		var w words
		what, wanted, found := strings.Cut(text, " : ")
		fields := strings.Fields(what)
		if !found || len(fields) < 2 {
			return nil, nil, fmt.Errorf("%q: no event, or nothing expected", text)
		}
		s := Said{Text: text, Times: w.times(fields[0]), Event: fields[1], With: map[string]string{}, Want: strings.Fields(wanted)}
		for _, word := range fields[2:] {
			if key, value, is := strings.Cut(word, "="); is {
				s.With[key] = value
			} else {
				s.Args = append(s.Args, word)
			}
		}
		if w.err != nil {
			return nil, nil, fmt.Errorf("%q: %w", text, w.err)
		}
		list = append(list, s)
	}
	return with, list, nil
}

// Time reads a time of a script.
func Time(text string) (int64, error) {
	var w words
	return w.time(text), w.err
}

// Check compares what came of the events of a line, in order, with what must: figures, words
// KEY=VALUE and @TIME, may be left out. Rows that follow each other and are the same count as
// one, and at several times everything counts once.
func (s *Said) Check(got []string, figures map[string]string) error {
	var want []string
	for _, word := range s.Want {
		key, value, is := strings.Cut(word, "=")
		if at, isTime := strings.CutPrefix(word, "@"); isTime {
			if at != never {
				us, err := Time(at)
				if err != nil {
					return fmt.Errorf("%q: %w", s.Text, err)
				}
				at = fmt.Sprint(us)
			}
			key, value, is = "@", at, true
		}
		switch {
		case is && figures[key] != value:
			return fmt.Errorf("%q: %s is %s", s.Text, key, figures[key])
		case !is && word != "-":
			want = append(want, word)
		}
	}
	if len(s.Times) > 1 {
		got = once([][]string{got})
	}
	if got = slices.Compact(got); !slices.Equal(got, want) {
		return fmt.Errorf("%q: got %s", s.Text, strings.Join(got, " "))
	}
	return nil
}
