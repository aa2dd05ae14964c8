package runner

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/chunkwire/chunkwire/testvectors"
)

// Status is the outcome of a vector.
type Status string

// The statuses.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Known   Status = "known" // failed, as expected
	Skipped Status = "skipped"
	NotRun  Status = "not_run"
)

// ExplainedFlag is a flag of a vector with its explanation.
type ExplainedFlag struct {
	Name    string `json:"name"`
	Mistake string `json:"mistake"`
	Effect  string `json:"effect"`
}

// Result is the outcome of one vector. What explains a failure is there only when
// there is one.
type Result struct {
	Name      string            `json:"name"`
	Group     string            `json:"group"`
	Level     testvectors.Level `json:"level"`
	Status    Status            `json:"status"`
	Kind      Kind              `json:"kind,omitempty"`
	Message   string            `json:"message,omitempty"`
	Comment   string            `json:"comment"`
	Flags     []ExplainedFlag   `json:"flags,omitempty"`
	Sentences []string          `json:"sentences,omitempty"`
	Request   string            `json:"request,omitempty"` // lines, as they were sent
	Expected  string            `json:"expected,omitempty"`
	Actual    string            `json:"actual,omitempty"`
	Lines     []string          `json:"explanation,omitempty"`

	question question
	took     time.Duration
}

// fail records a fault. The first one counts, but one that is certain replaces one that
// is not.
func (r *Result) fail(f Fault) {
	if r.Status == Failed && r.Kind != Garbage && r.Kind != WrongID && r.Kind != MissingLine {
		return
	}
	r.Status, r.Kind, r.Message, r.Lines = Failed, f.Kind, f.Message, f.Lines
	r.Request, r.Expected = string(r.question.request), string(r.question.response)
	r.Actual = string(f.Actual)
}

// Count is how many vectors of a group and level came out how.
type Count struct {
	Group   string            `json:"group"`
	Level   testvectors.Level `json:"level"`
	Passed  int               `json:"passed"`
	Failed  int               `json:"failed"`
	Known   int               `json:"known"`
	Skipped int               `json:"skipped"`
	NotRun  int               `json:"not_run"`
}

// Report is the outcome of a run.
type Report struct {
	Command  []string `json:"command"`
	OK       bool     `json:"ok"`
	Error    string   `json:"error,omitempty"` // why the run did not come to its end
	Seconds  float64  `json:"seconds"`
	Restarts int      `json:"restarts"`
	Counts   []Count  `json:"counts"`
	LeftOut  []string `json:"left_out,omitempty"` // long seeded runs

	Levels  []LevelReport `json:"levels"`
	Results []*Result     `json:"results"`
}

func (r *Report) sum(err error, restarts int, took time.Duration) {
	r.Restarts, r.Seconds = restarts, took.Seconds()
	if err != nil {
		r.Error = err.Error()
	}
	for _, result := range r.Results {
		c := r.count(result.Group, result.Level)
		switch result.Status {
		case Passed:
			c.Passed++
		case Failed:
			c.Failed++
		case Known:
			c.Known++
		case Skipped:
			c.Skipped++
		case NotRun:
			c.NotRun++
		}
	}
	r.OK = err == nil && r.Total("").Failed == 0
}

func (r *Report) count(group string, level testvectors.Level) *Count {
	for i := range r.Counts {
		if c := &r.Counts[i]; c.Group == group && c.Level == level {
			return c
		}
	}
	r.Counts = append(r.Counts, Count{Group: group, Level: level})
	return &r.Counts[len(r.Counts)-1]
}

// Total returns the sum over all groups of a level, or of all for "".
func (r *Report) Total(level testvectors.Level) Count {
	t := Count{Group: "total", Level: level}
	for _, c := range r.Counts {
		if level == "" || c.Level == level {
			t.Passed += c.Passed
			t.Failed += c.Failed
			t.Known += c.Known
			t.Skipped += c.Skipped
			t.NotRun += c.NotRun
		}
	}
	return t
}

// of returns the results of a status.
func (r *Report) of(s Status) (list []*Result) {
	for _, result := range r.Results {
		if result.Status == s {
			list = append(list, result)
		}
	}
	return list
}

// Print writes the report for people, with at most limit failures; a negative
// limit is none.
func (r *Report) Print(w io.Writer, limit int) {
	failures := r.of(Failed)
	for i, f := range failures {
		if i == limit {
			fmt.Fprintf(w, "… and %d more failures; --all shows them\n\n", len(failures)-limit)
			break
		}
		f.print(w)
	}
	r.names(w, "skipped, because the port does not have them", Skipped, limit)
	r.names(w, "known failures", Known, limit)
	for _, name := range r.LeftOut {
		fmt.Fprintf(w, "%s is left out; --long runs it\n\n", name)
	}
	r.table(w)
	total := r.Total("")
	if total.Passed == 0 && total.Skipped > 0 {
		fmt.Fprintln(w, "nothing passed, so nothing was tested")
	}
	if total.NotRun > 0 {
		fmt.Fprintf(w, "not run, because the run ended early: %d\n", total.NotRun)
	}
	if r.Restarts > 0 {
		fmt.Fprintf(w, "the port was restarted: %d times\n", r.Restarts)
	}
}

// names lists the vectors of a status by group; a group of which all have it is
// one line, unless everything is to be shown.
func (r *Report) names(w io.Writer, title string, s Status, limit int) {
	list := r.of(s)
	if len(list) == 0 {
		return
	}
	ofGroup, inGroup := map[string]int{}, map[string]int{}
	for _, result := range r.Results {
		ofGroup[result.Group]++
		if result.Status == s {
			inGroup[result.Group]++
		}
	}
	fmt.Fprintf(w, "%s (%d):\n", title, len(list))
	group := ""
	for _, result := range list {
		whole := limit > 0 && inGroup[result.Group] == ofGroup[result.Group]
		if result.Group != group {
			group = result.Group
			if whole {
				fmt.Fprintf(w, "  %s: all %d\n", group, inGroup[group])
			} else {
				fmt.Fprintf(w, "  %s\n", group)
			}
		}
		if !whole {
			fmt.Fprintf(w, "    %s\n", result.Name)
		}
	}
	fmt.Fprintln(w)
}

func (r *Report) table(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "group\tlevel\tpassed\tfailed\tknown\tskipped\tnot run")
	line := func(c Count) {
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t%d\t%d\n", c.Group, c.Level, c.Passed, c.Failed, c.Known, c.Skipped, c.NotRun)
	}
	for _, c := range r.Counts {
		line(c)
	}
	for _, l := range r.Levels {
		if c := r.Total(l.Name); c.Passed+c.Failed+c.Known+c.Skipped+c.NotRun > 0 {
			line(c)
		}
	}
	_ = t.Flush()
	r.printLevels(w)
	fmt.Fprintf(w, "%.1f s\n", r.Seconds)
}

func (r *Result) print(w io.Writer) {
	fmt.Fprintf(w, "FAIL %s (%s)\n  %s\n", r.Name, r.Level, strings.ReplaceAll(r.Message, "\n", "\n    "))
	if r.Comment != "" {
		fmt.Fprintf(w, "  why: %s\n", r.Comment)
	}
	for _, f := range r.Flags {
		fmt.Fprintf(w, "  %s: %s; %s\n", f.Name, f.Mistake, f.Effect)
	}
	if len(r.Sentences) > 0 {
		fmt.Fprintf(w, "  sentences: %s\n", strings.Join(r.Sentences, ", "))
	}
	lines := r.Lines
	if len(lines) == 0 && r.Request != "" {
		// Nothing to compare: what was asked is all there is to show.
		if request, err := parseValue([]byte(r.Request)); err == nil {
			lines = describe(request)
		}
		lines = append(lines, "expected: "+shortened(r.Expected))
		if r.Actual != "" {
			lines = append(lines, "actual:   "+shortened(r.Actual))
		}
	}
	for _, line := range lines {
		fmt.Fprintf(w, "  %s\n", line)
	}
	fmt.Fprintln(w)
}
