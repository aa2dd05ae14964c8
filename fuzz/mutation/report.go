package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
)

// explainedPath is the list of survivors that no test can or should kill: a line each,
// "- description: reason", with the description that the command prints before what
// becomes of the code. One that ends with a star is for all that begin so, whether they
// survive or not.
const explainedPath = "fuzz/mutation/survivors.md"

// explained are the reasons by the mutants' descriptions.
type explained map[string]string

func readExplained(path string) (explained, error) {
	text, err := os.ReadFile(path)
	reasons := explained{}
	for i, line := range strings.Split(string(text), "\n") {
		entry, ok := strings.CutPrefix(line, "- ")
		if !ok {
			continue
		}
		description, reason, _ := strings.Cut(entry, ": ")
		if !strings.HasPrefix(reason, "equivalent") && !strings.HasPrefix(reason, "harmless") {
			return nil, fmt.Errorf("%s:%d: no reason why it is equivalent or harmless", path, i+1)
		}
		if reasons[description] != "" {
			return nil, fmt.Errorf("%s:%d: explained twice", path, i+1)
		}
		reasons[description] = reason
	}
	return reasons, err
}

// line returns the description that explains a mutant; nothing if none does.
func (e explained) line(m *mutant) string {
	if e[m.description()] != "" {
		return m.description()
	}
	for description := range e {
		if start, all := strings.CutSuffix(description, "*"); all && strings.HasPrefix(m.description(), start) {
			return description
		}
	}
	return ""
}

// compare fails for a survivor that is not explained, and for one that is but was
// killed.
func (e explained) compare(mutants []*mutant) error {
	var failures []error
	for _, m := range mutants {
		switch line := e.line(m); {
		case m.end == survived && line == "":
			failures = append(failures, fmt.Errorf("not explained: %s", m))
		case m.end != survived && line == m.description():
			failures = append(failures, fmt.Errorf("explained, but %v: %s", m.end, m))
		}
	}
	return errors.Join(failures...)
}

// count is how many mutants met which end.
type count map[string]int

// share is how many in a hundred viable mutants were killed, those that are
// explained counted as survivors like any other.
func (c count) share() float64 {
	dead := c[killed] + c[timedOut]
	return 100 * float64(dead) / float64(max(dead+c["explained"]+c[survived], 1))
}

// report prints the counts and what survived unexplained. It fails when too many
// survived of a whole package.
func (e explained) report(w io.Writer, mutants []*mutant, whole bool) error {
	columns := []string{killed, timedOut, "explained", survived, notViable}
	counts := map[string]count{"all": {}}
	for _, m := range mutants {
		end := m.end
		if end == survived && e.line(m) != "" {
			end = "explained"
		}
		if counts[m.mutator] == nil {
			counts[m.mutator] = count{}
		}
		counts[m.mutator][end]++
		counts["all"][end]++
	}
	table := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprintf(table, "| mutator\t| %s\t| killed of viable\t|\n", strings.Join(columns, "\t| "))
	fmt.Fprintln(table, "|---\t|---:\t|---:\t|---:\t|---:\t|---:\t|---:\t|")
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(counts)), func(name string) bool { return name == "all" })
	for _, name := range append(names, "all") {
		fmt.Fprintf(table, "| %s\t", name)
		for _, end := range columns {
			fmt.Fprintf(table, "| %d\t", counts[name][end])
		}
		fmt.Fprintf(table, "| %.1f %%\t|\n", counts[name].share())
	}
	table.Flush()
	for _, m := range mutants {
		if m.end == survived && e.line(m) == "" {
			fmt.Fprintf(w, "survived: %s\n", m)
		}
	}
	if share := counts["all"].share(); whole && share < least {
		return fmt.Errorf("%.1f %% of the mutants were killed, fewer than %d %%", share, least)
	}
	return nil
}
