package main

import (
	"fmt"
	"slices"
	"strings"
)

// where is a block of a profile: a run of statements.
type where struct {
	pkg, file    string
	line, column int
	statements   int
}

// profile says how often each block ran.
type profile map[where]int

// block is a block, and who reaches it.
type block struct {
	where
	seeds, found bool
}

func (b block) reached() bool { return b.seeds || b.found }

// parseProfile reads a profile of Go's. A block that stands there more than once,
// since more than one test binary counted it, ran as often as all of them say.
func parseProfile(text string) (profile, error) {
	p := profile{}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "mode: ") {
			continue
		}
		var w where
		var endLine, endColumn, count int
		name, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		if _, err := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &w.line, &w.column, &endLine, &endColumn, &w.statements, &count); err != nil {
			return nil, fmt.Errorf("the profile's line %q: %w", line, err)
		}
		w.pkg, w.file = splitFile(name)
		p[w] += count
	}
	return p, nil
}

// compare says who reaches each block: whose count is above that of a run without
// any input.
func compare(none, seeds, found profile) []block {
	var list []block
	for w := range none {
		list = append(list, block{w, seeds[w] > none[w], found[w] > none[w]})
	}
	slices.SortFunc(list, func(a, b block) int {
		if c := strings.Compare(a.pkg+"/"+a.file, b.pkg+"/"+b.file); c != 0 {
			return c
		}
		return a.line*1000 + a.column - b.line*1000 - b.column
	})
	return list
}
