package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// printTable prints a line for each sentence, by sections.
func (t *Trace) printTable(w io.Writer, exceptions []Exception) {
	section := ""
	for _, s := range t.Sentences {
		if s.Section != section {
			section = s.Section
			fmt.Fprintf(w, "\n%s\n  %-7s %-38s %-46s %7s  %s\n", section, "", "implementation", "tests", "vectors", "ports")
		}
		fmt.Fprintf(w, "  %-7s %-38s %-46s %7d  %s\n", s.ID, t.some(s, Implementation, exceptions), t.some(s, Test, exceptions),
			len(t.Vectors[s.ID]), strings.Join(t.portsOf(s.ID), " "))
	}
	fmt.Fprintln(w)
}

// some shows the first citation and how many more there are, or why there is none.
func (t *Trace) some(s Sentence, o Obligation, exceptions []Exception) string {
	cited := t.Code[s.ID]
	if o == Test {
		cited = t.Tests[s.ID]
	}
	switch {
	case len(cited) > 1:
		return fmt.Sprintf("%v +%d", cited[0], len(cited)-1)
	case len(cited) == 1:
		return cited[0].String()
	case slices.ContainsFunc(exceptions, func(e Exception) bool { return e.ID == s.ID && e.Waived == o }):
		return "excused"
	case !s.Needs(o), t.has(s.ID, o):
		return "-"
	}
	return "MISSING"
}

func (t *Trace) portsOf(id string) (ports []string) {
	for port := range t.Ports[id] {
		ports = append(ports, port)
	}
	slices.Sort(ports)
	return ports
}

// printSentence prints all that is known of one sentence.
func (t *Trace) printSentence(w io.Writer, s Sentence, exceptions []Exception) {
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
	for _, port := range t.portsOf(s.ID) {
		ports = append(ports, t.Ports[s.ID][port])
	}
	list("ports", ports)
	for _, e := range exceptions {
		if e.ID == s.ID {
			fmt.Fprintf(w, "no %s: %s\n", e.Waived, e.Reason)
		}
	}
}

// printJSON prints sentences with all that is known of them, and the problems.
func (t *Trace) printJSON(w io.Writer, sentences []Sentence, problems []string) error {
	type entry struct {
		ID             string   `json:"id"`
		Class          string   `json:"class"`
		Section        string   `json:"section"`
		Place          string   `json:"place"`
		Text           string   `json:"text"`
		Implementation []string `json:"implementation"`
		Tests          []string `json:"tests"`
		Vectors        []string `json:"vectors"`
		Ports          []string `json:"ports"`
	}
	places := func(cited []Citation) []string {
		names := []string{}
		for _, c := range cited {
			names = append(names, c.String())
		}
		return names
	}
	out := struct {
		Sentences []entry  `json:"sentences"`
		Problems  []string `json:"problems"`
	}{[]entry{}, append([]string{}, problems...)}
	for _, s := range sentences {
		out.Sentences = append(out.Sentences, entry{
			s.ID, s.Class, s.Section, fmt.Sprintf("%s:%d", s.File, s.Line), s.Text, places(t.Code[s.ID]), places(t.Tests[s.ID]),
			append([]string{}, t.Vectors[s.ID]...), append([]string{}, t.portsOf(s.ID)...),
		})
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(out)
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
