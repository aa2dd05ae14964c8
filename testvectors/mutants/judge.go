package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/chunkwire/chunkwire/testvectors/mutants/inject"
)

// verdict is what the vectors made of a mutant.
type verdict struct {
	failed  int    // vectors that failed
	first   string // the first of them
	problem error  // why there is no verdict
}

func (v verdict) killed() bool { return v.problem == nil && v.failed > 0 }

func (v verdict) String() string {
	switch {
	case v.problem != nil:
		return "no verdict: " + v.problem.Error()
	case v.failed == 0:
		return "SURVIVED"
	}
	return fmt.Sprintf("killed by %d, first %s", v.failed, v.first)
}

// cells are the verdict's two cells of the table.
func (v verdict) cells() string {
	if !v.killed() {
		return "**" + v.String() + "** | "
	}
	return fmt.Sprintf("%d | `%s`", v.failed, v.first)
}

// bench is a folder for what is built, with the runner in it.
type bench struct{ dir string }

func newBench() (*bench, error) {
	dir, err := os.MkdirTemp("", "mutants-*")
	if err != nil {
		return nil, err
	}
	b := &bench{dir}
	if out, err := exec.Command("go", "build", "-o", b.runner(), "./cmd/chunkwire").CombinedOutput(); err != nil {
		b.close()
		return nil, fmt.Errorf("building the runner: %w\n%s", err, out)
	}
	return b, nil
}

func (b *bench) close()         { _ = os.RemoveAll(b.dir) }
func (b *bench) runner() string { return filepath.Join(b.dir, "chunkwire") }

func (b *bench) judge(m mutant) verdict {
	dir, err := os.MkdirTemp(b.dir, "mutant-*")
	if err != nil {
		return verdict{problem: err}
	}
	defer os.RemoveAll(dir)
	mutated, err := inject.Mistake{File: m.file, Old: m.old, New: m.new}.Apply(dir)
	if err != nil {
		return verdict{problem: err}
	}
	var port []string
	var folder string
	switch filepath.Ext(m.file) {
	case ".py":
		port, folder, err = pythonPort(dir, m.file, mutated)
	case ".c":
		port, err = cPort(dir, m.file, mutated)
	case ".ts":
		port, err = typescriptPort(dir, m.file, mutated)
	default:
		port, err = goPort(dir, m.file, mutated)
	}
	if err != nil {
		return verdict{problem: err}
	}
	return b.conformance(folder, port)
}

// goPort builds the reference port with one file replaced.
func goPort(dir, file, mutated string) ([]string, error) {
	list, err := inject.Overlay(dir, file, mutated)
	if err != nil {
		return nil, err
	}
	binary := filepath.Join(dir, "port")
	if out, err := exec.Command("go", "build", "-overlay", list, "-o", binary, "./cmd/chunkwire").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("it does not build: %s", strings.TrimSpace(string(out)))
	}
	return []string{binary, "port"}, nil
}

// pythonPort copies the Python port, with one file replaced.
func pythonPort(dir, file, mutated string) (port []string, folder string, err error) {
	folder = filepath.Join(dir, "python")
	return []string{"python3", "-B", "-m", "chunkwire"}, folder, copyPort("ports/python", folder, file, mutated)
}

// cPort copies the C port, with one file replaced, and builds it.
func cPort(dir, file, mutated string) ([]string, error) {
	folder := filepath.Join(dir, "c")
	if err := copyPort("ports/c", folder, file, mutated); err != nil {
		return nil, err
	}
	// Warnings are no errors here: a mistake may well leave something unused.
	if out, err := exec.Command("make", "-B", "-C", folder, "port", "CFLAGS=-std=c99 -O1 -w").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("it does not build: %s", strings.TrimSpace(string(out)))
	}
	return []string{filepath.Join(folder, "port")}, nil
}

// typescriptPort copies the TypeScript port's sources, with one file replaced, and
// compiles them with what npm has installed for it.
func typescriptPort(dir, file, mutated string) ([]string, error) {
	const from = "ports/typescript"
	modules, err := filepath.Abs(from + "/node_modules")
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(modules); err != nil {
		return nil, fmt.Errorf("run npm install in %s first: %w", from, err)
	}
	folder := filepath.Join(dir, "typescript")
	if err := copyPort(from+"/src", filepath.Join(folder, "src"), file, mutated); err != nil {
		return nil, err
	}
	for _, name := range []string{"tsconfig.json", "package.json"} {
		text, err := os.ReadFile(filepath.Join(from, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name), text, 0o644)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := os.Symlink(modules, filepath.Join(folder, "node_modules")); err != nil {
		return nil, err
	}
	tsc := exec.Command("node", "node_modules/typescript/bin/tsc")
	tsc.Dir = folder
	if out, err := tsc.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("it does not build: %s", strings.TrimSpace(string(out)))
	}
	return []string{"node", filepath.Join(folder, "dist/port.js")}, nil
}

// copyPort copies a port's folder, with one file replaced.
func copyPort(from, to, file, mutated string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	inside, err := filepath.Rel(from, file)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(mutated)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, inside), text, 0o644)
}

// conformance puts the vectors to a port.
func (b *bench) conformance(folder string, port []string) verdict {
	args := append([]string{"conformance", "--json", "--timeout", "5s", "--"}, port...)
	cmd := exec.Command(b.runner(), args...)
	cmd.Dir = folder
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return verdict{problem: err}
	}
	var report struct {
		Results []struct{ Name, Status string }
	}
	if err := json.Unmarshal(out, &report); err != nil {
		return verdict{problem: fmt.Errorf("the runner's report: %w", err)}
	}
	var v verdict
	for _, r := range report.Results {
		if r.Status == "failed" {
			if v.failed++; v.first == "" {
				v.first = r.Name
			}
		}
	}
	return v
}
