package main

import (
	"fmt"

	"github.com/chunkwire/chunkwire/conform/measure"
)

// quantile sums up a set of figures.
type quantile = measure.Quantile[float64]

// cells returns the three figures for a table, or that there are none.
func cells(q *quantile) string {
	if q == nil {
		return "-\t-\t-"
	}
	return fmt.Sprintf("%.1f\t%.1f\t%.1f", q.Median, q.P95, q.Max)
}

// figure returns a figure for a table, or that there is none.
func figure(format string, v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf(format, *v)
}
