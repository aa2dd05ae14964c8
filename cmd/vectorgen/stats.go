package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"text/tabwriter"

	"github.com/chunkwire/chunkwire/testvectors"
)

// stats counts vectors.
type stats struct {
	groups    []tally
	flags     map[string]int
	sentences map[string]int
	rows      map[string]int // of the machines' tables
}

// tally is how many vectors a group has, and what is to come of them.
type tally struct {
	name                              string
	vectors, accepted, refused, steps int
}

// printStats prints the counts of the vectors that match.
func printStats(w io.Writer, spec []byte, list []file, match *regexp.Regexp) error {
	s := count(list, match)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "group\tvectors\taccepted\trefused\ttraces")
	for _, g := range append(s.groups, s.total()) {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\n", g.name, g.vectors, g.accepted, g.refused, g.steps)
	}
	fmt.Fprintln(t, "\nflag\tvectors")
	for _, name := range slices.Sorted(maps.Keys(s.flags)) {
		fmt.Fprintf(t, "%s\t%d\n", name, s.flags[name])
	}
	if err := t.Flush(); err != nil {
		return err
	}
	printCover(w, "sentences", sentencesOf(spec), s.sentences)
	printCover(w, "rows", rowsOf(spec), s.rows)
	return nil
}

// count goes through the vectors that match.
func count(list []file, match *regexp.Regexp) stats {
	s := stats{flags: map[string]int{}, sentences: map[string]int{}, rows: map[string]int{}}
	for _, f := range list {
		g := tally{name: f.name}
		for _, v := range f.vectors() {
			if match.MatchString(v.Name) {
				g.add(v)
				s.add(v)
			}
		}
		s.groups = append(s.groups, g)
	}
	return s
}

func (s *stats) add(v testvectors.Vector) {
	for _, flag := range v.Flags {
		s.flags[flag]++
	}
	for _, id := range v.Sentences {
		s.sentences[id]++
	}
	for row := range rowsTaken(v) {
		s.rows[row]++
	}
}

func (s *stats) total() tally {
	sum := tally{name: "all"}
	for _, g := range s.groups {
		sum.vectors += g.vectors
		sum.accepted += g.accepted
		sum.refused += g.refused
		sum.steps += g.steps
	}
	return sum
}

func (g *tally) add(v testvectors.Vector) {
	g.vectors++
	var a struct {
		OK    bool
		Error string
		Steps json.RawMessage
	}
	switch {
	case json.Unmarshal(v.Response, &a) != nil: // a seeded run has no response
	case a.Steps != nil:
		g.steps++
	case a.OK:
		g.accepted++
	default:
		g.refused++
	}
}

// rowsTaken is the set of rows that a trace's steps end in.
func rowsTaken(v testvectors.Vector) map[string]bool {
	var a struct{ Steps []struct{ Row string } }
	rows := map[string]bool{}
	if json.Unmarshal(v.Response, &a) == nil {
		for _, step := range a.Steps {
			rows[step.Row] = true
		}
	}
	return rows
}
