package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/chunkwire/chunkwire/fuzz/internal/variants"
)

// patience is how much of a processor one test may take. One that hangs has reported
// nothing.
const patience = 60 * time.Second

// verdict is what became of a mistake.
type verdict struct {
	*mistake
	outcomes []outcome
	problem  error // why some are missing
}

// outcome is how one test, or all vectors, ended.
type outcome struct {
	by      string
	failed  bool
	message string
}

func (v verdict) caught() bool {
	return v.problem == nil && !slices.ContainsFunc(v.outcomes, func(o outcome) bool { return !o.failed })
}

func (v verdict) String() string {
	if v.caught() {
		return "caught      " + v.Title
	}
	text := "NOT CAUGHT  " + v.Title
	for _, o := range v.outcomes {
		if !o.failed {
			text += "\n            " + o.by + ": " + o.message
		}
	}
	if v.problem != nil {
		text += "\n            " + v.problem.Error()
	}
	return text
}

// unchanged returns which of the tests and vectors that are to catch any of these
// mistakes fail on the sources as they are.
func unchanged(list []*mistake) (err error) {
	parts := map[string]*mistake{} // one with all tests of a package, or with the vectors for a port
	for _, m := range list {
		for _, t := range m.Tests {
			key := "tests " + t.Package
			if parts[key] == nil {
				parts[key] = &mistake{}
			}
			if p := parts[key]; !slices.Contains(p.Tests, t) {
				p.Tests = append(p.Tests, t)
			}
		}
		if m.Vectors {
			parts["vectors "+m.port()] = &mistake{Vectors: true, Hunks: m.Hunks}
		}
	}
	work := func(p *mistake) verdict { return try(p, nil) }
	variants.Each(slices.Collect(maps.Values(parts)), work, func(_ *mistake, v verdict) {
		err = errors.Join(err, v.problem)
		for _, o := range v.outcomes {
			if o.message != passed {
				err = errors.Join(err, fmt.Errorf("%s fails without any mistake: %s", o.by, o.message))
			}
		}
	})
	return err
}

// try runs a mistake's tests and vectors with files replaced.
func try(m *mistake, changed map[string]string) (v verdict) {
	v.mistake = m
	dir, err := os.MkdirTemp("", "mistake-*")
	if err != nil {
		v.problem = err
		return v
	}
	defer os.RemoveAll(dir)
	b := &variants.Build{Dir: dir}
	if v.problem = b.Replace(changed); v.problem != nil {
		return v
	}
	take := func(o outcome, err error) {
		v.outcomes, v.problem = append(v.outcomes, o), errors.Join(v.problem, err)
	}
	for _, t := range m.Tests {
		take(runTest(b, t))
	}
	if m.Vectors {
		take(runVectors(b, m.port(), changed))
	}
	return v
}

// passed is the message of a test that did not fail.
const passed = "it passes"

func runTest(b *variants.Build, t test) (outcome, error) {
	o := outcome{by: t.String(), message: passed}
	tests, err := b.Tests(t.Package)
	if err != nil {
		return o, err
	}
	run, err := tests.Run(0, patience, append(words(t.Args), "-test.run=^("+t.Name+")$")...)
	switch {
	case err != nil:
		return o, err
	case run.Verdict == variants.Endless:
		o.message = fmt.Sprintf("no end after %v", patience)
	case strings.Contains(run.Output, "no tests to run"):
		return o, fmt.Errorf("there is no %s", t)
	case run.Verdict == variants.Failed:
		o.failed, o.message = message(run.Output)
	}
	return o, nil
}

var says = regexp.MustCompile(`(?m)^\s+\w+\.go:\d+: (?:\[rapid\] (?:failed|panic) after \d+ tests?: )?(.*)$|^\s*(panic: .*)$`)

// message returns whether a test failed, and the first line of what it says.
func message(output string) (bool, string) {
	if i := strings.Index(output, "--- FAIL: "); i >= 0 {
		output = output[i:]
	}
	m := says.FindStringSubmatch(output)
	if m == nil {
		return false, "it fails without a message"
	}
	return true, m[1] + m[2]
}
