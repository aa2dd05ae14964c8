package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

const exceptionsFile = "spec/trace/exceptions.txt"

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
