package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// target is a fuzz target.
type target struct {
	pkg    string // import path of its package
	inside string // folder of the package in the module, such as "fuzz"
	dir    string // the same, absolute
	name   string // such as "FuzzBits"
}

// String is what the record calls the target.
func (t target) String() string { return "./" + path.Join(t.inside, t.name) }

// findTargets lists all fuzz targets of the module at root whose name matches. A
// package whose tests do not build is a problem, which does not keep the others from
// being listed.
func findTargets(root string, match *regexp.Regexp) (list []target, problem error) {
	module, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	candidates, err := packages(root)
	if err != nil {
		return nil, err
	}
	for _, p := range candidates {
		inside, err := filepath.Rel(module, p.dir)
		if err != nil {
			return nil, err
		}
		out, err := output(root, "go", "test", "-vet=off", "-run=^$", "-list=^Fuzz", p.path)
		if err != nil {
			problem = errors.Join(problem, err)
			continue
		}
		for name := range strings.Lines(string(out)) {
			name = strings.TrimSpace(name)
			if fuzzName.MatchString(name) && match.MatchString(name) {
				list = append(list, target{p.path, filepath.ToSlash(inside), p.dir, name})
			}
		}
	}
	return list, problem
}

var fuzzName = regexp.MustCompile(`^Fuzz\w*$`)

type pkg struct{ path, dir string }

// packages lists those packages of the module whose tests have something like a fuzz
// target. Go tells more exactly, but must build the tests for it.
func packages(root string) (list []pkg, err error) {
	out, err := output(root, "go", "list", "-f", "{{.ImportPath}}\t{{.Dir}}\t{{join .TestGoFiles \",\"}}\t{{join .XTestGoFiles \",\"}}", "./...")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		for _, file := range strings.Split(fields[2]+","+fields[3], ",") {
			text, err := os.ReadFile(filepath.Join(fields[1], file))
			if file != "" && err == nil && bytes.Contains(text, []byte("\nfunc Fuzz")) {
				list = append(list, pkg{fields[0], fields[1]})
				break
			}
		}
	}
	return list, nil
}

// build makes the test binary of each package that has a target, instrumented for
// fuzzing, in dir, and returns their names. All slices of a night run them, so that
// the code does not change under its count. (Windows wants the ending.)
func build(root, dir string, list []target) (map[string]string, error) {
	binaries := map[string]string{}
	for _, t := range list {
		if binaries[t.pkg] != "" {
			continue
		}
		name := filepath.Join(dir, fmt.Sprintf("%d.test.exe", len(binaries)))
		if _, err := output(root, "go", "test", "-c", "-vet=off", "-fuzz=.", "-o", name, t.pkg); err != nil {
			return nil, err
		}
		binaries[t.pkg] = name
	}
	return binaries, nil
}

// corpusDir is where go test -fuzz keeps what it finds interesting.
func corpusDir() (string, error) {
	out, err := output(".", "go", "env", "GOCACHE")
	return filepath.Join(strings.TrimSpace(string(out)), "fuzz"), err
}

// commit names what is checked out in root, with a + when files were changed since
// that are none of a night's own: reproducers, and the files and folders of own.
func commit(root string, own ...string) string {
	out, err := output(root, "git", "rev-parse", "--short=12", "HEAD")
	if err != nil {
		return "unknown"
	}
	name := strings.TrimSpace(string(out))
	status := []string{"status", "--porcelain", "--", ":/", ":(exclude,glob)**/testdata/fuzz/**"}
	for _, name := range own {
		if inside, ok := within(root, name); ok {
			status = append(status, ":(exclude,top)"+inside)
		}
	}
	if changes, err := output(root, "git", status...); err != nil || len(changes) > 0 {
		name += "+"
	}
	return name
}

// within returns a file's name as seen from root, if it lies there.
func within(root, file string) (string, bool) {
	if file == "" {
		return "", false
	}
	from, err := filepath.Abs(root)
	to, fileErr := filepath.Abs(file)
	if err = errors.Join(err, fileErr); err != nil {
		return "", false
	}
	inside, err := filepath.Rel(from, to)
	return filepath.ToSlash(inside), err == nil && filepath.IsLocal(inside)
}

// output runs a command in dir and returns what it writes on standard output.
func output(dir, name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = os.Environ()
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		return out, fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, problems.Bytes(), out)
	}
	return out, nil
}
