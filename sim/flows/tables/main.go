// Command tables measures what flows do that share a path, and prints a Markdown table for
// each set of cells:
//
//	go run ./sim/flows/tables                                   # all sets, one seed
//	go run ./sim/flows/tables --set together --seeds 3 --only 'S2.*repair'
//	go run ./sim/flows/tables --set chunks --json
//
// A figure is the median of the seeds; the worst follows in parentheses, if it is another; in
// the set alone, the 95th percentile.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/chunkwire/chunkwire/schedule/control"
)

// set is situations that are measured alike.
type set struct {
	name       string
	columns    []column
	situations func() []situation
	tail       int // percent: what follows in parentheses, if it is not the worst
}

var sets = []set{together, chunks, alone, families, changes, beside, latecomers, hour}

func main() {
	name := flag.String("set", "", "only this set: "+names()+"; all of them by default")
	seeds := flag.Int("seeds", 1, "runs of each cell")
	only := flag.String("only", "", "only cells whose name matches this regular expression")
	mask := flag.Uint("without", 0, "rules to leave out: bits of control.Rule")
	asJSON := flag.Bool("json", false, "print a JSON object a cell, with the figures of each seed")
	flag.Parse()
	without = control.Rule(*mask)
	if err := run(*name, *seeds, *only, *asJSON); err != nil {
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

func run(name string, seeds int, only string, asJSON bool) error {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	known := false
	for _, s := range sets {
		if name != "" && name != s.name {
			continue
		}
		known = true
		cells := slices.DeleteFunc(s.situations(), func(c situation) bool { return !pattern.MatchString(c.name) })
		if len(cells) == 0 {
			continue
		}
		results := s.measure(cells, seeds)
		if asJSON {
			err = s.printJSON(cells, results)
		} else {
			s.print(cells, results)
		}
		if err != nil {
			return err
		}
	}
	if !known {
		return fmt.Errorf("no set %q: there are %s", name, names())
	}
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
				results[job[0]][job[1]] = s.figures(cells[job[0]].run(uint64(job[1] + 1)))
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

// figures returns those of the columns.
func (s *set) figures(o *outcome) (all []float64) {
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
