package soak

import (
	"fmt"
	"io"
	"time"
)

// Count is one of the things that are counted in worlds: one that all kinds of worlds have, or, from Own on,
// one of a kind.
type Count int

// What is counted in worlds of every kind.
const (
	Worlds     Count = iota
	Time             // virtual, in microseconds
	LongestEnd       // from when all was good until nothing was left to do, in microseconds: the longest
	Datagrams        // that were sent
	Lost             // of them
	Refused          // what was to be refused, and was
	Own              // the first of a kind's own

	mostCounts = 40
)

// Counts are what was counted, of each Count.
type Counts [mostCounts]int64

// Add adds the counts of other worlds.
func (c *Counts) Add(o *Counts) {
	for i, n := range o {
		if Count(i) == LongestEnd {
			c[i] = max(c[i], n)
		} else {
			c[i] += n
		}
	}
}

// Row is a line of a report: a name, and a format for some counts. Times are printed as time.Duration.
type Row struct {
	Name, Format string
	Counts       []Count
}

// Print prints the row of some counts.
func (r *Row) Print(w io.Writer, c *Counts) {
	args := make([]any, len(r.Counts))
	for i, of := range r.Counts {
		args[i] = c[of]
		if of == Time || of == LongestEnd {
			args[i] = time.Duration(c[of]) * time.Microsecond
		}
	}
	fmt.Fprintf(w, "%-13s %s\n", r.Name, fmt.Sprintf(r.Format, args...))
}
