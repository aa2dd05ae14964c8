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
	clients     string
	environment []string

	results []both
}

// measureInTurn measures rows, one after the other and then all again, so that
// what else the machine does falls on all of them.
func measureInTurn(rows []row, repeats int) error {
	for range repeats {
		for i := range rows {
			r := &rows[i]
			got, err := run(r.server, r.clients, r.environment...)
			if err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			r.results = append(r.results, got)
		}
	}
	return nil
}

// figure is something that a result has.
type figure func(both) float64

func perSecond(r both) float64 { return float64(r.server.Datagrams) / r.server.Took.Seconds() }

// processor returns the time of the server's processor for each datagram that it sent, in ns.
func processor(r both) float64 {
	return float64(r.server.User+r.server.System) / float64(r.server.Datagrams)
}

// receiving returns the time of the clients' processors for each datagram that they read.
func receiving(r both) float64 {
	return float64(r.clients.User+r.clients.System) / float64(r.clients.DatagramsIn)
}
func user(r both) float64    { return float64(r.server.User) / float64(r.server.Datagrams) }
func resent(r both) float64  { return 100 * (float64(r.server.Slices)/float64(r.wanted()) - 1) }
func acks(r both) float64    { return float64(r.server.DatagramsIn) / float64(r.server.Slices) }
func median(r both) float64  { return milliseconds(r.server.Median) }
func slowest(r both) float64 { return milliseconds(r.server.Slowest) }

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
