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
	quick := flag.Bool("quick", false, "leave out tests that take 100 ms or more: an upper bound of what survives, in a fifth of the time")
	verbose := flag.Bool("v", false, "print the verdict on each mutant")
	flag.Parse()
	pattern, err := regexp.Compile(*match)
	if err == nil {
		err = run(flag.Args(), options{pattern, *match == "", *check, *quick, *verbose})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutation:", err)
		os.Exit(1)
	}
}

type options struct {
	match *regexp.Regexp
	whole bool // all mutants match

	check, quick, verbose bool
}

func run(names []string, o options) error {
	if _, err := os.Stat("go.mod"); err != nil {
		return errors.New("run this in the repository's root")
	}
	reasons, err := readExplained(explainedPath)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		names = packages
	}
	var failures []error
	for _, name := range names {
		if !slices.Contains(packages, name) {
			return fmt.Errorf("%s is not among the packages that are mutated", name)
		}
		began := time.Now()
		mutants, err := judge(name, o)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Printf("\n%s, in %v\n", name, time.Since(began).Round(time.Second))
		failures = append(failures, reasons.report(os.Stdout, mutants, o.whole))
		if o.check {
			failures = append(failures, reasons.compare(mutants))
		}
	}
	return errors.Join(failures...)
}
