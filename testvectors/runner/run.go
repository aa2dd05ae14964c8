package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

const (
	// DefaultTimeout is how long a port may take for an answer.
	DefaultTimeout = 10 * time.Second
	// longRun is how many packets a seeded run may have to be part of every run.
	longRun = 100_000

	accumulatedGroup = "accumulated"
	processGroup     = "process"
	// endOfInput is the check that a port ends well.
	endOfInput = processGroup + "/end-of-input"
)

// ErrConfig means that there is nothing to run.
var ErrConfig = errors.New("nothing to run")

// Config is what to run, and how.
type Config struct {
	Command []string            // starts the port
	Timeout time.Duration       // for each answer; 0 is DefaultTimeout
	Match   *regexp.Regexp      // names of vectors to run; nil is all
	Levels  []testvectors.Level // of vectors to run; nil is all
	Known   []string            // names of vectors that are known to fail
	Long    bool                // run long seeded runs too
	NoSkip  bool                // an op that the port does not have is a failure
	// FirstOnly asks what is short first, and nothing more after a failure.
	FirstOnly bool

	// Progress, when not nil, is called with how much is done of how much.
	Progress func(done, total int)
}

// runner is a run under way.
type runner struct {
	cfg         Config
	session     *session
	report      *Report
	tasks       []*task
	lines       []testvectors.Line
	runs        []testvectors.Accumulated
	known       map[string]bool
	partly      map[testvectors.Level]bool // levels of which something was not chosen
	done, total int
	failed      bool // something did
}

// task is a vector to run.
type task struct {
	vector testvectors.Vector
	result *Result
}

// Run asks a port everything in a suite. The report is never nil; the error matches
// ErrPort, ErrConfig or the context's. Failures are no error.
func Run(ctx context.Context, cfg Config, suite Suite) (*Report, error) {
	began := time.Now()
	if cfg.Timeout == 0 {
		cfg.Timeout = DefaultTimeout
	}
	r := &runner{
		cfg: cfg, report: &Report{Command: cfg.Command}, known: map[string]bool{}, partly: map[testvectors.Level]bool{},
		session: &session{ctx: ctx, command: cfg.Command, timeout: cfg.Timeout, lastID: 1000},
	}
	err := r.choose(suite)
	if err == nil {
		err = r.run()
	}
	r.session.close()
	for _, result := range r.report.Results {
		r.settle(result)
	}
	r.report.sum(err, r.session.restarts, time.Since(began))
	levels, err2 := testvectors.Levels()
	r.report.judgeLevels(levels, r.partly)
	return r.report, errors.Join(err, err2)
}

// choose makes a list of what is to run.
func (r *runner) choose(suite Suite) error {
	for _, name := range r.cfg.Known {
		if !suite.has(name) {
			return fmt.Errorf("%w: no vector is called %q", ErrConfig, name)
		}
		r.known[name] = true
	}
	for _, f := range suite.Files {
		for _, v := range f.Vectors {
			if !r.wanted(v.Name, v.Level) {
				continue
			}
			result := &Result{Name: v.Name, Group: f.Group, Level: v.Level, Comment: v.Comment, Sentences: v.Sentences}
			for _, name := range v.Flags {
				result.Flags = append(result.Flags, ExplainedFlag{name, f.Flags[name].Mistake, f.Flags[name].Effect})
			}
			r.add(result)
			r.tasks = append(r.tasks, &task{v, result})
		}
	}
	for _, l := range suite.Lines {
		if r.wanted(l.Name, testvectors.Required) {
			r.lines = append(r.lines, l)
		}
	}
	for _, a := range suite.Accumulated {
		switch {
		case !r.wanted(a.Name, testvectors.Required):
		case a.Packets > longRun && !r.cfg.Long:
			r.report.LeftOut = append(r.report.LeftOut, a.Name)
		default:
			r.runs = append(r.runs, a)
			r.total += a.Packets
		}
	}
	r.total += len(r.tasks) + len(r.lines)
	if r.total == 0 {
		return fmt.Errorf("%w: no vector is of that name and level", ErrConfig)
	}
	return nil
}

func (r *runner) wanted(name string, level testvectors.Level) bool {
	if (r.cfg.Match == nil || r.cfg.Match.MatchString(name)) && (r.cfg.Levels == nil || slices.Contains(r.cfg.Levels, level)) {
		return true
	}
	r.partly[level] = true
	return false
}

func (r *runner) add(result *Result) *Result {
	result.Status = NotRun
	r.report.Results = append(r.report.Results, result)
	return result
}

func (r *runner) run() error {
	for _, a := range r.runs {
		r.add(&Result{Name: a.Name, Group: accumulatedGroup, Level: testvectors.Required, Comment: a.Comment, Sentences: a.Sentences})
	}
	rest := r.tasks
	if r.cfg.FirstOnly {
		slices.SortStableFunc(rest, func(a, b *task) int { return len(a.vector.Request) - len(b.vector.Request) })
	}
	enough := func() bool { return r.cfg.FirstOnly && r.failed }
	err := r.session.run(func() *exchange {
		if len(rest) == 0 || enough() {
			return nil
		}
		t := rest[0]
		rest = rest[1:]
		return r.exchange(t)
	})
	for i, a := range r.runs {
		if err != nil || enough() {
			return err
		}
		err = r.session.accumulate(a, r.report.Results[len(r.tasks)+i], r.count)
	}
	for _, l := range r.lines {
		if err != nil || enough() {
			return err
		}
		err = r.line(l)
	}
	if err == nil {
		r.finish()
	}
	return err
}

// exchange makes the request of a vector.
func (r *runner) exchange(t *task) *exchange {
	id := r.session.newID()
	t.result.question = questionOf(t.vector, id)
	return r.asks(t.result, id)
}

// questionOf is what a vector asks and wants.
func questionOf(v testvectors.Vector, id string) question {
	q := question{request: withID(v.Request, id), response: withID(v.Response, id), level: v.Level}
	var h contract.Header
	_ = json.Unmarshal(q.request, &h) // a request may be wrong in any way
	q.op = h.Op
	return q
}

// Check puts a vector to what answers a line, and says what is wrong with its answer.
func Check(v testvectors.Vector, answer func(line []byte) []byte) error {
	q := questionOf(v, "1")
	verdict, f := q.judge(answer(q.request))
	switch verdict {
	case passed:
		return nil
	case skipped:
		return errors.New("it is unsupported")
	}
	return errors.New(strings.Join(append(f.Lines, f.Message), "\n"))
}

// asks makes an exchange of a result's question.
func (r *runner) asks(result *Result, id string) *exchange {
	began := time.Now()
	return &exchange{
		name: result.Name, id: id, line: result.question.request,
		answered: func(line []byte) {
			r.count(1)
			result.took = time.Since(began)
			switch v, f := result.question.judge(line); v {
			case passed:
				result.Status = Passed
			case skipped:
				result.Status = Skipped
			default:
				r.failed = true
				result.fail(f)
			}
		},
		fault: func(f Fault) {
			if result.Status == NotRun {
				r.count(1)
			}
			result.took = time.Since(began)
			r.failed = true
			result.fail(f)
		},
	}
}

// withID puts an id into the JSON of an object that has none, on one line.
func withID(text json.RawMessage, id string) []byte {
	var b bytes.Buffer
	if json.Compact(&b, text) != nil || b.Len() < 2 {
		return text
	}
	body := b.Bytes()[1:]
	head := `{"id":` + id
	if body[0] != '}' {
		head += ","
	}
	return append([]byte(head), body...)
}

func (r *runner) count(n int) {
	r.done += n
	if r.cfg.Progress != nil {
		r.cfg.Progress(r.done, r.total)
	}
}

// settle applies what is known, and what is not allowed, to a result.
func (r *runner) settle(result *Result) {
	known := r.known[result.Name]
	switch {
	case result.Status == Skipped && r.cfg.NoSkip:
		result.fail(Fault{Kind: Unsupported, Message: "the port does not have this, and --no-skip is given"})
	case result.Status == Passed && known:
		result.fail(Fault{Kind: UnexpectedPass, Message: "listed as a known failure, but it passes: take it off the list"})
		return
	}
	if result.Status == Failed && known {
		result.Status = Known
	}
}
