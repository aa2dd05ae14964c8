// Command coverage tells how much of each package the inputs of the fuzz targets
// reach, and what they do not.
//
//	go run ./fuzz/coverage                 # seeds, and the finds in testdata/fuzz
//	go run ./fuzz/coverage -corpus DIR     # and what fuzzing has kept there
//	go run ./fuzz/coverage -all            # lines not reached of every package
//
// "seeds" are those in the code, which come from the vectors; "found" is what
// fuzzing has kept because it reached something new, and so leaves out what the
// seeds reached before; "both" is all of it. What runs only while the seeds are
// made counts in none of them.
//
// It exits 1 when both of bitpack, codec or statemachine is below 95 % without the
// functions that gaps.txt explains, and 2 when it could not do its work.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// needed is the least share of these packages, in percent, that inputs must reach.
const needed = 95

var mustReach = []string{"bitpack", "codec", "statemachine"}

func main() {
	corpus := flag.String("corpus", "", "folder of what fuzzing keeps between nights, as fuzz/nightly has it")
	gapsFile := flag.String("gaps", "fuzz/coverage/gaps.txt", "file of the functions that need not be reached, with reasons")
	all := flag.Bool("all", false, "print the lines not reached of every package")
	flag.Parse()
	enough, err := report(os.Stdout, *corpus, *gapsFile, *all)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "coverage:", err)
		os.Exit(2)
	case !enough:
		os.Exit(1)
	}
}

func report(w io.Writer, corpus, gapsFile string, all bool) (enough bool, err error) {
	if _, err := os.Stat("go.mod"); err != nil {
		return false, errors.New("run this in the repository's root")
	}
	gaps, err := readGaps(gapsFile)
	if err != nil {
		return false, err
	}
	m, err := measure("fuzz", corpus)
	if err != nil {
		return false, err
	}
	functions, err := m.functions()
	if err != nil {
		return false, err
	}
	if err := gaps.check(functions); err != nil {
		return false, err
	}
	enough = writeTable(w, m, functions, gaps)
	for _, pkg := range m.packages {
		if all || slices.Contains(mustReach, pkg.inside) {
			writeMisses(w, m, functions, gaps, pkg)
		}
	}
	return enough, nil
}

// writeTable writes a row for each package, and reports whether those that must be
// reached are.
func writeTable(w io.Writer, m measurement, f functions, gaps gaps) (enough bool) {
	enough = true
	fmt.Fprintf(w, "%-22s %7s %7s %7s %16s\n", "package", "seeds", "found", "both", "without gaps.txt")
	for _, pkg := range m.packages {
		var seeds, found, both, explained share
		for _, b := range m.blocks {
			if b.pkg != pkg.path {
				continue
			}
			seeds.add(b, b.seeds)
			found.add(b, b.found)
			both.add(b, b.reached())
			if gaps.reason(f.of(b)) == "" || b.reached() {
				explained.add(b, b.reached())
			}
		}
		verdict := ""
		if slices.Contains(mustReach, pkg.inside) && explained.percent() < needed {
			verdict, enough = fmt.Sprintf("  below %d", needed), false
		}
		fmt.Fprintf(w, "%-22s %7.1f %7.1f %7.1f %16.1f%s\n", pkg.inside, seeds.percent(), found.percent(), both.percent(), explained.percent(), verdict)
	}
	return enough
}

// writeMisses writes the lines of a package that nothing reaches, by function.
func writeMisses(w io.Writer, m measurement, f functions, gaps gaps, pkg pkg) {
	lines := map[string][]string{}
	var order []string
	for _, b := range m.blocks {
		if b.pkg != pkg.path || b.reached() {
			continue
		}
		name := f.of(b).name
		if lines[name] == nil {
			order = append(order, name)
		}
		lines[name] = append(lines[name], fmt.Sprintf("%s:%d", b.file, b.line))
	}
	if len(order) == 0 {
		return
	}
	fmt.Fprintf(w, "\nnot reached in %s:\n", pkg.inside)
	for _, name := range order {
		reason := gaps.reason(function{inside: pkg.inside, name: name})
		if reason != "" {
			reason = "  (" + reason + ")"
		}
		fmt.Fprintf(w, "  %s: %s%s\n", name, strings.Join(lines[name], ", "), reason)
	}
}

// share is a part of a number of statements.
type share struct{ reached, all int }

func (s *share) add(b block, reached bool) {
	s.all += b.statements
	if reached {
		s.reached += b.statements
	}
}

func (s share) percent() float64 {
	if s.all == 0 {
		return 100
	}
	return 100 * float64(s.reached) / float64(s.all)
}
