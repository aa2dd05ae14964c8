// Command trace shows, for every normative sentence of the specification and
// every row of its tables, which code implements it, and which tests and vectors
// check it. It fails when a sentence has no implementation or nothing that tests
// it, when something cites a sentence that does not exist, when the specification as
// data (spec/*.json) is not what the documents say, when a link of a Markdown file
// leads nowhere, and when a line of a document is too long.
//
//	go run ./spec/trace                      # the table and what is wrong
//	go run ./spec/trace --id SND-7           # all about one sentence
//	go run ./spec/trace --summary            # only what is wrong
//	go run ./spec/trace --json
//	go run ./spec/trace --write              # makes spec/*.json
//
// Every Markdown file in spec is a document; its letters, such as SND, are its own.
// What else there is to know of a document, such as where its rows are cited, is a line
// of sources.
// Code and tests cite by writing the id, best in parentheses at the end of a
// comment: "(SND-7)", "(RTT-2 to RTT-4)". Properties follow from the rest, and
// need only tests. What else is waived stands with its reason in exceptions.txt.
package main

import (
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
)

func main() {
	write := func(name string, data []byte) error { return os.WriteFile(name, data, 0o644) }
	os.Exit(run(os.DirFS("."), write, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the command in a tree; it writes files by write, and returns the exit
// code: 1 when something is wrong, 2 when that cannot be found out.
func run(tree fs.FS, write func(name string, data []byte) error, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("trace", flag.ContinueOnError)
	flags.SetOutput(stderr)
	id := flags.String("id", "", "show only this sentence")
	asJSON := flags.Bool("json", false, "print JSON")
	summary := flags.Bool("summary", false, "print only the counts and what is wrong")
	data := flags.Bool("write", false, "write the specification as data, spec/*.json")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintln(stderr, "trace: nothing takes arguments")
		return 2
	}
	view := view{id: *id, json: *asJSON, summary: *summary || *data, data: *data}
	problems, err := trace(tree, write, stdout, view)
	if err != nil {
		fmt.Fprintln(stderr, "trace:", err)
		return 2
	}
	if problems > 0 {
		return 1
	}
	return 0
}

// view is what is printed.
type view struct {
	id            string // empty: all
	json, summary bool
	data          bool // written before
}

// trace writes what it is asked to, prints, and returns the number of problems.
func trace(tree fs.FS, write func(string, []byte) error, w io.Writer, v view) (int, error) {
	t, err := read(tree)
	if err != nil {
		return 0, err
	}
	exceptions, err := readExceptions(tree)
	if err != nil {
		return 0, err
	}
	if err := t.update(tree, write, v); err != nil {
		return 0, err
	}
	problems := t.check(exceptions)
	if err := t.print(w, v, exceptions, problems); err != nil || v.id != "" && !v.json {
		return 0, err // one sentence, as text, comes without the problems
	}
	return len(problems), nil
}

// update writes the data of the documents, or compares it.
func (t *Trace) update(tree fs.FS, write func(string, []byte) error, v view) error {
	if !v.data {
		t.Problems = append(t.Problems, checkData(tree, t.Documents)...)
		return nil
	}
	for _, d := range t.Documents {
		if err := write(dataFile(d.File), d.data()); err != nil {
			return err
		}
	}
	return nil
}

// print prints what is to be seen.
func (t *Trace) print(w io.Writer, v view, exceptions []Exception, problems []string) error {
	shown := t.Sentences
	if v.id != "" {
		i := slices.IndexFunc(shown, func(s Sentence) bool { return s.ID == v.id })
		if i < 0 {
			return fmt.Errorf("there is no sentence %s", v.id)
		}
		shown = shown[i : i+1]
	}
	switch {
	case v.json:
		return t.printJSON(w, shown, problems)
	case v.id != "":
		t.printSentence(w, shown[0], exceptions)
		return nil
	case !v.summary:
		t.printTable(w, exceptions)
	}
	t.printSummary(w, exceptions, problems)
	return nil
}
