package main

import (
	"fmt"
	"slices"
)

// quantile sums up a set of figures.
type quantile struct {
	Median float64 `json:"median"`
	P95    float64 `json:"p95"`
	Max    float64 `json:"max"`
}

// quantiles sorts values and picks by nearest rank; nil when there are none.
func quantiles(values []float64) *quantile {
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	rank := func(percent int) float64 { return values[(len(values)*percent+99)/100-1] }
	return &quantile{rank(50), rank(95), rank(100)}
}

// median returns the median alone.
func (q *quantile) median() *float64 {
	if q == nil {
		return nil
	}
	return &q.Median
}

// cells returns the three figures for a table, or that there are none.
func (q *quantile) cells() string {
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
