package main

import (
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

// readExceptions reads a line each. A file that is missing has no lines.
func readExceptions(tree fs.FS) (exceptions []Exception, err error) {
	text, err := fs.ReadFile(tree, exceptionsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for i, line := range strings.Split(string(text), "\n") {
		line = spaced(line)
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.SplitN(line, " ", 3)
		if len(fields) < 3 {
			return nil, fmt.Errorf("%s:%d: want 3 fields", exceptionsFile, i+1)
		}
		e := Exception{fields[0], Obligation(fields[1]), fields[2]}
		if e.Waived != Implementation && e.Waived != Test {
			return nil, fmt.Errorf("%s:%d: %q is neither %s nor %s", exceptionsFile, i+1, e.Waived, Implementation, Test)
		}
		exceptions = append(exceptions, e)
	}
	return exceptions, err
}
