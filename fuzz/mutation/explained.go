package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// explainedPath is the list of survivors that no test can or should kill: a line
// each, "- description: reason", with the description that the command prints.
const explainedPath = "fuzz/mutation/survivors.md"

// readExplained returns the reasons by the mutants' descriptions.
func readExplained(path string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	reasons := map[string]string{}
	for i, line := range strings.Split(string(text), "\n") {
		entry, ok := strings.CutPrefix(line, "- ")
		if !ok {
			continue
		}
		at := strings.LastIndex(entry, "`: ") // a reason has no such thing
		if at < 0 {
			return nil, fmt.Errorf("%s:%d: no reason", path, i+1)
		}
		description, reason := entry[:at+1], entry[at+3:]
		if !strings.HasPrefix(reason, "equivalent") && !strings.HasPrefix(reason, "harmless") {
			return nil, fmt.Errorf("%s:%d: no reason why it is equivalent or harmless", path, i+1)
		}
		if _, ok := reasons[description]; ok {
			return nil, fmt.Errorf("%s:%d: explained twice", path, i+1)
		}
		reasons[description] = reason
	}
	return reasons, nil
}

// compare fails for a survivor that is not explained, and for one that is but was
// killed.
func compare(mutants []*mutant, reasons map[string]string) error {
	var failures []error
	for _, m := range mutants {
		_, explained := reasons[m.description()]
		switch {
		case m.verdict == survived && !explained:
			failures = append(failures, fmt.Errorf("not explained: %s", m.description()))
		case m.verdict != survived && explained:
			failures = append(failures, fmt.Errorf("explained, but %v: %s", m.verdict, m.description()))
		}
	}
	return errors.Join(failures...)
}
