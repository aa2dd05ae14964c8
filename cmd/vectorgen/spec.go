package main

import (
	"fmt"
	"io"
	"regexp"
	"strings"
)

var (
	// An id in bold begins a sentence, or a row of the table of section 6.3.
	sentencePattern = regexp.MustCompile(`(?m)^(?:- |\| )\*\*([A-Z]{3,4}-\d+)\*\*`)
	// The rows of the machines' tables.
	rowPattern = regexp.MustCompile(`(?m)^\| ([SR]\d+) \|`)
)

// sentencesOf lists the ids of the specification's sentences.
func sentencesOf(spec []byte) []string { return found(sentencePattern, spec) }

// rowsOf lists the rows of the machines' tables.
func rowsOf(spec []byte) []string { return found(rowPattern, spec) }

func found(pattern *regexp.Regexp, text []byte) (ids []string) {
	for _, m := range pattern.FindAllSubmatch(text, -1) {
		ids = append(ids, string(m[1]))
	}
	return ids
}

// printCover prints which of the ids have vectors, and which have none.
func printCover(w io.Writer, what string, ids []string, counts map[string]int) {
	var without []string
	for _, id := range ids {
		if counts[id] == 0 {
			without = append(without, id)
		}
	}
	fmt.Fprintf(w, "\n%s: %d, of which %d have a vector; without: %s\n",
		what, len(ids), len(ids)-len(without), strings.Join(append(without, "-")[:max(1, len(without))], " "))
}
