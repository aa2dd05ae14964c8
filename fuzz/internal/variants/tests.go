package variants

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Tests are a package's tests in a binary.
type Tests struct {
	Package string
	binary  string
	flags   []string
}

// repeatable are the flags that make a version fail in the same way each time, soon, and
// without leaving a file. Tests get those that they have.
var repeatable = []string{"-rapid.seed=1", "-rapid.shrinktime=0s", "-rapid.nofailfile"}

// Tests builds the tests of a package, unless that was done.
func (b *Build) Tests(pkg string) (*Tests, error) {
	t := &Tests{Package: pkg, binary: filepath.Join(b.Dir, flat(pkg)+".test")}
	if _, err := os.Stat(t.binary); err != nil {
		if err := b.Go("test", "-c", "-vet=off", "-ldflags=-s -w", "-o", t.binary, "./"+pkg); err != nil {
			return nil, err
		}
	}
	help, err := exec.Command(t.binary, "-help").CombinedOutput()
	for _, flag := range repeatable {
		name, _, _ := strings.Cut(flag, "=")
		if bytes.Contains(help, []byte("\n  "+name)) {
			t.flags = append(t.flags, flag)
		}
	}
	return t, started(err)
}

// started is the error of a command that did not even start.
func started(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil
	}
	return err
}

var declared = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)

// Declared returns the names of a package's tests, fuzz targets and examples.
func Declared(pkg string) (names []string, err error) {
	files, _ := filepath.Glob(filepath.Join(pkg, "*_test.go"))
	for _, f := range files {
		text, fault := os.ReadFile(f)
		err = errors.Join(err, fault)
		for _, m := range declared.FindAllSubmatch(text, -1) {
			names = append(names, string(m[1]))
		}
	}
	return names, err
}

// Verdict is how a run of tests ended.
type Verdict int

const (
	Passed  Verdict = iota
	Failed          // a test
	Endless         // it took more processor time than it may
)

// Outcome is what a run gave.
type Outcome struct {
	Verdict Verdict
	Test    string // the first that failed, or the panic
	Output  string
	Cost    time.Duration // of a processor
}

const (
	memory    = 4 << 20 // KiB of addresses
	wallLimit = 20 * time.Minute
)

var failed = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)|^(panic: .*|fatal error: .*)`)

// Run runs tests against a version; 0 is the unchanged program. A shell sets the limits, since the
// standard library cannot: processor time in seconds, since a limit in wall time would
// depend on what else the machine does, and addresses, so that a version that never stops
// appending does not take the machine down.
func (t *Tests) Run(id int, limit time.Duration, args ...string) (Outcome, error) {
	script := fmt.Sprintf(`ulimit -t %d && ulimit -v %d && exec "$0" "$@"`, int(math.Ceil(limit.Seconds())), memory)
	fixed := append([]string{"-c", script, t.binary, "-test.timeout", wallLimit.String()}, t.flags...)
	cmd := exec.Command("sh", append(fixed, args...)...)
	cmd.Dir = t.Package
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", Choose(id))
	out, err := cmd.CombinedOutput()
	if err := started(err); err != nil {
		return Outcome{}, err
	}
	o := Outcome{Output: string(out), Cost: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if match := failed.FindStringSubmatch(o.Output); match != nil {
		o.Test = match[1] + match[2]
	}
	switch code := cmd.ProcessState.ExitCode(); {
	case code == 0:
	case strings.Contains(o.Output, "panic: test timed out"), code == -1 && o.Cost >= limit-time.Second:
		o.Verdict = Endless
	case o.Test != "":
		o.Verdict = Failed
	default:
		return o, fmt.Errorf("the tests of %s ended with %v after %v:\n%s", t.Package, err, o.Cost, o.Output)
	}
	return o, nil
}

// Suite is some of a package's tests, and the processor time that they may take.
type Suite struct {
	names []string
	limit time.Duration
}

const (
	patience  = 10 // times what the tests take without a version
	headStart = time.Second
)

// Empty reports whether there is no test in it.
func (s *Suite) Empty() bool { return len(s.names) == 0 }

// Add adds a test that takes so long.
func (s *Suite) Add(name string, cost time.Duration) {
	s.names = append(s.names, name)
	s.limit = max(s.limit, headStart) + patience*cost
}

var timed = regexp.MustCompile(`(?m)^--- PASS: (\w+) \((\d+\.\d+)s\)`)

// Measure runs tests without a version and returns how long each takes that passes; the
// error names what does not.
func (t *Tests) Measure(names []string) (costs map[string]time.Duration, err error) {
	costs = map[string]time.Duration{}
	o, err := t.Run(0, wallLimit, "-test.v", exactly(names))
	if o.Verdict != Passed {
		err = fmt.Errorf("%s %s fails without a version", t.Package, o.Test)
	}
	for _, m := range timed.FindAllStringSubmatch(o.Output, -1) {
		seconds, _ := strconv.ParseFloat(m[2], 64)
		costs[m[1]] = time.Duration(seconds * float64(time.Second))
	}
	return costs, err
}

func exactly(names []string) string { return "-test.run=^(" + strings.Join(names, "|") + ")$" }

// attempts is how often a suite may fail by a test that then passes.
const attempts = 3

// Judge runs a suite of a binary against a version until a test fails, and fails again by
// itself: one that fails now and then would fail for any version now and then.
func (s *Suite) Judge(t *Tests, id int) (Outcome, error) {
	if s.Empty() {
		return Outcome{}, nil
	}
	for range attempts {
		o, err := t.Run(id, s.limit, "-test.failfast", exactly(s.names))
		if err != nil || o.Verdict != Failed || !strings.HasPrefix(o.Test, "Test") {
			return o, err
		}
		test, _, _ := strings.Cut(o.Test, "/")
		again, err := t.Run(id, s.limit, exactly([]string{test}))
		if err != nil || again.Verdict != Passed {
			return o, err
		}
		fmt.Fprintf(os.Stderr, "%s %s fails only now and then (version %d)\n", t.Package, test, id)
	}
	return Outcome{}, fmt.Errorf("the tests of %s fail only now and then", t.Package)
}

// Each does some work for all elements, as many at once as there are processors, and
// passes the results on, one at a time.
func Each[T, R any](list []T, work func(T) R, done func(T, R)) {
	var running sync.WaitGroup
	var mu sync.Mutex
	slots := make(chan bool, runtime.GOMAXPROCS(0))
	for _, x := range list {
		slots <- true
		running.Go(func() {
			r := work(x)
			mu.Lock()
			done(x, r)
			mu.Unlock()
			<-slots
		})
	}
	running.Wait()
}
