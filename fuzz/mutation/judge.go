package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/chunkwire/chunkwire/fuzz/internal/variants"
)

// The ends of a mutant; "" is a mutant that has not ended.
const (
	notViable = "not viable" // does not compile: no mistake that anybody can make
	killed    = "killed"     // a test failed
	timedOut  = "timed out"  // a test ran for ten times the processor time that it takes, and more
	survived  = "survived"   // every test passed
)

// slowTests begin a phase each: a test that takes as long runs only when all
// quicker ones have passed.
var slowTests = []time.Duration{20 * time.Millisecond, 100 * time.Millisecond, time.Second}

// judge finds a package's mutants and runs its tests against each.
func judge(pkg string, o options) ([]*mutant, error) {
	mutants, err := mutantsOf(pkg, o)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "mutation-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	versions := map[int]variants.Version{}
	for _, m := range mutants {
		if m.fn != nil {
			versions[m.id] = m.version()
		}
	}
	all, err := variants.All(dir, versions)
	if err != nil {
		return nil, err
	}
	tests, err := all.Tests(pkg)
	if err != nil {
		return nil, err
	}
	phases, err := phasesOf(tests, o.quick)
	if err != nil {
		return nil, err
	}
	var failures []error
	variants.Each(mutants, func(m *mutant) error {
		if all.Without[m.id] != nil {
			m.end = notViable
			return nil
		}
		return m.judge(tests, phases)
	}, func(m *mutant, err error) {
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", m, err))
		} else if o.verbose {
			fmt.Printf("%v after %v: %s %s\n", m.end, m.cost.Round(time.Millisecond), m, m.killer)
		}
	})
	return mutants, errors.Join(failures...)
}

// phasesOf sorts a package's tests by how long they take. If only the quick ones are
// asked for there are the first two phases.
func phasesOf(tests *variants.Tests, quick bool) ([]*variants.Suite, error) {
	names, err := variants.Declared(tests.Package)
	if err != nil {
		return nil, err
	}
	costs, err := tests.Measure(names)
	if err != nil {
		return nil, err
	}
	phases := make([]*variants.Suite, len(slowTests)+1)
	for i := range phases {
		phases[i] = &variants.Suite{}
	}
	for name, cost := range costs {
		phases[phase(cost)].Add(name, cost)
	}
	if quick {
		phases = phases[:2]
	}
	return phases, nil
}

// phase returns which phase a test belongs to.
func phase(cost time.Duration) (i int) {
	for i < len(slowTests) && cost >= slowTests[i] {
		i++
	}
	return i
}

// judge runs the quick tests against a mutant, then the slow ones. One outside functions
// gets a binary of its own.
func (m *mutant) judge(tests *variants.Tests, phases []*variants.Suite) error {
	if m.fn == nil {
		dir, err := os.MkdirTemp("", "mutant-*")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		if tests, err = m.alone(dir, tests.Package); err != nil || m.end != "" {
			return err
		}
	}
	m.end = survived
	for _, p := range phases {
		o, err := p.Judge(tests, m.id)
		if err != nil {
			return err
		}
		m.cost += o.Cost
		if o.Verdict != variants.Passed {
			m.end, m.killer = killed, o.Test
			if o.Verdict == variants.Endless {
				m.end = timedOut
			}
			break
		}
	}
	return nil
}

// alone builds the tests with one mutant in the sources.
func (m *mutant) alone(dir, pkg string) (*variants.Tests, error) {
	b := &variants.Build{Dir: dir}
	if err := b.Replace(map[string]string{m.file.Path: variants.Apply(m.file.Text, 0, m.edits())}); err != nil {
		return nil, err
	}
	tests, err := b.Tests(pkg)
	if err == nil {
		return tests, nil
	}
	m.end = notViable
	if b.Compile(pkg) == nil {
		m.end, m.killer = killed, "its tests do not compile"
	}
	return nil, nil
}
