//go:build linux

package main

import (
	"fmt"
	"slices"
	"time"
)

// row is something that is measured several times.
type row struct {
	name        string
	server      task
	receivers   string
	environment []string

	results []result
}

// measureInTurn measures rows, one after the other and then all again, so that
// what else the machine does falls on all of them.
func measureInTurn(rows []row, repeats int) error {
	for range repeats {
		for i := range rows {
			r := &rows[i]
			got, err := run(r.server, r.receivers, r.environment...)
			if err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			r.results = append(r.results, got)
		}
	}
	return nil
}

// figure is something that a result has.
type figure func(result) float64

func perSecond(r result) float64 { return float64(r.Datagrams) / r.Took.Seconds() }
func megabytes(r result) float64 { return float64(r.Bytes) / 1e6 / r.Took.Seconds() }
func processor(r result) float64 {
	return float64(r.User+r.System) / float64(r.Datagrams)
}
func user(r result) float64    { return float64(r.User) / float64(r.Datagrams) }
func resent(r result) float64  { return 100 * float64(r.Resent) / float64(r.Datagrams) }
func acks(r result) float64    { return 100 * float64(r.DatagramsIn) / float64(r.Datagrams) }
func busy(r result) float64    { return 100 * float64(r.User+r.System) / float64(r.Took) }
func median(r result) float64  { return milliseconds(r.Median) }
func slowest(r result) float64 { return milliseconds(r.Slowest) }
func unfair(r result) float64  { return float64(r.Slowest) / float64(r.Median) }

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// of returns the median of a figure over all repeats.
func (r *row) of(f figure) float64 {
	all := r.all(f)
	return all[len(all)/2]
}

// spread returns the smallest and the largest.
func (r *row) spread(f figure) string {
	all := r.all(f)
	return fmt.Sprintf("%.0f..%.0f", all[0], all[len(all)-1])
}

func (r *row) all(f figure) (all []float64) {
	for _, x := range r.results {
		all = append(all, f(x))
	}
	slices.Sort(all)
	return all
}
