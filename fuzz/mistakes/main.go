// Command mistakes makes mistakes in the sources, one at a time, and runs the
// tests and the vectors that must catch each: one that has never failed proves
// little. README.md describes the list.
//
//	go run ./fuzz/mistakes                        # make all
//	go run ./fuzz/mistakes -match ack             # those whose title, place or catchers match
//	go run ./fuzz/mistakes -every 8 -from 2       # an eighth: the third, the eleventh, …
//	go run ./fuzz/mistakes -list                  # only list them; with -json as JSON
//	go run ./fuzz/mistakes -show TITLE            # one as a change of the present source
//	go run ./fuzz/mistakes -nodes 'statemachine.(*Sender).hear'
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/term"
)

func main() {
	match := flag.String("match", "", "only mistakes whose title, place or catchers match this regular expression")
	every := flag.Uint64("every", 1, "one mistake in so many")
	from := flag.Uint64("from", 0, "where to begin to count; any number")
	onlyList := flag.Bool("list", false, "list the mistakes, make none")
	asJSON := flag.Bool("json", false, "print JSON")
	show := flag.String("show", "", "print the mistake with this title as a change of the source")
	nodes := flag.String("nodes", "", "print the numbered nodes of a place, such as 'statemachine.(*Sender).hear'")
	flag.Parse()
	err := func() error {
		l, err := readList()
		if err != nil {
			return err
		}
		if _, err := os.Stat("go.mod"); err != nil {
			return errors.New("run this in the repository's root")
		}
		switch {
		case *nodes != "":
			return l.printNodes(*nodes)
		case *show != "":
			return l.show(*show)
		}
		pattern, err := regexp.Compile(*match)
		if err != nil {
			return err
		}
		chosen := l.choose(pattern, max(*every, 1), *from)
		if *onlyList {
			return printList(chosen, *asJSON)
		}
		return l.run(chosen, *asJSON)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mistakes:", err)
		os.Exit(1)
	}
}

// choose returns the mistakes that match, and of those one in every so many.
func (l *list) choose(pattern *regexp.Regexp, every, from uint64) (chosen []*mistake) {
	var n uint64
	for _, m := range l.mistakes {
		if pattern.MatchString(strings.Join([]string{m.Title, m.Place, m.catchers()}, "\n")) {
			if n%every == from%every {
				chosen = append(chosen, m)
			}
			n++
		}
	}
	return chosen
}

func (m *mistake) catchers() string {
	var words []string
	for _, t := range m.Tests {
		words = append(words, t.String())
	}
	if m.Vectors {
		words = append(words, "vectors")
	}
	return strings.Join(words, ", ")
}

func printList(list []*mistake, asJSON bool) error {
	if asJSON {
		return printJSON(list)
	}
	for _, m := range list {
		fmt.Printf("%s\n    in %s, caught by %s\n", m.Title, m.Place, m.catchers())
	}
	fmt.Println(len(list), "mistakes")
	return nil
}

func printJSON(v any) error {
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(v)
}

// run makes mistakes and prints the verdicts as they come.
func (l *list) run(chosen []*mistake, asJSON bool) error {
	for _, m := range chosen {
		if err := l.check(m); err != nil {
			return fmt.Errorf("%s: %w", m.Title, err)
		}
	}
	dir, err := os.MkdirTemp("", "mistakes-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	j := judge{dir}
	progress("running all tests and vectors without a mistake")
	if err := j.unchanged(chosen); err != nil {
		return err
	}
	var mu sync.Mutex
	var verdicts []verdict
	missed := 0
	each(chosen, func(m *mistake) {
		changed, _ := l.code.apply(m) // check has done so before
		v := j.try(m, changed)
		mu.Lock()
		defer mu.Unlock()
		verdicts = append(verdicts, v)
		if !v.caught() {
			missed++
		}
		progress("")
		if !asJSON {
			fmt.Println(v)
		}
		progress(fmt.Sprintf("%d of %d", len(verdicts), len(chosen)))
	})
	progress("")
	if asJSON {
		err = printJSON(verdicts)
	} else {
		fmt.Printf("%d mistakes, %d caught\n", len(chosen), len(chosen)-missed)
	}
	if missed > 0 {
		return fmt.Errorf("%d of %d mistakes were not caught as they should be", missed, len(chosen))
	}
	return err
}

// progress replaces the last line of a terminal.
func progress(text string) {
	if term.IsTerminal(int(os.Stderr.Fd())) {
		fmt.Fprintf(os.Stderr, "\r\033[K%s", text)
	}
}

// printNodes prints a place with the numbers that changes are written with.
func (l *list) printNodes(name string) error {
	p, err := l.code.find(name)
	if err != nil {
		return err
	}
	fmt.Printf("-- %s %s --\n%s:%d\n", name, p.shape, p.file, p.line)
	for _, n := range p.nodes {
		text, rest, _ := strings.Cut(string(p.text[n.from:n.to]), "\n")
		if rest != "" {
			text += " …"
		}
		fmt.Printf("%-5s %s%s\n", n.name, strings.Repeat("  ", n.depth), text)
	}
	for _, title := range l.at(name) {
		fmt.Println("mistake:", title)
	}
	return nil
}

// show prints a mistake as a difference of files.
func (l *list) show(title string) error {
	i := slices.IndexFunc(l.mistakes, func(m *mistake) bool { return m.Title == title })
	if i < 0 {
		return fmt.Errorf("there is no mistake %q", title)
	}
	changed, err := l.code.apply(l.mistakes[i])
	for file, text := range changed {
		diff := exec.Command("diff", "-u", file, "-")
		diff.Stdin, diff.Stdout, diff.Stderr = bytes.NewReader(text), os.Stdout, os.Stderr
		_ = diff.Run() // it fails where there is a difference
	}
	return err
}
