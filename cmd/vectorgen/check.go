package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/google/go-cmp/cmp"

	"github.com/chunkwire/chunkwire/testvectors"
)

var errDrift = errors.New("the files differ from what vectorgen writes; run it without --check, or fix it")

// compare prints how the files differ from what is generated.
func (o *options) compare(w io.Writer, list []file, match *regexp.Regexp) error {
	drift := false
	for _, f := range list {
		if !f.matches(match) {
			continue
		}
		committed, err := os.ReadFile(filepath.Join(o.dir, f.name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		diff, err := f.diff(committed)
		if err != nil {
			return err
		}
		if diff != "" {
			drift = true
			fmt.Fprintf(w, "%s (-committed +generated):\n%s\n", f.name, diff)
		}
	}
	unknown, err := o.unknown(list)
	if err != nil {
		return err
	}
	for _, name := range unknown {
		fmt.Fprintf(w, "%s: no group writes it\n", name)
	}
	if drift || len(unknown) > 0 {
		return errDrift
	}
	return nil
}

// diff returns how a file differs from what is committed: by its values, or if these
// are equal by its first line.
func (f *file) diff(committed []byte) (string, error) {
	if committed == nil {
		return "missing\n", nil
	}
	if f.acc != nil {
		f.keepLongRuns(committed)
	}
	want, err := f.full()
	if err != nil || bytes.Equal(want, committed) {
		return "", err
	}
	var a, b any
	if json.Unmarshal(committed, &a) == nil && json.Unmarshal(want, &b) == nil {
		if diff := cmp.Diff(byName(a), byName(b)); diff != "" {
			return diff, nil
		}
	}
	return firstLine(committed, want), nil
}

// keepLongRuns takes the hashes of the runs that take long from what is
// committed; a test of the package testvectors runs those with the codec.
func (f *file) keepLongRuns(committed []byte) {
	var old testvectors.AccumulatedFile
	if json.Unmarshal(committed, &old) != nil {
		return // diff shows it
	}
	for i := range f.acc.Runs {
		run := &f.acc.Runs[i]
		if run.Packets <= quickRun || i >= len(old.Runs) {
			continue
		}
		run.SHA256 = "unknown"
		if old.Runs[i].Seed == run.Seed && old.Runs[i].Packets == run.Packets {
			run.SHA256 = old.Runs[i].SHA256
		}
	}
}

// byName turns a file's list of vectors into a map, so that a vector that was
// added does not look like a change of all that follow it.
func byName(v any) any {
	f, ok := v.(map[string]any)
	if !ok {
		return v
	}
	list, _ := f["vectors"].([]any)
	for _, e := range list {
		if vector, ok := e.(map[string]any); ok {
			f[fmt.Sprint(vector["name"])] = vector
		}
	}
	delete(f, "vectors")
	return f
}

func firstLine(committed, want []byte) string {
	a, b := bytes.Split(committed, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range min(len(a), len(b)) {
		if !bytes.Equal(a[i], b[i]) {
			return fmt.Sprintf("line %d:\n%s", i+1, cmp.Diff(string(a[i]), string(b[i])))
		}
	}
	return fmt.Sprintf("%d lines, not %d\n", len(a), len(b))
}

// unknown lists the files of the folder that no group writes.
func (o *options) unknown(list []file) (names []string, err error) {
	paths, err := filepath.Glob(filepath.Join(o.dir, "*.json"))
	for _, path := range paths {
		name := filepath.Base(path)
		if !slices.ContainsFunc(list, func(f file) bool { return f.name == name }) {
			names = append(names, name)
		}
	}
	return names, err
}
