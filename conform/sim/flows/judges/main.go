// Command judges draws worlds at random, holds them against the bounds of the controller's properties,
// and prints a row for each property and the worst that it found. What is printed with a seed can be
// repeated with -only and -seed. It fails if a world is further beyond a bound than what is open, or too many are
// beyond theirs.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/chunkwire/chunkwire/conform/measure"
	"github.com/chunkwire/chunkwire/conform/sim/flows/search"
)

func main() {
	worlds := flag.Int("worlds", 20, "worlds of each family")
	first := flag.Uint64("seed", 1, "the first of their seeds")
	and := flag.Uint64("and", 0, "the first of as many more seeds: a push and a night take it from their commit")
	strict := flag.Bool("strict", false, "one world of -and alone can fail, too; else only how many are beyond: what one draw finds must not stop another change")
	only := flag.String("only", "", "families whose name has this")
	worst := flag.Int("worst", 10, "the worst that are printed")
	workers := flag.Int("workers", 2, "worlds at once")
	beyond := flag.Float64("beyond", 100, "how many percent of the figures may be beyond their bounds")
	page := flag.String("page", "", "write the tables into this Markdown file, too; in the root of the tree")
	asJSON := flag.Bool("json", false, "print the findings as JSON, and nothing else")
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
	if *asJSON {
		if err := json.NewEncoder(os.Stdout).Encode(all); err != nil {
			panic(err)
		}
		return
	}
	search.Report(os.Stdout, all, *worst)
	if *page != "" {
		if err := write(*page, all, *worst); err != nil {
			fmt.Fprintln(os.Stderr, "judges:", err)
			os.Exit(2)
		}
	}
	fmt.Printf("%.1f %% of %d figures are beyond their bounds\n", search.Beyond(all), len(all))
	fails := func(f search.Finding) bool {
		return f.Fails() && (*strict || f.Seed-*first < uint64(*worlds))
	}
	if slices.ContainsFunc(all, fails) || search.Beyond(all) > *beyond {
		os.Exit(1)
	}
}

// write writes the tables of a page, and the name of the controller.
func write(page string, all []search.Finding, worst int) error {
	var rows, worsts []string
	for _, p := range search.Properties(all) {
		rows = append(rows, fmt.Sprintf("| %s | %d of %d | %.2f | %.2f | %.2f |", p.Name, p.Beyond, len(p.Found), p.At(50), p.At(10), p.At(0)))
	}
	for _, f := range search.Worst(all, worst) {
		worsts = append(worsts, fmt.Sprintf("| %.1f | %v |", f.Badness(), f))
	}
	name, err := measure.Controller(".")
	return errors.Join(err, measure.WriteTable(page, "properties", rows), measure.WriteTable(page, "worst", worsts),
		measure.WriteTable(page, "controller", []string{"| the search | `" + name + "` |"}))
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
