package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

const (
	confirmedFile  = "spec/trace/confirmed.txt"
	exceptionsFile = "spec/trace/exceptions.txt"
	withdrawn      = "withdrawn" // instead of a hash
)

// Confirmed holds the hash of each sentence's words when somebody last saw that
// its citations are true.
type Confirmed map[string]string

func readConfirmed(tree fs.FS) (Confirmed, error) {
	confirmed := Confirmed{}
	err := readRecords(tree, confirmedFile, 2, func(fields []string) error {
		if _, twice := confirmed[fields[0]]; twice {
			return fmt.Errorf("%s stands there twice", fields[0])
		}
		confirmed[fields[0]] = fields[1]
		return nil
	})
	return confirmed, err
}

// String returns the file's text.
func (c Confirmed) String() string {
	var ids []string
	for id := range c {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, byID)
	var b strings.Builder
	b.WriteString("# Each sentence's id and the hash of its words when its citations were last confirmed.\n")
	b.WriteString("# Written by: go run ./spec/trace --confirm ID...\n")
	for _, id := range ids {
		fmt.Fprintf(&b, "%s %s\n", id, c[id])
	}
	return b.String()
}

// Confirm takes over the present words of sentences, of all if ids is "all". A
// sentence that is gone is withdrawn: its id is never given again.
func (c Confirmed) Confirm(sentences []Sentence, ids []string) error {
	now := map[string]string{}
	for id := range c {
		now[id] = withdrawn
	}
	for _, s := range sentences {
		now[s.ID] = s.Hash()
	}
	if slices.Equal(ids, []string{"all"}) {
		ids = nil
		for id := range now {
			ids = append(ids, id)
		}
	}
	for _, id := range ids {
		hash, known := now[id]
		if !known {
			return fmt.Errorf("there is no sentence %s", id)
		}
		if c[id] == withdrawn && hash != withdrawn {
			return fmt.Errorf("%s was withdrawn; an id is never given again", id)
		}
		c[id] = hash
	}
	return nil
}

// Exception waives an obligation of a sentence, for a reason.
type Exception struct {
	ID     string
	Waived Obligation
	Reason string
}

func readExceptions(tree fs.FS) (exceptions []Exception, err error) {
	err = readRecords(tree, exceptionsFile, 3, func(fields []string) error {
		e := Exception{fields[0], Obligation(fields[1]), fields[2]}
		if e.Waived != Implementation && e.Waived != Test {
			return fmt.Errorf("%s: %q is neither %s nor %s", e.ID, e.Waived, Implementation, Test)
		}
		exceptions = append(exceptions, e)
		return nil
	})
	return exceptions, err
}

// readRecords calls add with the n fields of each line that is not a comment; the
// last field is the rest of the line. A file that is missing has no lines.
func readRecords(tree fs.FS, name string, n int, add func(fields []string) error) error {
	f, err := tree.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for at := 1; lines.Scan(); at++ {
		line := spaced(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.SplitN(line, " ", n)
		err := fmt.Errorf("want %d fields", n)
		if len(fields) == n {
			err = add(fields)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", name, at, err)
		}
	}
	return lines.Err()
}
