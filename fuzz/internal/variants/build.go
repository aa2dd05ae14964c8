package variants

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Version is what a wrong version changes: the edits in each file, in order.
type Version map[string][]Edit

// Build is the sources with files replaced.
type Build struct {
	// Without are the versions that are not in it, and why: ErrOutside, or what the
	// compiler said.
	Without map[int]error
	Dir     string   // a scratch folder
	changed []string // folders
}

// ErrOutside says that no switch can choose a version: it is in a constant or a type.
var ErrOutside = errors.New("it is outside of functions and values of variables")

// All returns a build with all versions behind a switch, by their numbers from 1; it
// leaves out those that cannot be.
func All(dir string, versions map[int]Version) (*Build, error) {
	b := &Build{Dir: dir, Without: map[int]error{}}
	for {
		spans, err := b.write(versions)
		if err != nil {
			return b, err
		}
		if spans == nil {
			continue // without those that are outside
		}
		said := b.Compile(b.changed...)
		if said == nil {
			return b, nil
		}
		if !b.refuse(spans, said.Error()) {
			return b, said
		}
	}
}

// write writes the files with the versions that are not left out. If there are more to
// leave out it returns nil.
func (b *Build) write(versions map[int]Version) (map[string][]span, error) {
	files := map[string]map[int][]Edit{}
	for id, v := range versions {
		for path, edits := range v {
			if b.Without[id] == nil {
				if files[path] == nil {
					files[path] = map[int][]Edit{}
				}
				files[path][id] = edits
			}
		}
	}
	spans, texts, left := map[string][]span{}, map[string]string{}, false
	for path, edits := range files {
		s, err := read(path)
		if err != nil {
			return nil, err
		}
		w := s.switched(edits)
		for _, id := range w.left {
			b.Without[id], left = ErrOutside, true
		}
		texts[path], spans[flat(path)] = w.String(), w.spans
		texts[filepath.Join(filepath.Dir(path), "mutant_on.go")] = fmt.Sprintf(switchFile, s.Tree.Name.Name)
	}
	if left {
		return nil, nil
	}
	return spans, b.Replace(texts)
}

var complaint = regexp.MustCompile(`(?m)([\w.]+\.go):(\d+):\d+: .*`)

// refuse leaves out the versions that the compiler complains about, and reports whether
// there were any.
func (b *Build) refuse(spans map[string][]span, said string) (any bool) {
	for _, c := range complaint.FindAllStringSubmatch(said, -1) {
		line, _ := strconv.Atoi(c[2])
		for _, s := range spans[c[1]] {
			if s.first <= line && line <= s.last {
				b.Without[s.id], any = errors.Join(b.Without[s.id], errors.New(c[0])), true
			}
		}
	}
	return any
}

// Replace sets what the go command sees of files, by its -overlay.
func (b *Build) Replace(texts map[string]string) error {
	replace, folders := map[string]string{}, map[string]bool{}
	for path, text := range texts {
		original, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		folders[filepath.Dir(path)] = true
		replace[original] = filepath.Join(b.Dir, flat(path))
		if err := os.WriteFile(replace[original], []byte(text), 0o600); err != nil {
			return err
		}
	}
	b.changed = slices.Sorted(maps.Keys(folders))
	text, err := json.Marshal(map[string]any{"Replace": replace})
	return errors.Join(err, os.WriteFile(b.overlay(), text, 0o600))
}

func (b *Build) overlay() string { return filepath.Join(b.Dir, "overlay.json") }

// flat is the name of a file or a package in the scratch folder.
func flat(path string) string { return strings.ReplaceAll(filepath.ToSlash(path), "/", "_") }

// Go runs a subcommand of go that compiles.
func (b *Build) Go(command string, args ...string) error {
	_, err := Output("", append([]string{"go", command, "-overlay", b.overlay()}, args...)...)
	return err
}

// Choose is an environment's variable with which a program of this build is a version; 0 is the unchanged one.
func Choose(id int) string { return variable + "=" + strconv.Itoa(id) }

// Compile compiles packages; each error is told, not only the first ten.
func (b *Build) Compile(folders ...string) error {
	args := []string{"-gcflags=-e", "-o", os.DevNull}
	for _, folder := range folders {
		args = append(args, "./"+folder)
	}
	return b.Go("build", args...)
}

// Output runs a command that must succeed, in a folder.
func Output(folder string, args ...string) (string, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", strings.Join(args[:2], " "), err, out)
	}
	return string(out), err
}
