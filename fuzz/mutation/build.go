package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/chunkwire/chunkwire/fuzz/internal/schemata"
)

// overlay has the texts that the compiler sees instead of the repository's files.
type overlay struct {
	dir     string // where they lie; the binaries too
	target  target
	replace map[string]string
}

func newOverlay(dir string, t target) *overlay {
	return &overlay{dir: dir, target: t, replace: map[string]string{}}
}

// put sets the text of a file of the package.
func (o *overlay) put(path, text string) error {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	place := filepath.Join(o.dir, filepath.Base(path))
	o.replace[absolute] = place
	return os.WriteFile(place, []byte(text), 0o600)
}

// errRefused says that the compiler refused the package.
var errRefused = errors.New("does not compile")

// build compiles the package's tests into a binary and returns its path. With
// errRefused comes what the compiler said.
func (o *overlay) build(name string) (binary, said string, err error) {
	binary = filepath.Join(o.dir, name)
	return o.compile("test", "-c", "-ldflags=-s -w", "-o", binary, binary)
}

// viable reports whether the package itself compiles, whatever its tests do.
func (o *overlay) viable() (bool, error) {
	_, _, err := o.compile("build", "-o", os.DevNull, "")
	if errors.Is(err, errRefused) {
		return false, nil
	}
	return err == nil, err
}

func (o *overlay) compile(args ...string) (binary, said string, err error) {
	args, binary = args[:len(args)-1], args[len(args)-1]
	list, err := json.Marshal(map[string]any{"Replace": o.replace})
	if err != nil {
		return "", "", err
	}
	file := filepath.Join(o.dir, "overlay.json")
	if err := os.WriteFile(file, list, 0o600); err != nil {
		return "", "", err
	}
	// -e: every error, not only the first ten.
	args = append(args, "-overlay", file, "-gcflags=-e", "./"+o.target.name)
	out, err := exec.Command("go", args...).CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", string(out), errRefused
	}
	return binary, string(out), err
}

// buildAll builds the one binary for all mutants in functions. Those that the
// compiler refuses are judged thereby, and left out.
func buildAll(o *overlay, sources []*source, mutants []*mutant) (binary string, err error) {
	dir := filepath.Dir(sources[0].path)
	if err := o.put(filepath.Join(dir, "mutant_on.go"), schemata.SwitchFile(sources[0].tree.Name.Name)); err != nil {
		return "", err
	}
	for {
		var viable []*mutant
		for _, m := range mutants {
			if m.verdict != notViable {
				viable = append(viable, m)
			}
		}
		all := map[string]schemata.File{}
		for _, s := range sources {
			file, err := withMutants(s, viable)
			if err == nil {
				err = o.put(s.path, file.Text)
			}
			if err != nil {
				return "", err
			}
			all[filepath.Base(s.path)] = file
		}
		binary, said, err := o.build("all.test")
		if !errors.Is(err, errRefused) {
			return binary, err
		}
		if !refuse(all, viable, said) {
			return "", fmt.Errorf("%w, and not for a mutant:\n%s", err, said)
		}
	}
}

var complaint = regexp.MustCompile(`(?m)([\w.]+\.go):(\d+):\d+: `)

// refuse marks the mutants that the compiler complains about, and reports
// whether there were any.
func refuse(all map[string]schemata.File, mutants []*mutant, said string) bool {
	refused := map[int]bool{}
	for _, c := range complaint.FindAllStringSubmatch(said, -1) {
		line, _ := strconv.Atoi(c[2])
		for _, s := range all[c[1]].Spans {
			if s.First <= line && line <= s.Last {
				refused[s.ID] = true
			}
		}
	}
	for _, m := range mutants {
		if refused[m.id] {
			m.verdict = notViable
		}
	}
	return len(refused) > 0
}

// withMutants returns a file with those of the mutants that lie in its functions.
func withMutants(s *source, mutants []*mutant) (schemata.File, error) {
	var versions []schemata.Version
	for _, m := range mutants {
		if m.file == s && m.fn != nil {
			versions = append(versions, schemata.Version{ID: m.id, Edits: m.edits()})
		}
	}
	return schemata.New(s.path, s.text, versions)
}

// edits is what a mutant changes in its file.
func (m *mutant) edits() []schemata.Edit {
	return []schemata.Edit{{From: m.from, To: m.to, With: m.with}}
}

// buildOne builds a binary for a mutant outside functions.
func buildOne(dir string, t target, m *mutant) (binary string, err error) {
	own := filepath.Join(dir, strconv.Itoa(m.id))
	if err := os.MkdirAll(own, 0o700); err != nil {
		return "", err
	}
	o := newOverlay(own, t)
	if err := o.put(m.file.path, schemata.Apply(m.file.text, 0, m.edits())); err != nil {
		return "", err
	}
	binary, said, err := o.build("one.test")
	if !errors.Is(err, errRefused) {
		return binary, err
	}
	viable, err := o.viable()
	m.verdict = notViable
	if viable { // only its tests refuse it
		m.verdict, m.killer = killed, "the tests' own constants: "+firstLine(said)
	}
	return "", err
}

func firstLine(text string) string {
	for _, line := range strings.Split(text, "\n") {
		if line != "" && !strings.HasPrefix(line, "#") {
			return line
		}
	}
	return ""
}
