package measure

import (
	"cmp"
	"slices"
)

// Quantile sums up a set of figures.
type Quantile[T cmp.Ordered] struct {
	Median T `json:"median"`
	P95    T `json:"p95"`
	Max    T `json:"max"`
}

// Quantiles sorts values and picks by nearest rank; nil when there are none.
func Quantiles[T cmp.Ordered](values []T) *Quantile[T] {
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	rank := func(percent int) T { return values[(len(values)*percent+99)/100-1] }
	return &Quantile[T]{rank(50), rank(95), rank(100)}
}

// OrZero returns the figures, or zeros where there are none.
func (q *Quantile[T]) OrZero() (zeros Quantile[T]) {
	if q == nil {
		return zeros
	}
	return *q
}
