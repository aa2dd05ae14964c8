package main

import (
	"fmt"
	"slices"
	"strings"
)

// check returns everything that is wrong, in the order of the document.
func (t *Trace) check(exceptions []Exception) []string {
	problems := append(slices.Clone(t.Problems), t.shared()...)
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }

	known := map[string]Sentence{}
	for _, s := range t.Sentences {
		if first, twice := known[s.ID]; twice {
			say("%s is defined twice: %s:%d and %s:%d", s.ID, first.File, first.Line, s.File, s.Line)
			continue
		}
		known[s.ID] = s
		problems = append(problems, t.missing(s, exceptions)...)
	}
	problems = append(problems, t.unknown(known)...)
	problems = append(problems, t.idle(known, exceptions)...)
	problems = append(problems, checkConstants(t.Documents)...)
	problems = append(problems, checkCodes(t.Documents, known)...)
	return problems
}

// shared returns the letters of ids, such as SND, that two documents have.
func (t *Trace) shared() (problems []string) {
	owner := map[string]string{}
	for _, s := range t.Sentences {
		f := family(s.ID)
		if first, known := owner[f]; known && first != s.File {
			problems = append(problems, fmt.Sprintf("both %s and %s have ids of the form %s", first, s.File, s.ID))
		}
		owner[f] = s.File
	}
	return problems
}

// has reports whether an obligation is met.
func (t *Trace) has(id string, o Obligation) bool {
	if o == Implementation {
		return len(t.Code[id]) > 0
	}
	return len(t.Tests[id])+len(t.Vectors[id]) > 0
}

// missing returns which obligations of a sentence are neither met nor waived.
func (t *Trace) missing(s Sentence, exceptions []Exception) (problems []string) {
	for _, o := range []Obligation{Implementation, Test} {
		excused := slices.ContainsFunc(exceptions, func(e Exception) bool { return e.ID == s.ID && e.Waived == o })
		if s.Needs(o) && !t.has(s.ID, o) && !excused {
			problems = append(problems, fmt.Sprintf("%s has no %s", s.ID, o))
		}
	}
	return problems
}

// unknown returns which citations name a sentence that does not exist.
func (t *Trace) unknown(known map[string]Sentence) (problems []string) {
	report := func(id, where string) {
		if _, exists := known[id]; !exists {
			problems = append(problems, fmt.Sprintf("%s: there is no sentence %s", where, id))
		}
	}
	for _, cited := range []map[string][]Citation{t.Code, t.Tests} {
		for _, id := range sortedIDs(cited) {
			for _, c := range cited[id] {
				report(id, c.String())
			}
		}
	}
	for _, id := range sortedIDs(t.Ports) {
		for _, c := range t.Ports[id] {
			report(id, c.String())
		}
	}
	for _, c := range t.Others {
		report(c.ID, c.String())
	}
	for _, id := range sortedIDs(t.Vectors) {
		report(id, "vector "+t.Vectors[id][0])
	}
	return problems
}

// idle returns which exceptions excuse nothing.
func (t *Trace) idle(known map[string]Sentence, exceptions []Exception) (problems []string) {
	for _, e := range exceptions {
		s, exists := known[e.ID]
		switch {
		case !exists:
			problems = append(problems, fmt.Sprintf("%s: there is no sentence %s", exceptionsFile, e.ID))
		case t.has(e.ID, e.Waived) || !s.Needs(e.Waived):
			problems = append(problems, fmt.Sprintf("%s: %s needs no exception any more: it has its %s, or needs none", exceptionsFile, e.ID, e.Waived))
		case strings.TrimSpace(e.Reason) == "":
			problems = append(problems, fmt.Sprintf("%s: %s gives no reason", exceptionsFile, e.ID))
		}
	}
	return problems
}

func sortedIDs[V any](m map[string]V) (ids []string) {
	for id := range m {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, byID)
	return ids
}
