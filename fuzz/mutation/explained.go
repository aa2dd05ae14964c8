package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// explainedPath is the list of survivors that no test can or should kill: a line each,
// "- description: reason", with the description that the command prints before what
// becomes of the code. One that ends with a star is for all that begin so, whether they
// survive or not.
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
		description, reason, _ := strings.Cut(entry, ": ")
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

// reasonFor returns why a mutant may survive.
func reasonFor(m *mutant, reasons map[string]string) (reason string, one, some bool) {
	if reason, one = reasons[m.description()]; one {
		return reason, true, true
	}
	for description, reason := range reasons {
		if start, ok := strings.CutSuffix(description, "*"); ok && strings.HasPrefix(m.description(), start) {
			return reason, false, true
		}
	}
	return "", false, false
}

// compare fails for a survivor that is not explained, and for one that is but was
// killed.
func compare(mutants []*mutant, reasons map[string]string) error {
	var failures []error
	for _, m := range mutants {
		_, one, some := reasonFor(m, reasons)
		switch {
		case m.verdict == survived && !some:
			failures = append(failures, fmt.Errorf("not explained: %s", m))
		case m.verdict != survived && one:
			failures = append(failures, fmt.Errorf("explained, but %v: %s", m.verdict, m))
		}
	}
	return errors.Join(failures...)
}
