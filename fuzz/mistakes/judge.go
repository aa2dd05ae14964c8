package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// patience is how long one test may take. One that hangs has reported nothing.
const patience = 60 * time.Second

// verdict is what became of a mistake.
type verdict struct {
	*mistake
	Outcomes []outcome `json:"outcomes"`
	Problem  string    `json:"problem,omitempty"` // why some are missing
}

// outcome is how one test, or all vectors, ended.
type outcome struct {
	By      string `json:"by"`
	Failed  bool   `json:"failed"`
	Message string `json:"message"`
}

func (v verdict) caught() bool {
	return v.Problem == "" && !slices.ContainsFunc(v.Outcomes, func(o outcome) bool { return !o.Failed })
}

func (v verdict) String() string {
	if v.caught() {
		return "caught      " + v.Title
	}
	text := "NOT CAUGHT  " + v.Title
	for _, o := range v.Outcomes {
		if !o.Failed {
			text += "\n            " + o.By + ": " + o.Message
		}
	}
	return strings.TrimRight(text+"\n            "+v.Problem, "\n ")
}

// judge runs tests and vectors in a scratch folder.
type judge struct{ dir string }

// unchanged returns which of the tests and vectors that are to catch any of these
// mistakes fail on the sources as they are.
func (j judge) unchanged(list []*mistake) (err error) {
	parts := map[string]*mistake{} // one with all tests of a package, or with the vectors for a port
	for _, m := range list {
		for _, t := range m.Tests {
			key := "tests " + t.Package
			if parts[key] == nil {
				parts[key] = &mistake{}
			}
			if p := parts[key]; !slices.Contains(p.Tests, t) {
				p.Tests = append(p.Tests, t)
			}
		}
		if m.Vectors {
			parts["vectors "+m.port()] = &mistake{Vectors: true, Hunks: m.Hunks}
		}
	}
	var mu sync.Mutex
	each(slices.Collect(maps.Values(parts)), func(p *mistake) {
		v := j.try(p, nil)
		mu.Lock()
		defer mu.Unlock()
		if v.Problem != "" {
			err = errors.Join(err, errors.New(v.Problem))
		}
		for _, o := range v.Outcomes {
			if o.Message != passed {
				err = errors.Join(err, fmt.Errorf("%s fails without any mistake: %s", o.By, o.Message))
			}
		}
	})
	return err
}

// try runs a mistake's tests and vectors with files replaced.
func (j judge) try(m *mistake, changed map[string][]byte) verdict {
	v := verdict{mistake: m}
	dir, err := os.MkdirTemp(j.dir, "mistake-*")
	if err == nil {
		defer os.RemoveAll(dir)
		err = writeOverlay(dir, changed)
	}
	for _, t := range m.Tests {
		if err == nil {
			var o outcome
			o, err = runTest(dir, t)
			v.Outcomes = append(v.Outcomes, o)
		}
	}
	if m.Vectors && err == nil {
		var o outcome
		o, err = runVectors(dir, m.port(), changed)
		v.Outcomes = append(v.Outcomes, o)
	}
	if err != nil {
		v.Problem = err.Error()
	}
	return v
}

// writeOverlay writes what the go command's -overlay takes.
func writeOverlay(dir string, changed map[string][]byte) error {
	replace := map[string]string{}
	for file, text := range changed {
		original, err := filepath.Abs(file)
		if err != nil {
			return err
		}
		replace[original] = filepath.Join(dir, overlaid(file))
		if err := os.WriteFile(replace[original], text, 0o644); err != nil {
			return err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	return errors.Join(err, os.WriteFile(filepath.Join(dir, "overlay.json"), text, 0o644))
}

// overlaid is the name of a file in the scratch folder.
func overlaid(file string) string { return strings.ReplaceAll(file, "/", "_") }

// output runs a command that must succeed, in a folder.
func output(folder string, args ...string) ([]byte, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", strings.Join(args[:2], " "), err, out)
	}
	return out, err
}

// passed is the message of a test that did not fail.
const passed = "it passes"

// fixed makes a test fail in the same way each time, soon, and without leaving a
// file: what rapid finds is not shrunk. A test gets those flags that it has.
var fixed = []string{"-rapid.seed=1", "-rapid.shrinktime=0s", "-rapid.nofailfile", "-commands.seed=1"}

// runTest builds a test's package, unless that was done, and runs the test in the
// package's folder; a fuzz target that searches leaves its input in the scratch
// folder.
func runTest(dir string, t test) (outcome, error) {
	o := outcome{By: t.String(), Message: passed}
	folder, binary := t.Package, filepath.Join(dir, strings.ReplaceAll(t.Package, "/", "_"))
	build := []string{"go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", filepath.Join(dir, "overlay.json")}
	if strings.Contains(t.Args, "-test.fuzz=") {
		build, folder, binary = append(build, "-fuzz=."), dir, binary+".fuzz" // counts what is covered
	}
	if _, err := os.Stat(binary); err != nil {
		if _, err := output("", append(build, "-o", binary, "./"+t.Package)...); err != nil {
			return o, err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	args := append(words(t.Args), "-test.run=^("+t.Name+")$", "-test.fuzzcachedir="+filepath.Join(dir, "cache"))
	flags, _ := exec.CommandContext(ctx, binary, "-help").CombinedOutput()
	for _, f := range fixed {
		if name, _, _ := strings.Cut(f, "="); strings.Contains(string(flags), "  "+name) {
			args = append(args, f)
		}
	}
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		o.Message = fmt.Sprintf("no end after %v", patience)
	case err == nil && strings.Contains(string(out), "no tests to run"):
		return o, fmt.Errorf("there is no %s", t)
	case err != nil:
		o.Failed, o.Message = message(string(out))
	}
	return o, nil
}

var says = regexp.MustCompile(`(?m)^\s+\w+\.go:\d+: (?:\[rapid\] (?:failed|panic) after \d+ tests?: )?(.*)$|^\s*(panic: .*)$`)

// message returns whether a test failed, and the first line of what it says.
func message(output string) (bool, string) {
	if i := strings.Index(output, "--- FAIL: "); i >= 0 {
		output = output[i:]
	}
	m := says.FindStringSubmatch(output)
	if m == nil {
		return false, "it fails without a message"
	}
	return true, m[1] + m[2]
}

// each calls do for all elements, as many at once as there are processors.
func each[T any](list []T, do func(T)) {
	var running sync.WaitGroup
	slots := make(chan bool, runtime.GOMAXPROCS(0))
	for _, x := range list {
		slots <- true
		running.Go(func() {
			defer func() { <-slots }()
			do(x)
		})
	}
	running.Wait()
}
