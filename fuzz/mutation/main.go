// Command mutation makes every small mistake it can in the packages that must be right,
// one at a time, and runs the package's own tests against each: a mutant that no test
// kills is a mistake that could be in there unseen.
//
//	go run ./fuzz/mutation                   # all packages
//	go run ./fuzz/mutation -check            # and compare the survivors with survivors.md
//	go run ./fuzz/mutation -run Prev bitset  # mutants whose line matches, of one package
//
// README.md says how it works.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"time"
)

// packages are what is mutated.
var packages = []string{
	"core", "bitpack", "codec/erasure", "internal/rtt", "internal/table", "codec", "internal/frame", "internal/acktimer", "statemachine", "statemachine/schedule/base", "statemachine/schedule/control", "statemachine/schedule/adaptive", "statemachine/schedule/rateless", "packet", "channel", "connection/session", "connection/lanes", "connection",
}

// least is the share of mutants, in percent, that must be killed in each package.
const least = 95

func main() {
	check := flag.Bool("check", false, "fail when the survivors are not exactly those that "+explainedPath+" explains")
	match := flag.String("run", "", "run only mutants whose line matches this regular expression")
	workers := flag.Int("workers", 2, "how many mutants run at once, a core each")
	quick := flag.Bool("quick", false, "leave out tests that take 100 ms or more: an upper bound of what survives, in a fifth of the time")
	verbose := flag.Bool("v", false, "print the verdict on each mutant")
	flag.Parse()
	o := options{check: *check, quick: *quick, workers: *workers, verbose: *verbose}
	if err := run(*match, flag.Args(), o); err != nil {
		fmt.Fprintln(os.Stderr, "mutation:", err)
		os.Exit(1)
	}
}

type options struct {
	match   *regexp.Regexp
	check   bool
	quick   bool
	verbose bool
	workers int
}

func run(match string, names []string, o options) error {
	var err error
	if o.match, err = regexp.Compile(match); err != nil {
		return err
	}
	if _, err := os.Stat("go.mod"); err != nil {
		return errors.New("run this in the repository's root")
	}
	reasons, err := readExplained(explainedPath)
	if err != nil {
		return err
	}
	chosen, err := choose(names)
	if err != nil {
		return err
	}
	var failures []error
	for _, name := range chosen {
		t := target{name: name}
		began := time.Now()
		mutants, err := t.judge(o)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		fmt.Printf("\n%s, in %v\n", t.name, time.Since(began).Round(time.Second))
		failures = append(failures, report(os.Stdout, mutants, reasons, match == ""))
		if o.check {
			failures = append(failures, compare(mutants, reasons))
		}
	}
	return errors.Join(failures...)
}

func choose(names []string) ([]string, error) {
	if len(names) == 0 {
		return packages, nil
	}
	for _, name := range names {
		if !slices.Contains(packages, name) {
			return nil, fmt.Errorf("%s is none of the packages that are mutated", name)
		}
	}
	return names, nil
}
