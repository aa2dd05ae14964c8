// Command faults makes mistakes in the Go code, one at a time, and runs for each
// the tests that are to catch it: a test that has never failed proves little.
//
//	go run ./fuzz/faults            # run all, print the table
//	go run ./fuzz/faults -write     # and put it into fuzz/faults/README.md
//	go run ./fuzz/faults -run ack   # only those whose name matches; with -write, their rows
//	go run ./fuzz/faults -v         # and print what the tests say
//	go run ./fuzz/faults -every 8 -from 2   # an eighth of them: the third, the eleventh, …
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/chunkwire/chunkwire/testvectors/mutants/inject"
)

func main() {
	match := flag.String("run", "", "run only faults whose name matches this regular expression")
	write := flag.Bool("write", false, "put the table into fuzz/faults/README.md")
	verbose := flag.Bool("v", false, "print what the failing tests say")
	every := flag.Int("every", 1, "run one fault in so many")
	from := flag.Uint64("from", 0, "where to begin to count; any number")
	flag.Parse()
	if *every < 1 {
		fmt.Fprintln(os.Stderr, "faults: -every must be 1 at least")
		os.Exit(2)
	}
	if err := run(*match, *every, int(*from%uint64(*every)), *write, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
}

func run(match string, every, from int, write, verbose bool) error {
	pattern, err := regexp.Compile(match)
	if err != nil {
		return err
	}
	if _, err := os.Stat("go.mod"); err != nil {
		return errors.New("run this in the repository's root")
	}
	var chosen []fault
	for i, f := range faults() {
		if i%every == from && pattern.MatchString(f.Name) {
			chosen = append(chosen, f)
		}
	}
	verdicts, err := judgeAll(chosen)
	if err != nil {
		return err
	}
	table, missed := draw(chosen, verdicts)
	if verbose {
		tell(chosen, verdicts)
	}
	fmt.Print(table)
	if write {
		if err := writeRows(table); err != nil {
			return err
		}
	}
	if missed > 0 {
		return fmt.Errorf("%d of %d faults were not caught as they should be", missed, len(chosen))
	}
	return nil
}

// tell prints what the failing tests said.
func tell(list []fault, verdicts []verdict) {
	for i, f := range list {
		for _, o := range verdicts[i].outcomes {
			fmt.Printf("=== %s, caught by %s\n%s\n", f.Name, o.by, o.output)
		}
	}
}

const tableHead = "| Fault | Breaks | Caught by | How it shows |\n|---|---|---|---|\n"

// draw writes the table in Markdown, a row for each fault and test, and counts
// the faults that were not caught.
func draw(list []fault, verdicts []verdict) (table string, missed int) {
	var b strings.Builder
	b.WriteString(tableHead)
	for i, f := range list {
		v := verdicts[i]
		if !v.caught() {
			missed++
		}
		if v.problem != nil {
			fmt.Fprintf(&b, "%s **no verdict: %s** |\n", f.cells(f.CaughtBy[0]), inOneCell(v.problem.Error()))
		}
		for _, o := range v.outcomes {
			fmt.Fprintf(&b, "%s %s |\n", f.cells(o.by), o.cell())
		}
	}
	fmt.Fprintf(&b, "\n%d faults, %d caught.\n", len(list), len(list)-missed)
	return b.String(), missed
}

const readme = "fuzz/faults/README.md"

// writeRows puts rows into the README's table. Rows of faults that were not run
// stay as they are; those of faults that are no more go.
func writeRows(table string) error {
	before, err := os.ReadFile(readme)
	if err != nil {
		return err
	}
	lines := append(strings.Split(table, "\n"), strings.Split(string(before), "\n")...)
	var b strings.Builder
	b.WriteString(tableHead)
	list := faults()
	for _, f := range list {
		for _, by := range f.CaughtBy {
			if i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, f.cells(by)) }); i >= 0 {
				b.WriteString(lines[i] + "\n")
			}
		}
	}
	fmt.Fprintf(&b, "\n%d faults.\n", len(list))
	return inject.ReplaceTable(readme, "faults", b.String())
}

// cells are the first three cells of a row.
func (f fault) cells(by catch) string {
	return fmt.Sprintf("| %s | %s | %s |", f.Name, f.Breaks, by)
}

func (o outcome) cell() string {
	if !o.failed {
		return "**NOT CAUGHT: " + inOneCell(o.says) + "**"
	}
	return inOneCell(o.says)
}

// inOneCell makes a line of a message fit into a cell.
func inOneCell(s string) string {
	const most = 160
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + " ..."
	}
	return strings.NewReplacer("|", `\|`, "<", `\<`, "*", `\*`, "_", `\_`).Replace(s)
}
