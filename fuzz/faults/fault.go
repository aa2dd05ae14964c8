package main

import (
	"path"
	"slices"
	"strings"
)

// fault is a mistake in the sources, and the tests that are to catch it.
type fault struct {
	// Name says what the mistake is, as one would tell it; with the number of the
	// field note that it comes from, where there is one: "(note 4)".
	Name string
	// Breaks names the property that no longer holds, with the sentences of the
	// specification: "re-acking of duplicates (LIVE-1, RCV-13)".
	Breaks string
	// File is where it is made; Old, which stands there exactly once, becomes New.
	File, Old, New string
	// CaughtBy are the tests each of which must fail.
	CaughtBy []catch
}

// catch is a test that must fail with the fault and pass without it.
type catch struct {
	Package string   // such as "./statemachine"
	Test    string   // a test's or a fuzz target's name
	Args    []string // of the test binary, beyond -test.run
}

func (c catch) String() string {
	words := append([]string{path.Base(c.Package) + "." + c.Test}, c.Args...)
	words = slices.DeleteFunc(words, func(w string) bool { return slices.Contains(steady, w) })
	return "`" + strings.Join(words, " ") + "`"
}

// faults are all faults, kind by kind.
func faults() []fault {
	return slices.Concat(propertyFaults, commandFaults, explorerFaults, fuzzFaults, stormFaults, recoveryFaults)
}

// steady arguments make a fault show in the same way every time, and soon: seeds
// are fixed, and what rapid finds is not shrunk.
var steady = []string{"-rapid.seed=1", "-rapid.shrinktime=0s", "-commands.seed=1"}

// statemachine are tests of that package.
func statemachine(tests ...string) []catch {
	var list []catch
	for _, t := range tests {
		list = append(list, catch{"./statemachine", t, steady})
	}
	return list
}
