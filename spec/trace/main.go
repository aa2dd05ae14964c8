// Command trace shows, for every normative sentence of the specification and
// every row of its tables, which code implements it, and which tests and vectors
// check it. It fails when a sentence has no implementation or nothing that tests
// it, when something cites a sentence that does not exist, when the specification as
// data (spec/*.json) is not what the documents say, when a link of a Markdown file
// leads nowhere, when something names a section that a document does not have, and when a
// line of a document is too long.
//
//	go run ./spec/trace --summary            # the counts, and what is wrong
//	go run ./spec/trace --id SND-7           # all about one sentence
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
	"bytes"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
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
	data := flags.Bool("write", false, "write the specification as data, spec/*.json")
	flags.Bool("summary", true, "print the counts and what is wrong")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintln(stderr, "trace: nothing takes arguments")
		return 2
	}
	if !*data {
		write = nil
	}
	problems, err := trace(tree, write, stdout, *id)
	switch {
	case err != nil:
		fmt.Fprintln(stderr, "trace:", err)
		return 2
	case problems > 0:
		return 1
	}
	return 0
}

// trace writes the documents as data, or compares the data if there is no way to write,
// prints, and returns the number of problems. One sentence comes without them.
func trace(tree fs.FS, write func(string, []byte) error, w io.Writer, id string) (int, error) {
	t, err := read(tree)
	if err != nil {
		return 0, err
	}
	exceptions, err := readExceptions(tree)
	if err != nil {
		return 0, err
	}
	for _, d := range t.Documents {
		if have, err := fs.ReadFile(tree, d.dataFile()); write != nil {
			if err := write(d.dataFile(), d.data()); err != nil {
				return 0, err
			}
		} else if err != nil || !bytes.Equal(have, d.data()) {
			t.Problems = append(t.Problems, fmt.Sprintf("%s is not what %s says: --write makes it", d.dataFile(), d.File))
		}
	}
	if id != "" {
		return 0, t.printSentence(w, id, exceptions)
	}
	problems := t.check(exceptions)
	t.printSummary(w, exceptions, problems)
	return len(problems), nil
}
