// Command mistakes makes mistakes in the sources, one at a time, and runs the
// tests and the vectors that must catch each: one that has never failed proves
// little. README.md describes the list.
//
//	go run ./fuzz/mistakes                        # make all
//	go run ./fuzz/mistakes -match ack             # those whose title, place or catchers match
//	go run ./fuzz/mistakes -every 8 -from 2       # an eighth: the third, the eleventh, …
//	go run ./fuzz/mistakes -list                  # only print them; with -json as JSON
//	go run ./fuzz/mistakes -matrix -every 40      # which kind of tests catches which
//	go run ./fuzz/mistakes -match '^control:' -worth 2   # what rules of the controller are worth
//	go run ./fuzz/mistakes -rewrite               # renew the list after names have changed
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"

	"golang.org/x/term"

	"github.com/chunkwire/chunkwire/fuzz/internal/variants"
)

func main() {
	match := flag.String("match", "", "only mistakes whose title, place or catchers match this regular expression")
	every := flag.Uint64("every", 1, "one mistake in so many")
	from := flag.Uint64("from", 0, "where to begin to count; any number")
	onlyList := flag.Bool("list", false, "print the mistakes, make none")
	asJSON := flag.Bool("json", false, "print the list as JSON")
	rewrite := flag.Bool("rewrite", false, "renew the list where names or neighbours of its lines have changed, and print what was renewed")
	matrix := flag.Bool("matrix", false, "run every kind of tests against each mistake, and print which catch it")
	worth := flag.Int("worth", 0, "run so many worlds of each family of the controller's judges against the first mistake in each sentence, and print what changes")
	seed := flag.Uint64("seed", 9000, "of the first of these worlds")
	page := flag.String("page", "", "write that table into this Markdown file, too")
	noSkip := flag.Bool("no-skip", false, "fail when the compiler of a port is missing")
	tests := flag.String("tests", "", "for the matrix, only tests whose 'package Test' matches this regular expression")
	flag.Parse()
	err := func() error {
		l, err := readList()
		if err != nil {
			return err
		}
		if _, err := os.Stat("go.mod"); err != nil {
			return errors.New("run this in the repository's root")
		}
		if *rewrite {
			return l.rewrite()
		}
		pattern, err := regexp.Compile(*match)
		if err != nil {
			return err
		}
		chosen := l.choose(pattern, max(*every, 1), *from)
		if *onlyList {
			return printList(chosen, *asJSON)
		}
		if *matrix {
			judges, err := regexp.Compile(*tests)
			if err != nil {
				return err
			}
			return l.printMatrix(chosen, judges)
		}
		if *worth > 0 {
			return l.printWorth(chosen, *worth, *seed, *page)
		}
		tried, skipped := possible(chosen)
		for _, s := range skipped {
			fmt.Println("skipped:", s)
		}
		if *noSkip && len(skipped) > 0 {
			return fmt.Errorf("%d mistakes cannot be tried here", len(skipped))
		}
		return l.run(tried)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mistakes:", err)
		os.Exit(1)
	}
}

func printList(list []*mistake, asJSON bool) error {
	if asJSON {
		out := json.NewEncoder(os.Stdout)
		out.SetEscapeHTML(false)
		out.SetIndent("", "  ")
		return out.Encode(list)
	}
	for _, m := range list {
		fmt.Println(m)
	}
	fmt.Println(len(list), "mistakes")
	return nil
}

// run makes mistakes and prints the verdicts as they come.
func (l *list) run(chosen []*mistake) error {
	changed := map[*mistake]map[string]string{}
	for _, m := range chosen {
		var err error
		if changed[m], err = l.code.apply(m); err != nil {
			return fmt.Errorf("%s: %w", m.Title, err)
		}
	}
	progress("running all tests and vectors without a mistake")
	if err := unchanged(chosen); err != nil {
		return err
	}
	done, missed := 0, 0
	variants.Each(chosen, func(m *mistake) verdict { return try(m, changed[m]) }, func(_ *mistake, v verdict) {
		done++
		if !v.caught() {
			missed++
		}
		progress("")
		fmt.Println(v)
		progress(fmt.Sprintf("%d of %d", done, len(chosen)))
	})
	progress("")
	fmt.Printf("%d mistakes, %d caught\n", len(chosen), len(chosen)-missed)
	if missed > 0 {
		return fmt.Errorf("%d of %d mistakes were not caught as they should be", missed, len(chosen))
	}
	return nil
}

// progress replaces the last line of a terminal.
func progress(text string) {
	if term.IsTerminal(int(os.Stderr.Fd())) {
		fmt.Fprintf(os.Stderr, "\r\033[K%s", text)
	}
}

// rewrite renews the list where the sources have changed, and makes sure that it compiles.
func (l *list) rewrite() error {
	var failures []error
	for _, m := range l.mistakes {
		changed, err := l.code.rewrite(m)
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", m.Title, err))
		} else if changed {
			fmt.Println(m)
		}
	}
	if err := errors.Join(append(failures, l.write())...); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mistakes-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	_, _, err = l.build(dir, l.mistakes)
	return err
}
