package main

import "slices"

// quantile sums up a set of figures.
type quantile struct {
	Median float64 `json:"median"`
	P95    float64 `json:"p95"`
	Max    float64 `json:"max"`
}

// quantiles sorts values and picks by nearest rank; all are 0 when there are none.
func quantiles(values []float64) quantile {
	if len(values) == 0 {
		return quantile{}
	}
	slices.Sort(values)
	rank := func(percent int) float64 { return values[(len(values)*percent+99)/100-1] }
	return quantile{rank(50), rank(95), rank(100)}
}
