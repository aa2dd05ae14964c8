// Command tables measures what flows do that share a path, and prints a Markdown table for
// each set of cells:
//
//	go run ./conform/sim/flows/tables                                   # all sets, one seed
//	go run ./conform/sim/flows/tables --set together --seeds 3 --only 'S2.*repair'
//	go run ./conform/sim/flows/tables --set chunks --json
//	go run ./conform/sim/flows/tables --set beside --only '^M, .*newreno' --series 1s    # CSV for pictures
//
// With other seeds than the first, flows begin up to 20 ms later. A figure is the median of the
// seeds; the worst follows in parentheses, if it is another; in the set alone, the 95th
// percentile.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine/schedule/control"
)

// set is situations that are measured alike.
type set struct {
	name       string
	columns    []column
	situations func() []situation
	tail       int // percent: what follows in parentheses, if it is not the worst
}

var sets = []set{together, chunks, alone, families, changes, beside, latecomers, hour, ablation}

func main() {
	name := flag.String("set", "", "only this set: "+names()+"; all of them by default")
	seeds := flag.Int("seeds", 1, "runs of each cell")
	only := flag.String("only", "", "only cells whose name matches this regular expression")
	mask := flag.Uint("without", 0, "rules to leave out: bits of control.Rule")
	series := flag.Duration("series", 0, "print CSV: what each flow has in each so long time, a multiple of 100ms, such as 1s; of seed 1")
	asJSON := flag.Bool("json", false, "print a JSON object a cell, with the figures of each seed")
	flag.Parse()
	without = control.Rule(*mask)
	how := printer{seeds: *seeds, json: *asJSON, series: core.FromDuration(*series)}
	if err := run(*name, *only, how); err != nil {
		fmt.Fprintln(os.Stderr, "tables:", err)
		os.Exit(1)
	}
}

func names() string {
	var all []string
	for _, s := range sets {
		all = append(all, s.name)
	}
	return strings.Join(all, ", ")
}

// printer is how sets are measured and printed.
type printer struct {
	seeds  int
	json   bool
	series core.Micros // 0: none
}

func run(name, only string, how printer) error {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	if how.seeds < 1 || how.series < 0 || how.series%flows.Slot != 0 {
		return errors.New("--seeds must be above 0, and --series a multiple of 100ms")
	}
	known := false
	for _, s := range sets {
		if name != "" && name != s.name {
			continue
		}
		known = true
		if err := how.print(&s, pattern); err != nil {
			return err
		}
	}
	if !known {
		return fmt.Errorf("no set %q: there are %s", name, names())
	}
	return nil
}

// print measures and prints the situations of a set whose names match.
func (p *printer) print(s *set, only *regexp.Regexp) error {
	cells := slices.DeleteFunc(s.situations(), func(c situation) bool { return !only.MatchString(c.name) })
	switch {
	case len(cells) == 0:
		return nil
	case p.series > 0:
		return s.printSeries(cells, p.series)
	case p.json:
		return s.printJSON(cells, s.measure(cells, p.seeds))
	}
	s.print(cells, s.measure(cells, p.seeds))
	return nil
}

// measure returns the figures of each cell and seed, measured on all processors.
func (s *set) measure(cells []situation, seeds int) [][][]float64 {
	results := make([][][]float64, len(cells))
	jobs := make(chan [2]int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for job := range jobs {
				results[job[0]][job[1]] = s.figures(&cells[job[0]], uint64(job[1]+1))
			}
		})
	}
	for i := range cells {
		results[i] = make([][]float64, seeds)
		for seed := range seeds {
			jobs <- [2]int{i, seed}
		}
	}
	close(jobs)
	workers.Wait()
	return results
}

// figures runs a situation and returns those of the columns. If machines misbehave so that the
// world cannot go on, it says so, and there are none.
func (s *set) figures(cell *situation, seed uint64) (all []float64) {
	defer func() {
		if says := recover(); says != nil {
			fmt.Fprintf(os.Stderr, "tables: %s, seed %d: %v\n", cell.name, seed, says)
			all = slices.Repeat([]float64{math.NaN()}, len(s.columns))
		}
	}()
	o := cell.run(seed)
	for _, c := range s.columns {
		all = append(all, c.of(o))
	}
	return all
}

// print prints the set as a table.
func (s *set) print(cells []situation, results [][][]float64) {
	head, line := "| "+s.name, "|---"
	for _, c := range s.columns {
		head += " | " + c.name
		line += "|---"
	}
	fmt.Printf("%s |\n%s|\n", head, line)
	for i, c := range cells {
		fmt.Print("| ", c.name)
		for k, column := range s.columns {
			fmt.Print(" | ", column.text(results[i], k, s.tail))
		}
		fmt.Println(" |")
	}
	fmt.Println()
}

// text returns the median of the seeds, and the worst or a percentile toward it.
func (c *column) text(seeds [][]float64, k, tail int) string {
	var values []float64
	for _, figures := range seeds {
		values = append(values, figures[k])
	}
	slices.Sort(values) // what is not a number comes first
	median, worst := values[(len(values)-1)/2], values[len(values)-1]
	switch {
	case c.worst == lowest || math.IsNaN(values[0]):
		worst = values[0]
	case tail > 0:
		worst = values[(len(values)*tail+99)/100-1]
	}
	text, at := c.print(median), c.print(worst)
	if text == at {
		return text
	}
	return text + " (" + at + ")"
}

func (c *column) print(v float64) string {
	switch {
	case math.IsNaN(v):
		return "-"
	case math.IsInf(v, 1):
		return "never"
	}
	return fmt.Sprintf(c.format, v)
}

// printJSON prints an object a cell and a line.
func (s *set) printJSON(cells []situation, results [][][]float64) error {
	out := json.NewEncoder(os.Stdout)
	for i, c := range cells {
		figures := map[string][]any{}
		for k, column := range s.columns {
			for _, seed := range results[i] {
				figures[column.name] = append(figures[column.name], orNull(seed[k]))
			}
		}
		err := out.Encode(struct {
			Set     string           `json:"set"`
			Cell    string           `json:"cell"`
			Figures map[string][]any `json:"figures"` // of each seed
		}{s.name, c.name, figures})
		if err != nil {
			return err
		}
	}
	return nil
}

// orNull returns null for what is no number: JSON has none.
func orNull(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return v
}
