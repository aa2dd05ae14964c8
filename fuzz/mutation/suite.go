package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/chunkwire/chunkwire/fuzz/internal/schemata"
)

// suite is a package's tests in the binary that has all mutants in it.
type suite struct {
	target target
	binary string
	phases []phase
}

// phase is some of the tests, and the processor time that they may take. A limit
// in wall time would call a mutant dead because the machine was busy.
type phase struct {
	args  []string
	limit time.Duration
}

// outcome is what a run of a phase gave.
type outcome struct {
	verdict verdict
	failed  string // the test
	output  string
	cpu     time.Duration
}

// slowTests begin a phase each: a test that takes as long runs only when all
// quicker ones have passed.
var slowTests = []time.Duration{20 * time.Millisecond, 100 * time.Millisecond, time.Second}

const (
	patience  = 10 // times the processor time without a mutant
	headStart = time.Second
	memory    = 4 << 20 // KiB of addresses
	wallLimit = 20 * time.Minute
)

// repeatable are the flags that make tests repeatable: a survivor must not be killed by
// the luck of a seed.
var repeatable = []string{"-rapid.seed=1", "-rapid.nofailfile", "-rapid.shrinktime=0s", "-commands.seed=1"}

// flagsOf returns those of the repeatable flags that a binary of tests has.
func flagsOf(binary string) (flags []string, err error) {
	help, err := exec.Command(binary, "-help").CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	for _, flag := range repeatable {
		name, _, _ := strings.Cut(flag, "=")
		if bytes.Contains(help, []byte("\n  "+name)) {
			flags = append(flags, flag)
		}
	}
	return flags, nil
}

var passed = regexp.MustCompile(`(?m)^--- PASS: (\w+) \((\d+\.\d+)s\)`)

// measure runs the tests without a mutant: they must pass, and the time that each
// takes sorts them into phases. A quick suite has the first two only.
func (t target) measure(binary string, quick bool) (suite, error) {
	s := suite{target: t, binary: binary}
	o, err := s.runTwice(binary, 0, phase{args: []string{"-test.v"}, limit: wallLimit})
	if err != nil {
		return s, err
	}
	if o.verdict != survived {
		return s, fmt.Errorf("%s fails without a mutant", o.failed)
	}
	for i, args := range phasesOf(o.output) {
		if quick && i > 1 {
			break
		}
		p := phase{args: args, limit: wallLimit}
		if o, err = s.runTwice(binary, 0, p); err != nil {
			return s, err
		}
		p.limit = headStart + patience*o.cpu
		s.phases = append(s.phases, p)
		fmt.Printf("%s, phase %d: %v of a processor\n", t.name, len(s.phases), o.cpu.Round(time.Millisecond))
	}
	return s, nil
}

// phasesOf returns the flags that choose the tests of each phase: first whatever is
// in none of the slower ones, the examples among it.
func phasesOf(output string) [][]string {
	slower := make([][]string, len(slowTests))
	for _, test := range passed.FindAllStringSubmatch(output, -1) {
		seconds, _ := strconv.ParseFloat(test[2], 64)
		for i := len(slowTests) - 1; i >= 0; i-- {
			if time.Duration(seconds*float64(time.Second)) >= slowTests[i] {
				slower[i] = append(slower[i], test[1])
				break
			}
		}
	}
	exactly := func(names []string) string { return "^(" + strings.Join(names, "|") + ")$" }
	phases := [][]string{{"-test.skip", exactly(slices.Concat(slower...))}}
	for _, names := range slower {
		if len(names) > 0 {
			phases = append(phases, []string{"-test.run", exactly(names)})
		}
	}
	return phases
}

// attempts is how often a phase may fail by a test that then passes.
const attempts = 3

// runTwice is run for a verdict that stands: a test kills only if it fails again,
// by itself, since one that fails now and then would kill any mutant now and then.
func (s suite) runTwice(binary string, id int, p phase) (outcome, error) {
	for range attempts {
		o, err := s.run(binary, id, p)
		if err != nil || o.verdict != killed || !strings.HasPrefix(o.failed, "Test") {
			return o, err
		}
		test, _, _ := strings.Cut(o.failed, "/")
		again, err := s.run(binary, id, phase{args: []string{"-test.run", "^" + test + "$"}, limit: p.limit})
		if err != nil || again.verdict != survived {
			return o, err
		}
		fmt.Printf("%s: %s fails only now and then (mutant %d)\n", s.target.name, test, id)
	}
	return outcome{}, errors.New("its tests fail only now and then")
}

var failed = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)|^(panic: .*|fatal error: .*)`)

// run runs a phase against a mutant; 0 is none. A shell sets the limits, since the
// standard library cannot: processor time in seconds, and addresses, so that a
// mutant that never stops appending does not take the machine down.
func (s suite) run(binary string, id int, p phase) (outcome, error) {
	seconds := int(math.Ceil(p.limit.Seconds()))
	script := fmt.Sprintf(`ulimit -t %d && ulimit -v %d && exec "$0" "$@"`, seconds, memory)
	args := []string{"-c", script, binary, "-test.failfast", "-test.timeout", wallLimit.String()}
	cmd := exec.Command("sh", append(append(args, s.target.flags...), p.args...)...)
	cmd.Dir = s.target.name
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", schemata.Variable+"="+strconv.Itoa(id))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return outcome{}, err
	}
	o := outcome{output: out.String(), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if match := failed.FindStringSubmatch(o.output); match != nil {
		o.failed = match[1] + match[2]
	}
	switch code := cmd.ProcessState.ExitCode(); {
	case code == 0:
		o.verdict = survived
	case strings.Contains(o.output, "panic: test timed out"):
		o.verdict = timedOut
	case code == -1 && o.cpu >= p.limit-time.Second:
		o.verdict = timedOut
	case o.failed != "":
		o.verdict = killed
	default:
		return o, fmt.Errorf("ended with %v after %v:\n%s", err, o.cpu, o.output)
	}
	return o, nil
}
