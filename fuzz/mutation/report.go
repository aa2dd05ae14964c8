package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
)

func (v verdict) String() string {
	return [...]string{"unjudged", "not viable", "killed", "timed out", "survived"}[v]
}

// count is how many mutants met which end.
type count struct{ killed, timedOut, explained, survived, notViable int }

func (c *count) add(m *mutant, reasons map[string]string) {
	switch m.verdict {
	case killed:
		c.killed++
	case timedOut:
		c.timedOut++
	case notViable:
		c.notViable++
	case survived:
		if _, _, some := reasonFor(m, reasons); some {
			c.explained++
		} else {
			c.survived++
		}
	}
}

// share is how many in a hundred viable mutants were killed, those that are
// explained counted as survivors like any other.
func (c *count) share() float64 {
	dead := c.killed + c.timedOut
	return 100 * float64(dead) / float64(max(dead+c.explained+c.survived, 1))
}

// report prints the counts and what survived unexplained. It fails when too many
// survived of a whole package.
func report(w io.Writer, mutants []*mutant, reasons map[string]string, whole bool) error {
	var all count
	byMutator := map[string]*count{}
	for _, m := range mutants {
		c := byMutator[m.mutator]
		if c == nil {
			c = &count{}
			byMutator[m.mutator] = c
		}
		c.add(m, reasons)
		all.add(m, reasons)
	}
	table := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprintln(table, "| mutator\t| killed\t| timed out\t| explained\t| survived\t| not viable\t| killed of viable\t|")
	fmt.Fprintln(table, "|---\t|---:\t|---:\t|---:\t|---:\t|---:\t|---:\t|")
	for _, name := range slices.Sorted(maps.Keys(byMutator)) {
		byMutator[name].row(table, name)
	}
	all.row(table, "all")
	table.Flush()
	for _, m := range mutants {
		if _, _, some := reasonFor(m, reasons); m.verdict == survived && !some {
			fmt.Fprintf(w, "survived: %s\n", m)
		}
	}
	if whole && all.share() < least {
		return fmt.Errorf("%.1f %% of the mutants were killed, fewer than %d %%", all.share(), least)
	}
	return nil
}

func (c *count) row(w io.Writer, name string) {
	fmt.Fprintf(w, "| %s\t| %d\t| %d\t| %d\t| %d\t| %d\t| %.1f %%\t|\n",
		name, c.killed, c.timedOut, c.explained, c.survived, c.notViable, c.share())
}
