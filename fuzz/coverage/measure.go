package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// pkg is a package that the targets can reach.
type pkg struct{ path, inside, dir string }

// measurement is what the inputs of all targets reach.
type measurement struct {
	packages []pkg
	blocks   []block
}

// measure runs the targets of a package of this module, instrumented, three times:
// with no input, with the seeds of the code, with what was found.
func measure(targets, corpus string) (measurement, error) {
	var m measurement
	dir, err := os.MkdirTemp("", "coverage-*")
	if err != nil {
		return m, err
	}
	defer os.RemoveAll(dir)
	var self string
	if m.packages, self, err = reachable("./" + targets); err != nil {
		return m, err
	}
	binary := filepath.Join(dir, "fuzz.test.exe")
	if err := build(binary, "./"+targets, m.packages); err != nil {
		return m, err
	}
	kept, err := keptDir(corpus, self)
	if err != nil {
		return m, err
	}
	empty := filepath.Join(dir, "empty")
	full := filepath.Join(dir, "full")
	if err := errors.Join(os.Mkdir(empty, 0o755), gather(full, filepath.Join(targets, "testdata", "fuzz"), kept)); err != nil {
		return m, err
	}
	none, noneErr := run(binary, empty, "-test.run=^Fuzz/^none$")
	seeds, seedsErr := run(binary, empty, "-test.run=^Fuzz/^seed#")
	found, foundErr := run(binary, full, "-test.run=^Fuzz/.", "-test.skip=^Fuzz/^seed#")
	if err := errors.Join(noneErr, seedsErr, foundErr); err != nil {
		return m, err
	}
	m.blocks = compare(none, seeds, found)
	return m, nil
}

// reachable lists the packages of this module that another imports, in the order of
// their imports, and the import path of the other.
func reachable(targets string) (list []pkg, self string, err error) {
	module, err := output("go", "list", "-m")
	if err != nil {
		return nil, "", err
	}
	module = strings.TrimSpace(module)
	if self, err = output("go", "list", targets); err != nil {
		return nil, "", err
	}
	self = strings.TrimSpace(self)
	out, err := output("go", "list", "-deps", "-test", "-f", "{{.ImportPath}}\t{{.Dir}}", targets)
	for line := range strings.Lines(out) {
		name, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		inside, ours := strings.CutPrefix(name, module+"/")
		if !ours || strings.ContainsAny(name, " ") || name == self || strings.HasSuffix(name, ".test") {
			continue
		}
		list = append(list, pkg{name, inside, dir})
	}
	return list, self, err
}

// build makes a test binary that counts what runs in a list of packages.
func build(binary, targets string, list []pkg) error {
	var names []string
	for _, p := range list {
		names = append(names, p.path)
	}
	_, err := output("go", "test", "-c", "-vet=off", "-covermode=atomic", "-coverpkg="+strings.Join(names, ","), "-o", binary, targets)
	return err
}

// keptDir is the folder of a package in that of all corpora.
func keptDir(corpus, self string) (string, error) {
	if corpus == "" {
		return "", nil
	}
	dir := filepath.Join(corpus, filepath.FromSlash(self))
	if _, err := os.Stat(dir); err != nil {
		return "", fmt.Errorf("there is no corpus of %s: %w", self, err)
	}
	return dir, nil
}

// gather makes dir a place whose testdata/fuzz has all that is in some folders.
func gather(dir string, from ...string) error {
	into := filepath.Join(dir, "testdata", "fuzz")
	if err := os.MkdirAll(into, 0o755); err != nil {
		return err
	}
	for _, folder := range from {
		if folder == "" {
			continue
		}
		files, err := filepath.Glob(filepath.Join(folder, "*", "*"))
		if err != nil {
			return err
		}
		for _, file := range files {
			if err := copyInto(filepath.Join(into, filepath.Base(filepath.Dir(file))), file); err != nil {
				return err
			}
		}
	}
	return nil
}

func copyInto(dir, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, filepath.Base(file)), text, 0o644)
}

// run runs a test binary in dir and returns its profile.
func run(binary, dir string, args ...string) (profile, error) {
	name := filepath.Join(dir, "cover.out")
	cmd := exec.Command(binary, append(args, "-test.coverprofile="+name)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("an input fails, %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("the targets wrote no profile")
	}
	if err != nil {
		return nil, err
	}
	return parseProfile(string(text))
}

func output(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, problems.String())
	}
	return string(out), err
}

// splitFile takes the name of a file in a profile apart.
func splitFile(name string) (pkg, file string) {
	return path.Dir(name), path.Base(name)
}
