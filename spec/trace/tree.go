package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Documents hold sentences; each may be missing but the first.
var documents = []string{"spec/PROTOCOL.md", "spec/RECOVERY.md"}

// Trace is what a tree says about its specification.
type Trace struct {
	Sentences []Sentence
	Code      map[string][]Citation // implementations, by id
	Tests     map[string][]Citation
	Vectors   map[string][]string            // names
	Ports     map[string]map[string]Citation // the first of each port, by id and port
	Others    []Citation                     // where nothing but the id's existence counts
	Problems  []string
}

// role is what a citation in a file is evidence of.
type role int

const (
	ignored role = iota
	mentioned
	implemented
	tested
	ported
)

// roleOf tells what a file's citations are evidence of. Machinery that makes
// vectors, mistakes or bad networks, and the second codec, are no implementation,
// and what tests them tests nothing else. In fuzz the checkers of what is fuzzed
// stand in ordinary files.
func roleOf(name string) role {
	inside := func(folders ...string) bool {
		return slices.ContainsFunc(folders, func(f string) bool { return strings.HasPrefix(name, f+"/") })
	}
	switch ext := path.Ext(name); {
	case inside("spec/trace", "bench"): // made-up ids; other protocols
		return ignored
	case inside("ports"):
		if slices.Contains([]string{".c", ".h", ".py", ".ts"}, ext) {
			return ported
		}
		return ignored
	case ext == ".md":
		return mentioned
	case ext != ".go":
		return ignored
	case inside("cmd/vectorgen", "testvectors/oracle", "testvectors/mutants", "fuzz/coverage", "fuzz/faults", "fuzz/nightly"):
		return mentioned
	case strings.HasSuffix(name, "_test.go"), inside("fuzz"):
		return tested
	case inside("netsim"):
		return mentioned
	}
	return implemented
}

// read reads the specification and all that cites it.
func read(tree fs.FS) (*Trace, error) {
	t := &Trace{
		Code: map[string][]Citation{}, Tests: map[string][]Citation{},
		Vectors: map[string][]string{}, Ports: map[string]map[string]Citation{},
	}
	for i, name := range documents {
		text, err := fs.ReadFile(tree, name)
		if errors.Is(err, fs.ErrNotExist) && i > 0 {
			continue
		}
		if err != nil {
			return nil, err
		}
		t.Sentences = append(t.Sentences, parse(name, string(text))...)
	}
	citer := newCiter(t.Sentences)
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if hidden := strings.HasPrefix(d.Name(), ".") && name != "."; hidden || d.Name() == "testdata" || d.Name() == "node_modules" || d.Name() == "dist" {
				return fs.SkipDir
			}
			return nil
		}
		if path.Dir(name) == "testvectors/files" && path.Ext(name) == ".json" {
			return t.readVectors(tree, name)
		}
		if roleOf(name) == ignored {
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err == nil {
			t.cite(citer, name, string(text))
		}
		return err
	})
	return t, err
}

// cite notes the citations of one file.
func (t *Trace) cite(c citer, name, text string) {
	cited, problems := c.find(name, text)
	if roleOf(name) != ported {
		t.Problems = append(t.Problems, problems...)
	}
	for _, c := range cited {
		switch roleOf(name) {
		case implemented:
			t.Code[c.ID] = append(t.Code[c.ID], c)
		case tested:
			t.Tests[c.ID] = append(t.Tests[c.ID], c)
		case ported:
			port := strings.Split(name, "/")[1]
			if t.Ports[c.ID] == nil {
				t.Ports[c.ID] = map[string]Citation{}
			}
			if _, known := t.Ports[c.ID][port]; !known {
				t.Ports[c.ID][port] = c
			}
		default:
			t.Others = append(t.Others, c)
		}
	}
}

// readVectors notes the sentences that a file of vectors lists.
func (t *Trace) readVectors(tree fs.FS, name string) error {
	type vector struct {
		Name      string
		Sentences []string
	}
	var file struct{ Vectors, Runs []vector }
	text, err := fs.ReadFile(tree, name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, v := range slices.Concat(file.Vectors, file.Runs) {
		for _, id := range v.Sentences {
			t.Vectors[id] = append(t.Vectors[id], v.Name)
		}
	}
	return nil
}
