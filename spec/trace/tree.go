package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// documentPattern names the documents of the specification. A file without a
// sentence is none.
const documentPattern = "spec/*.md"

// source is what is peculiar to a document.
type source struct {
	on   []string // the documents that it is built on, whose constants it uses
	rows []string // the folders in which a word such as S1 is a row of its tables
}

// sources are the documents. One that is not listed stands alone and has no rows.
var sources = map[string]source{
	"spec/PROTOCOL.md": {rows: []string{"spec", "statemachine", "conform", "transport", "testvectors", "fuzz", "cmd", "ports"}},
	"spec/RECOVERY.md": {on: []string{"spec/PROTOCOL.md"}},
	"spec/PACKETS.md":  {rows: []string{"spec", "packet", "conform", "testvectors", "fuzz", "cmd", "ports"}},
	"spec/CHANNELS.md": {on: []string{"spec/PACKETS.md"}, rows: []string{"spec", "channel", "conform", "testvectors", "fuzz", "cmd", "ports"}},
	"spec/REPAIR.md": {
		on:   []string{"spec/PROTOCOL.md", "spec/RECOVERY.md"},
		rows: []string{"spec", "statemachine", "conform", "testvectors", "fuzz", "cmd", "ports"},
	},
	"spec/CONNECTION.md": {
		on:   []string{"spec/PROTOCOL.md", "spec/PACKETS.md", "spec/CHANNELS.md"},
		rows: []string{"spec", "connection", "conform", "testvectors", "fuzz", "cmd", "ports"},
	},
}

// Trace is what a tree says about its specification.
type Trace struct {
	Documents []Document
	Sentences []Sentence            // of all documents
	Code      map[string][]Citation // implementations, by id
	Tests     map[string][]Citation
	Vectors   map[string][]string            // names
	Ports     map[string]map[string]Citation // the first of each port, by id and port
	Others    []Citation                     // where nothing but the id's existence counts
	Problems  []string

	sections map[string][]string // the numbers of each document's sections
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

// roles are those of folders; the longest name that fits counts. What makes
// vectors, mistakes or bad networks, and the second codec, is no implementation,
// and what tests them tests nothing else. Models and judges test, though they
// stand in ordinary files.
var roles = map[string]role{
	"":                    implemented,
	"cmd/vectorgen":       mentioned,
	"conform":             mentioned,
	"conform/channels":    implemented, // the contract's traces
	"conform/chunks":      implemented, // the same
	"conform/connections": implemented, // the same
	"conform/sessions":    implemented, // the same
	"conform/packets":     implemented,
	"conform/oracle":      mentioned,
	"conform/sim":         tested,
	"fuzz":                tested,
	"fuzz/mistakes":       mentioned,
	"fuzz/mutation":       mentioned,
	"internal":            mentioned,
	"internal/acktimer":   implemented,
	"internal/driver":     implemented,
	"internal/frame":      implemented,
	"internal/rtt":        implemented,
	"netsim":              mentioned,
	"ports":               ported,
	"spec":                tested,
	"spec/trace":          ignored, // made-up ids
	"testvectors/script":  mentioned,
	"tools/bench":         ignored,   // other protocols
	"tools/inspect":       mentioned, // shows sentences
}

// mostlyMade are the folders whose tests, other than their code, are evidence.
var mostlyMade = map[string]bool{"internal": true, "netsim": true}

// portLanguages are the files of a port that cite.
var portLanguages = map[string]bool{".c": true, ".h": true, ".cc": true, ".py": true, ".ts": true, ".cs": true, ".rs": true}

// roleOf returns what a file's citations are evidence of.
func roleOf(name string) role {
	folder := path.Dir(name)
	for ; folder != "."; folder = path.Dir(folder) {
		if _, known := roles[folder]; known {
			break
		}
	}
	r := roles[strings.TrimPrefix(folder, ".")]
	switch ext := path.Ext(name); {
	case r == ignored:
		return ignored
	case r == ported:
		if portLanguages[ext] {
			return ported
		}
		return ignored
	case ext == ".md", ext == ".txtar":
		return mentioned
	case ext != ".go":
		return ignored
	case strings.HasSuffix(name, "_test.go") && (r == implemented || mostlyMade[folder]):
		return tested
	}
	return r
}

// read reads the specification and all that cites it.
func read(tree fs.FS) (*Trace, error) {
	t := &Trace{
		Code: map[string][]Citation{}, Tests: map[string][]Citation{},
		Vectors: map[string][]string{}, Ports: map[string]map[string]Citation{}, sections: map[string][]string{},
	}
	if err := t.readDocuments(tree); err != nil {
		return nil, err
	}
	citer := newCiter(t.Sentences)
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if isSkipped(d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		return t.readFile(tree, citer, name)
	})
	return t, err
}

func isSkipped(folder string) bool {
	switch folder {
	case "testdata", "node_modules", "dist":
		return true
	}
	return strings.HasPrefix(folder, ".") && folder != "."
}

func (t *Trace) readDocuments(tree fs.FS) error {
	names, err := fs.Glob(tree, documentPattern)
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		for _, m := range numbered.FindAllStringSubmatch(string(text), -1) {
			t.sections[name] = append(t.sections[name], m[1])
		}
		if d := parse(name, string(text)); len(d.Sentences) > 0 {
			t.Documents = append(t.Documents, d)
			t.Sentences = append(t.Sentences, d.Sentences...)
		}
	}
	if len(t.Sentences) == 0 {
		return fmt.Errorf("%s: no sentence: %w", documentPattern, fs.ErrNotExist)
	}
	for _, d := range t.Documents {
		d.findUsers(t.Documents)
	}
	return nil
}

func (t *Trace) readFile(tree fs.FS, c citer, name string) error {
	isVectors := strings.HasPrefix(name, "testvectors/files/") && path.Ext(name) == ".json"
	if !isVectors && roleOf(name) == ignored && path.Ext(name) != ".md" {
		return nil
	}
	text, err := fs.ReadFile(tree, name)
	if err != nil {
		return err
	}
	if isVectors {
		return t.takeVectors(name, text)
	}
	if path.Ext(name) == ".md" {
		t.Problems = append(t.Problems, checkForm(tree, name, string(text))...)
	}
	t.Problems = append(t.Problems, t.checkSections(name, string(text))...)
	if roleOf(name) != ignored {
		t.cite(c, name, string(text))
	}
	return nil
}

// cite records the citations of one file.
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

// takeVectors records the sentences that a file of vectors lists.
func (t *Trace) takeVectors(name string, text []byte) error {
	type vector struct {
		Name      string
		Sentences []string
	}
	var file struct{ Vectors, Runs []vector }
	if err := json.Unmarshal(text, &file); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, v := range append(file.Vectors, file.Runs...) {
		for _, id := range v.Sentences {
			t.Vectors[id] = append(t.Vectors[id], v.Name)
		}
	}
	return nil
}
