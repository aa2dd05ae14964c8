package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
)

// printSentence prints all that is known of one sentence.
func (t *Trace) printSentence(w io.Writer, id string, exceptions []Exception) error {
	i := slices.IndexFunc(t.Sentences, func(s Sentence) bool { return s.ID == id })
	if i < 0 {
		return fmt.Errorf("there is no sentence %s", id)
	}
	s := t.Sentences[i]
	fmt.Fprintf(w, "%s  (%s, %s, %s:%d)\n  %s\n", s.ID, cmp.Or(s.Class, "no class"), s.Section, s.File, s.Line, s.Text)
	list := func(what string, cited []Citation) {
		fmt.Fprintf(w, "%s:%s\n", what, cmp.Or(map[bool]string{true: " none"}[len(cited) == 0], ""))
		for _, c := range cited {
			fmt.Fprintf(w, "  %v\n", c)
		}
	}
	list("implementation", t.Code[s.ID])
	list("tests", t.Tests[s.ID])
	fmt.Fprintf(w, "vectors: %d\n", len(t.Vectors[s.ID]))
	for _, name := range t.Vectors[s.ID] {
		fmt.Fprintf(w, "  %s\n", name)
	}
	var ports []Citation
	for _, port := range slices.Sorted(maps.Keys(t.Ports[s.ID])) {
		ports = append(ports, t.Ports[s.ID][port])
	}
	list("ports", ports)
	for _, e := range exceptions {
		if e.ID == s.ID {
			fmt.Fprintf(w, "no %s: %s\n", e.Waived, e.Reason)
		}
	}
	return nil
}

// printSummary prints the counts, then what is wrong.
func (t *Trace) printSummary(w io.Writer, exceptions []Exception, problems []string) {
	var code, tests, vectors int
	for _, s := range t.Sentences {
		code += min(1, len(t.Code[s.ID]))
		tests += min(1, len(t.Tests[s.ID]))
		vectors += min(1, len(t.Vectors[s.ID]))
	}
	fmt.Fprintf(w, "%d sentences and rows: %d cited by code, %d by tests, %d listed by vectors, %d exceptions, %d problems\n",
		len(t.Sentences), code, tests, vectors, len(exceptions), len(problems))
	for _, p := range problems {
		fmt.Fprintf(w, "  %s\n", p)
	}
}
