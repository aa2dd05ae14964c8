package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// target is a package that is mutated.
type target struct {
	name  string
	flags []string // of its tests' binary
}

// verdict says what became of a mutant.
type verdict int

const (
	unjudged  verdict = iota
	notViable         // does not compile: no mistake that anybody can make
	killed            // a test failed
	timedOut          // a test ran for ten times the processor time that it takes, and more
	survived          // every test passed
)

// judge finds the package's mutants and runs its tests against each.
func (t target) judge(o options) ([]*mutant, error) {
	sources, err := readSources(t.name)
	if err != nil {
		return nil, err
	}
	var mutants []*mutant
	for _, s := range sources {
		for _, m := range findMutants(s) {
			if o.match.MatchString(m.String()) {
				m.id = len(mutants) + 1
				mutants = append(mutants, m)
			}
		}
	}
	dir, err := os.MkdirTemp("", "mutation-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	binary, err := buildAll(newOverlay(dir, t), sources, mutants)
	if err != nil {
		return nil, err
	}
	if t.flags, err = flagsOf(binary); err != nil {
		return nil, err
	}
	suite, err := t.measure(binary, o.quick)
	if err != nil {
		return nil, err
	}
	return mutants, suite.judgeAll(dir, mutants, o)
}

// judgeAll gives each mutant its verdict, a few at once.
func (s suite) judgeAll(dir string, mutants []*mutant, o options) error {
	queue := make(chan *mutant)
	errs := make([]error, o.workers)
	var workers sync.WaitGroup
	for i := range o.workers {
		workers.Go(func() {
			for m := range queue {
				if err := s.judge(dir, m); err != nil {
					errs[i] = errors.Join(errs[i], fmt.Errorf("%s: %w", m, err))
				} else if o.verbose {
					fmt.Printf("%v after %v: %s %s\n", m.verdict, m.cost.Round(time.Millisecond), m, m.killer)
				}
			}
		})
	}
	for _, m := range mutants {
		queue <- m
	}
	close(queue)
	workers.Wait()
	return errors.Join(errs...)
}

// judge runs the quick tests against a mutant, then the slow ones.
func (s suite) judge(dir string, m *mutant) error {
	binary := s.binary
	if m.fn == nil {
		var err error
		if binary, err = buildOne(dir, s.target, m); err != nil {
			return err
		}
		defer os.RemoveAll(filepath.Join(dir, fmt.Sprint(m.id)))
	}
	for _, p := range s.phases {
		if m.verdict != unjudged && m.verdict != survived {
			break
		}
		o, err := s.runTwice(binary, m.id, p)
		if err != nil {
			return err
		}
		m.verdict, m.killer = o.verdict, o.failed
		m.cost += o.cpu
	}
	return nil
}
