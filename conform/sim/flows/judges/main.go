// Command judges draws worlds at random, holds them against the bounds of the controller's properties,
// and prints a row for each property and the worst that it found. What is printed with a seed can be
// repeated with -only and -seed. It fails if a world is further beyond a bound than what is open.
package main

import (
	"flag"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/chunkwire/chunkwire/conform/sim/flows/search"
)

func main() {
	worlds := flag.Int("worlds", 20, "worlds of each family")
	first := flag.Uint64("seed", 1, "the first of their seeds")
	and := flag.Uint64("and", 0, "the first of as many more seeds: a push and a night take it from their commit")
	only := flag.String("only", "", "families whose name has this")
	worst := flag.Int("worst", 10, "the worst that are printed")
	workers := flag.Int("workers", 2, "worlds at once")
	flag.Parse()

	var all []search.Finding
	for _, family := range search.Families() {
		if strings.Contains(family, *only) {
			all = append(all, run(family, *first, *worlds, *workers)...)
			if *and > 0 {
				all = append(all, run(family, *and, *worlds, *workers)...)
			}
		}
	}
	search.Report(os.Stdout, all, *worst)
	if slices.ContainsFunc(all, search.Finding.Fails) {
		os.Exit(1)
	}
}

// run runs worlds of a family, in the order of their seeds.
func run(family string, first uint64, worlds, workers int) (all []search.Finding) {
	found := make([][]search.Finding, worlds)
	next := make(chan int)
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for i := range next {
				found[i] = search.Run(family, first+uint64(i))
			}
		})
	}
	for i := range worlds {
		next <- i
	}
	close(next)
	wait.Wait()
	for _, f := range found {
		all = append(all, f...)
	}
	return all
}
