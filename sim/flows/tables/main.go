// Command tables measures what flows do that share a path, and prints a Markdown table for
// each set of cells:
//
//	go run ./sim/flows/tables                                   # all sets, one seed
//	go run ./sim/flows/tables --set together --seeds 3 --only 'S2.*repair'
//	go run ./sim/flows/tables --set chunks --json
//
// A figure is the median of the seeds; the worst follows in parentheses, if it is another.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// set is cells that are measured alike.
type set struct {
	name    string
	columns []column
	cells   func() []cell
}

// column is a figure of each cell.
type column struct {
	name   string
	format string // of fmt
	low    bool   // the lowest is the worst
}

// cell is one row of a table.
type cell struct {
	name    string
	measure func(seed uint64) []float64 // a figure for each column
}

var sets = []set{together, chunks, alone}

func main() {
	name := flag.String("set", "", "only this set: "+names()+"; all of them by default")
	seeds := flag.Int("seeds", 1, "runs of each cell")
	only := flag.String("only", "", "only cells whose name matches this regular expression")
	asJSON := flag.Bool("json", false, "print a JSON object a cell, with the figures of each seed")
	flag.Parse()
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
		cells := slices.DeleteFunc(s.cells(), func(c cell) bool { return !pattern.MatchString(c.name) })
		if len(cells) == 0 {
			continue
		}
		results := measureAll(cells, seeds)
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

// measureAll returns the figures of each cell and seed, measured on all processors.
func measureAll(cells []cell, seeds int) [][][]float64 {
	results := make([][][]float64, len(cells))
	jobs := make(chan [2]int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for job := range jobs {
				results[job[0]][job[1]] = cells[job[0]].measure(uint64(job[1] + 1))
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

// print prints the set as a table.
func (s *set) print(cells []cell, results [][][]float64) {
	head, line := "| "+s.name, "|---"
	for _, c := range s.columns {
		head += " | " + c.name
		line += "|---"
	}
	fmt.Printf("%s |\n%s|\n", head, line)
	for i, c := range cells {
		fmt.Print("| ", c.name)
		for k, column := range s.columns {
			fmt.Print(" | ", column.of(results[i], k))
		}
		fmt.Println(" |")
	}
	fmt.Println()
}

// of returns the median of the seeds and the worst.
func (c *column) of(seeds [][]float64, k int) string {
	var values []float64
	for _, figures := range seeds {
		values = append(values, figures[k])
	}
	slices.Sort(values)
	median, worst := values[(len(values)-1)/2], values[len(values)-1]
	if c.low {
		worst = values[0]
	}
	text, at := fmt.Sprintf(c.format, median), fmt.Sprintf(c.format, worst)
	if text == at {
		return text
	}
	return text + " (" + at + ")"
}

// printJSON prints an object a cell and a line.
func (s *set) printJSON(cells []cell, results [][][]float64) error {
	out := json.NewEncoder(os.Stdout)
	for i, c := range cells {
		figures := map[string][]float64{}
		for k, column := range s.columns {
			for _, seed := range results[i] {
				figures[column.name] = append(figures[column.name], seed[k])
			}
		}
		err := out.Encode(struct {
			Set     string               `json:"set"`
			Cell    string               `json:"cell"`
			Figures map[string][]float64 `json:"figures"` // of each seed
		}{s.name, c.name, figures})
		if err != nil {
			return err
		}
	}
	return nil
}
