package simulation

import "slices"

// Quantile sums up a set of figures.
type Quantile struct {
	Median float64 `json:"median"`
	P95    float64 `json:"p95"`
	Max    float64 `json:"max"`
}

// Quantiles sorts values and picks by nearest rank; nil when there are none.
func Quantiles(values []float64) *Quantile {
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	rank := func(percent int) float64 { return values[(len(values)*percent+99)/100-1] }
	return &Quantile{rank(50), rank(95), rank(100)}
}

// median returns the median alone.
func (q *Quantile) median() *float64 {
	if q == nil {
		return nil
	}
	return &q.Median
}
