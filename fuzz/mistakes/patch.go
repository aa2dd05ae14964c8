package main

import (
	"errors"
	"fmt"
	"go/format"
	"regexp"
	"slices"
	"strings"

	"github.com/chunkwire/chunkwire/fuzz/internal/variants"
)

// spot is where a hunk's lines stand.
type spot struct {
	place
	from, to int // lines of the file
}

// spots returns where lines stand in places, as they are or, if a renaming is
// enough, under other names.
func (s *sources) spots(places []place, lines []string, renamed bool) (found []spot) {
	for _, p := range places {
		text := s.lines[p.file]
		for at := p.from; at+len(lines) <= p.to; at++ {
			here := text[at : at+len(lines)]
			if _, same := renaming(lines, here); slices.Equal(lines, here) || renamed && same {
				found = append(found, spot{p, at, at + len(lines)})
			}
		}
	}
	return found
}

// locate returns the one spot of a hunk.
func (s *sources) locate(h hunk) (spot, error) {
	places, err := s.find(h.Where, h.Name)
	if err != nil {
		return spot{}, err
	}
	found := s.spots(places, h.side("-"), false)
	if len(found) != 1 {
		return spot{}, fmt.Errorf("its lines stand %d times in %s of %s", len(found), h.Name, h.Where)
	}
	return found[0], nil
}

// edits returns what a mistake changes, by file and in order.
func (s *sources) edits(m *mistake) (variants.Version, error) {
	edits := variants.Version{}
	for _, h := range m.Hunks {
		at, err := s.locate(h)
		if err != nil {
			return nil, err
		}
		e := variants.Edit{With: text(h.side("+"))}
		e.From = len(text(s.lines[at.file][:at.from]))
		e.To = e.From + len(text(h.side("-")))
		edits[at.file] = append(edits[at.file], e)
	}
	for _, list := range edits {
		slices.SortFunc(list, func(a, b variants.Edit) int { return a.From - b.From })
		for i, e := range list[1:] {
			if e.From < list[i].To {
				return nil, errors.New("two hunks overlap")
			}
		}
	}
	return edits, nil
}

// text is lines with their ends.
func text(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// apply returns the files that a mistake changes, as they then are.
func (s *sources) apply(m *mistake) (map[string]string, error) {
	edits, err := s.edits(m)
	if err != nil {
		return nil, err
	}
	changed := map[string]string{}
	for file, list := range edits {
		changed[file] = variants.Apply(strings.Join(s.lines[file], "\n"), 0, list)
		if m.port() == "" {
			formatted, err := format.Source([]byte(changed[file]))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			changed[file] = string(formatted)
		}
	}
	return changed, nil
}

// rewrite renews the hunks of a mistake whose lines have got other names or other
// neighbours, or have moved within their package, and reports whether there were any.
func (s *sources) rewrite(m *mistake) (changed bool, err error) {
	for i, h := range m.Hunks {
		if _, unchanged := s.locate(h); unchanged == nil {
			continue
		}
		changed = true
		if m.Hunks[i], err = s.renew(h); err != nil {
			return changed, err
		}
	}
	return changed, nil
}

// renew looks for a hunk under other names: first in its place, then in all of its
// package; first with all its context, then with less.
func (s *sources) renew(h hunk) (hunk, error) {
	all, err := s.all(h.Where, h.Name)
	if err != nil {
		return h, err
	}
	own, _ := s.find(h.Where, h.Name)
	for _, places := range [][]place{own, all} {
		for _, less := range h.withLess() {
			before := less.side("-")
			if found := s.spots(places, before, true); len(found) == 1 {
				at := found[0]
				names, _ := renaming(before, s.lines[at.file][at.from:at.to])
				after := renamed(less.side("+"), names, before[0], s.lines[at.file][at.from])
				less.Name = at.name
				return s.withContext(less, at, after)
			}
		}
	}
	return h, fmt.Errorf("%s of %s has changed; write its lines anew:\n%s", h.Name, h.Where, strings.Join(h.Lines, "\n"))
}

// withLess returns a hunk, and then the same with ever fewer lines of context.
func (h hunk) withLess() (list []hunk) {
	isContext := func(line string) bool { return line[0] == ' ' }
	first := slices.IndexFunc(h.Lines, func(line string) bool { return !isContext(line) })
	last := len(h.Lines)
	for last > first+1 && isContext(h.Lines[last-1]) {
		last--
	}
	for from := 0; from <= first; from++ {
		for to := len(h.Lines); to >= last; to-- {
			if less := (hunk{h.Where, h.Name, h.Lines[from:to]}); len(less.side("-")) > 0 {
				list = append(list, less)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b hunk) int { return len(b.Lines) - len(a.Lines) })
	return list
}

// withContext returns a hunk that puts lines in the place of those at a spot: with
// one line of context on both sides, and more if they stand there more than once.
func (s *sources) withContext(h hunk, at spot, after []string) (hunk, error) {
	text := s.lines[at.file]
	places, err := s.find(h.Where, h.Name)
	if err != nil {
		return h, err
	}
	before := text[at.from:at.to]
	same := func(a, b []string) (n int) {
		for n < len(a) && n < len(b) && a[n] == b[n] {
			n++
		}
		return n
	}
	head := same(before, after)
	before, after = before[head:], after[head:]
	reversed := func(list []string) []string { list = slices.Clone(list); slices.Reverse(list); return list }
	tail := same(reversed(before), reversed(after))
	before, after = before[:len(before)-tail], after[:len(after)-tail]
	first, last := at.from+head, at.to-tail
	for from, to := first, last; ; {
		wider := false
		if from > at.place.from && text[from-1] != "" {
			from, wider = from-1, true
		}
		if to < at.place.to && text[to] != "" {
			to, wider = to+1, true
		}
		if len(s.spots(places, text[from:to], false)) == 1 {
			h.Lines = slices.Concat(signed(" ", text[from:first]), signed("-", before), signed("+", after), signed(" ", text[last:to]))
			return h, nil
		}
		if !wider {
			return h, fmt.Errorf("no context tells where in %s of %s it is", h.Name, h.Where)
		}
	}
}

func signed(sign string, lines []string) (out []string) {
	for _, line := range lines {
		out = append(out, sign+line)
	}
	return out
}

var tokens = regexp.MustCompile(`[\pL_][\pL\pN_]*|\S`)

// renaming returns which names became which, if nothing else in lines but names and
// the space between them is different.
func renaming(before, after []string) (map[string]string, bool) {
	names, back := map[string]string{}, map[string]string{}
	for i := range before {
		a, b := tokens.FindAllString(before[i], -1), tokens.FindAllString(after[i], -1)
		if len(a) != len(b) {
			return nil, false
		}
		for j := range a {
			isName := len(a[j]) > 1 || tokens.FindString(a[j]+"_") != a[j]
			if a[j] != b[j] && !isName || names[a[j]] != "" && names[a[j]] != b[j] || back[b[j]] != "" && back[b[j]] != a[j] {
				return nil, false
			}
			if isName {
				names[a[j]], back[b[j]] = b[j], a[j]
			}
		}
	}
	return names, true
}

// renamed gives lines other names, and moves them as far as a line was moved.
func renamed(lines []string, names map[string]string, before, after string) (out []string) {
	indent := func(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
	more := indent(after) - indent(before)
	for _, line := range lines {
		line = tokens.ReplaceAllStringFunc(line, func(token string) string {
			if names[token] != "" {
				return names[token]
			}
			return token
		})
		if more > 0 {
			line = after[:more] + line
		} else {
			line = line[min(-more, indent(line)):]
		}
		out = append(out, line)
	}
	return out
}
