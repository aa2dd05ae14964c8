package runner

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
)

type junitSuites struct {
	XMLName  xml.Name      `xml:"testsuites"`
	Tests    int           `xml:"tests,attr"`
	Failures int           `xml:"failures,attr"`
	Errors   int           `xml:"errors,attr"`
	Suites   []*junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name      string        `xml:"name,attr"`
	ClassName string        `xml:"classname,attr"`
	Time      string        `xml:"time,attr"`
	Failure   *junitProblem `xml:"failure"`
	Error     *junitProblem `xml:"error"`
	Skipped   *junitProblem `xml:"skipped"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes the report as JUnit XML: a suite for each group and level.
func (r *Report) WriteJUnit(w io.Writer) error {
	var all junitSuites
	for _, result := range r.Results {
		all.add(fmt.Sprintf("%s (%s)", result.Group, result.Level), result.junit())
	}
	if r.Error != "" {
		all.add(processGroup, junitCase{Name: "run", ClassName: processGroup, Time: "0", Error: &junitProblem{Message: r.Error}})
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (a *junitSuites) add(name string, c junitCase) {
	i := slices.IndexFunc(a.Suites, func(s *junitSuite) bool { return s.Name == name })
	if i < 0 {
		i = len(a.Suites)
		a.Suites = append(a.Suites, &junitSuite{Name: name})
	}
	s := a.Suites[i]
	s.Cases = append(s.Cases, c)
	s.Tests++
	a.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
		a.Failures++
	case c.Error != nil:
		s.Errors++
		a.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
}

func (r *Result) junit() junitCase {
	c := junitCase{Name: r.Name, ClassName: r.Group, Time: fmt.Sprintf("%.6f", r.took.Seconds())}
	switch r.Status {
	case Failed:
		var text strings.Builder
		r.print(&text)
		c.Failure = &junitProblem{Message: r.Message, Type: string(r.Kind), Text: text.String()}
	case Known:
		c.Skipped = &junitProblem{Message: "known failure: " + r.Message, Type: string(r.Kind)}
	case Skipped:
		c.Skipped = &junitProblem{Message: "the port does not have this"}
	case NotRun:
		c.Skipped = &junitProblem{Message: "not run"}
	case Passed:
	}
	return c
}
