package runner

import (
	"fmt"
	"io"
	"strings"

	"github.com/chunkwire/chunkwire/testvectors"
)

// Verdict is whether a port passes a conformance level.
type Verdict string

// The verdicts.
const (
	LevelPassed  Verdict = "passed"     // all its vectors ran and passed; long seeded runs aside
	LevelFailed  Verdict = "failed"     // one of them failed, perhaps as it was known to
	LevelSkipped Verdict = "skipped"    // the port has nothing of it
	LevelPartial Verdict = "incomplete" // some were skipped, or were not chosen or not run
	LevelNotRun  Verdict = "not_run"    // none was chosen
)

// LevelReport is the outcome of a conformance level.
type LevelReport struct {
	Name     testvectors.Level `json:"name"`
	Protocol string            `json:"protocol"`
	Verdict  Verdict           `json:"verdict"`
}

// levelVerdict judges a level by its counts; all says that each of its vectors was chosen.
func levelVerdict(c Count, all bool) Verdict {
	switch {
	case c.Failed+c.Known > 0:
		return LevelFailed
	case c.Passed+c.Skipped+c.NotRun == 0:
		return LevelNotRun
	case c.Passed+c.NotRun == 0:
		return LevelSkipped
	case c.Skipped+c.NotRun > 0 || !all:
		return LevelPartial
	}
	return LevelPassed
}

// judgeLevels fills in the levels, of which partly are those that were not chosen whole.
func (r *Report) judgeLevels(levels []testvectors.AboutLevel, partly map[testvectors.Level]bool) {
	idle := map[testvectors.Level]int{} // passes of a port that does not have the operation
	for _, result := range r.Results {
		if result.Status == Passed && isUnsupported(result.question.response, idOf(result.question.response)) {
			idle[result.Level]++
		}
	}
	for _, l := range levels {
		c := r.Total(l.Name)
		if c.Skipped > 0 {
			c.Passed -= idle[l.Name]
		}
		r.Levels = append(r.Levels, LevelReport{Name: l.Name, Protocol: l.Protocol, Verdict: levelVerdict(c, !partly[l.Name])})
	}
}

// printLevels writes the levels, a line for each protocol: one can be passed without the
// others.
func (r *Report) printLevels(w io.Writer) {
	var protocols []string
	of := map[string][]string{}
	for _, l := range r.Levels {
		if of[l.Protocol] == nil {
			protocols = append(protocols, l.Protocol)
		}
		of[l.Protocol] = append(of[l.Protocol], fmt.Sprintf("%s %s", l.Name, strings.ReplaceAll(string(l.Verdict), "_", " ")))
	}
	for _, p := range protocols {
		fmt.Fprintf(w, "levels of %s: %s\n", p, strings.Join(of[p], ", "))
	}
}
