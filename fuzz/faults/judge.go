package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chunkwire/chunkwire/testvectors/mutants/inject"
)

// patience is how long one test may take. A test that hangs catches nothing: it
// says nothing.
const patience = 60 * time.Second

// verdict is what became of a fault.
type verdict struct {
	outcomes []outcome // one for each test that was to catch it
	problem  error     // why there are none
}

// outcome is how one test ended.
type outcome struct {
	by     catch
	failed bool
	says   string // the first line of its message
	output string
}

func (v verdict) caught() bool {
	return v.problem == nil && len(v.outcomes) > 0 &&
		!slices.ContainsFunc(v.outcomes, func(o outcome) bool { return !o.failed })
}

func (v verdict) String() string {
	switch {
	case v.problem != nil:
		return "no verdict: " + v.problem.Error()
	case v.caught():
		return "caught"
	}
	return "NOT CAUGHT"
}

// bench is a scratch folder.
type bench struct{ dir string }

// judgeAll makes sure that all tests pass as the code stands, and then puts each
// fault to its tests.
func judgeAll(list []fault) ([]verdict, error) {
	dir, err := os.MkdirTemp("", "faults-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	b := &bench{dir}
	if err := b.allPass(list); err != nil {
		return nil, err
	}
	verdicts := make([]verdict, len(list))
	inject.Each(len(list), func(i int) {
		verdicts[i] = b.judge(list[i])
		fmt.Fprintf(os.Stderr, "%d/%d %s: %s\n", i+1, len(list), list[i].Name, verdicts[i])
	})
	return verdicts, nil
}

// allPass runs the tests without any fault.
func (b *bench) allPass(list []fault) error {
	var tests []catch
	for _, f := range list {
		for _, c := range f.CaughtBy {
			same := func(o catch) bool { return o.String() == c.String() && o.Package == c.Package }
			if !slices.ContainsFunc(tests, same) {
				tests = append(tests, c)
			}
		}
	}
	outcomes, err := b.run(tests, nil)
	for _, o := range outcomes {
		if o.failed || o.says != passed {
			err = errors.Join(err, fmt.Errorf("%s fails without any fault: %s\n%s", o.by, o.says, o.output))
		}
	}
	return err
}

func (b *bench) judge(f fault) verdict {
	if len(f.CaughtBy) == 0 {
		return verdict{problem: errors.New("no test is named")}
	}
	dir, err := os.MkdirTemp(b.dir, "fault-*")
	if err != nil {
		return verdict{problem: err}
	}
	defer os.RemoveAll(dir)
	changed, err := inject.Mistake{File: f.File, Old: f.Old, New: f.New}.Apply(dir)
	if err != nil {
		return verdict{problem: err}
	}
	overlay, err := inject.Overlay(dir, f.File, changed)
	if err != nil {
		return verdict{problem: err}
	}
	outcomes, err := b.run(f.CaughtBy, []string{"-overlay", overlay})
	return verdict{outcomes, err}
}

// run builds each package's tests once and runs these of them.
func (b *bench) run(tests []catch, buildArgs []string) ([]outcome, error) {
	built := map[string]string{}
	for _, c := range tests {
		key := c.Package + fmt.Sprint(c.fuzzes())
		if built[key] != "" {
			continue
		}
		binary, err := b.build(c, buildArgs)
		if err != nil {
			return nil, err
		}
		defer os.Remove(binary)
		built[key] = binary
	}
	outcomes := make([]outcome, len(tests))
	var mu sync.Mutex
	var failure error
	each := func(i int) {
		c := tests[i]
		o, err := b.try(c, built[c.Package+fmt.Sprint(c.fuzzes())])
		mu.Lock()
		defer mu.Unlock()
		outcomes[i], failure = o, errors.Join(failure, err)
	}
	if buildArgs == nil {
		inject.Each(len(tests), each) // nobody else is at work yet
	} else {
		for i := range tests {
			each(i)
		}
	}
	return outcomes, failure
}

func (c catch) fuzzes() bool {
	return slices.ContainsFunc(c.Args, func(a string) bool { return strings.HasPrefix(a, "-test.fuzz=") })
}

// build makes a package's test binary. What does not build is no verdict.
func (b *bench) build(c catch, buildArgs []string) (string, error) {
	f, err := os.CreateTemp(b.dir, "*.test")
	if err != nil {
		return "", err
	}
	f.Close()
	args := []string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-o", f.Name()}
	if c.fuzzes() {
		args = append(args, "-fuzz=.") // counts what is covered
	}
	args = append(append(args, buildArgs...), c.Package)
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("it does not build: %s", strings.TrimSpace(string(out)))
	}
	return f.Name(), nil
}

// passed is what a test says that did not fail.
const passed = "it passes"

// try runs one test of a binary.
func (b *bench) try(c catch, binary string) (outcome, error) {
	dir, err := os.MkdirTemp(b.dir, "tree-*")
	if err != nil {
		return outcome{}, err
	}
	defer os.RemoveAll(dir)
	folder, err := mirror(dir, c.Package)
	if err != nil {
		return outcome{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	args := append([]string{"-test.run=^(" + c.Test + ")$", "-test.fuzzcachedir=" + filepath.Join(dir, "cache")}, c.Args...)
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	o := outcome{by: c, output: string(out)}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		o.says = fmt.Sprintf("no end after %v", patience)
	case err == nil && strings.Contains(o.output, "no tests to run"):
		return o, fmt.Errorf("there is no test %s in %s", c.Test, c.Package)
	case err == nil:
		o.says = passed
	case !errors.As(err, &exit):
		return o, err
	default:
		o.failed, o.says = said(o.output)
	}
	return o, nil
}

var (
	message  = regexp.MustCompile(`(?m)^\s+(?:\w+\.go:\d+: )(.*)$`)
	panicked = regexp.MustCompile(`(?m)^\s*(?:--- FAIL: .*\n\s*)?(panic: .*)$`)
	byRapid  = regexp.MustCompile(`^\[rapid\] (?:failed|panic) after \d+ tests?: `)
)

// said finds out whether a test failed, and the first line of its message.
func said(output string) (failed bool, says string) {
	if m := panicked.FindStringSubmatch(output); m != nil {
		return !strings.Contains(m[1], "test timed out"), m[1]
	}
	_, after, found := strings.Cut(output, "--- FAIL: ")
	for _, text := range []string{after, output} {
		if m := message.FindStringSubmatch(text); found && m != nil {
			return true, byRapid.ReplaceAllString(m[1], "")
		}
	}
	return found, strings.TrimSpace(after)
}

// mirror makes a tree that looks like the repository, in which a failing test can
// leave its reproducers: links to all that it may read, and a copy of the
// package's own testdata. It returns the package's folder.
func mirror(root, pkg string) (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	there := filepath.Join(root, "tree")
	for _, part := range append(strings.Split(filepath.ToSlash(filepath.Clean(pkg)), "/"), "testdata") {
		if err := os.MkdirAll(there, 0o755); err != nil {
			return "", err
		}
		if err := link(here, there, part); err != nil {
			return "", err
		}
		here, there = filepath.Join(here, part), filepath.Join(there, part)
	}
	if _, err := os.Stat(here); err == nil {
		return filepath.Dir(there), os.CopyFS(there, os.DirFS(here))
	}
	return filepath.Dir(there), nil
}

// link links all entries of a folder but one into another.
func link(from, to, except string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == except {
			continue
		}
		if err := os.Symlink(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
