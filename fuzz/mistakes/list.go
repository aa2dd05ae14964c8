package main

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// folder is where the list lies, from the repository's root.
const folder = "fuzz/mistakes"

//go:embed *.txt
var data embed.FS

// mistake is one change to the sources, with what must catch it.
type mistake struct {
	Title   string `json:"title"`
	Breaks  string `json:"breaks"`          // the property, with the sentences of the specification
	Tests   []test `json:"tests,omitempty"` // each of these must fail
	Vectors bool   `json:"vectors"`         // at least one vector must fail
	Hunks   []hunk `json:"hunks"`
}

// hunk is a part of a patch: lines of a function in Go or in a port, or of a
// variable or a constant.
type hunk struct {
	Where string   `json:"where"` // the folder of a package, or the file of a port
	Name  string   `json:"name"`  // such as "(*Sender).transmit"
	Lines []string `json:"lines"` // each begins with a space, - or +
}

// side returns the lines before or after the change.
func (h hunk) side(sign string) (lines []string) {
	for _, line := range h.Lines {
		if line[:1] == " " || line[:1] == sign {
			lines = append(lines, line[1:])
		}
	}
	return lines
}

func (h hunk) inPort() bool { return strings.HasPrefix(h.Where, "ports/") }

// port returns the folder of the port that a mistake is made in, and nothing for Go.
func (m *mistake) port() string {
	if m.Hunks[0].inPort() {
		return filepath.Join(strings.Split(m.Hunks[0].Where, "/")[:2]...)
	}
	return ""
}

// test is a test, or a fuzz target with its seeds.
type test struct {
	Package string `json:"package"`
	Name    string `json:"name"`
	Args    string `json:"args,omitempty"` // of the test binary
}

func (t test) String() string { return strings.TrimSpace(t.Package + " " + t.Name + " " + t.Args) }

// list is what the data files say.
type list struct {
	mistakes []*mistake
	files    []file
	code     *sources
}

type file struct {
	name     string
	head     string // for readers
	mistakes []*mistake
}

// readList reads all data files in the order of their names.
func readList() (*list, error) {
	l := &list{code: newSources()}
	files, err := data.ReadDir(".")
	for _, f := range files {
		text, _ := data.ReadFile(f.Name())
		read, fault := readFile(f.Name(), string(text))
		if fault != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", f.Name(), fault))
		}
		l.files = append(l.files, read)
		l.mistakes = append(l.mistakes, read.mistakes...)
	}
	return l, err
}

var caughtBy = regexp.MustCompile(`^(\S+) (\w+)(?: (.+))?$`)

// readFile reads paragraphs: the first is for readers, each other one a mistake.
func readFile(name, text string) (file, error) {
	head, rest, _ := strings.Cut(text, "\n\n")
	f := file{name: name, head: head}
	for paragraph := range strings.SplitSeq(strings.TrimSpace(rest), "\n\n") {
		m, err := readMistake(strings.Split(paragraph, "\n"))
		if err != nil {
			return f, err
		}
		f.mistakes = append(f.mistakes, m)
	}
	return f, nil
}

func readMistake(lines []string) (*mistake, error) {
	m := &mistake{Title: lines[0]}
	for _, line := range lines[1:] {
		key, value, _ := strings.Cut(strings.TrimPrefix(line, "  "), ": ")
		by := caughtBy.FindStringSubmatch(value)
		where, place := strings.CutPrefix(line, "@@ ")
		switch {
		case place:
			h := hunk{}
			h.Where, h.Name, _ = strings.Cut(where, " ")
			m.Hunks = append(m.Hunks, h)
		case len(m.Hunks) > 0 && strings.ContainsAny(line[:1], " -+"):
			h := &m.Hunks[len(m.Hunks)-1]
			h.Lines = append(h.Lines, line)
		case key == "breaks":
			m.Breaks = value
		case key == "caught by" && value == "vectors":
			m.Vectors = true
		case key == "caught by" && by != nil:
			m.Tests = append(m.Tests, test{by[1], by[2], by[3]})
		default:
			return m, fmt.Errorf("%s: %q is no part of a mistake", m.Title, line)
		}
	}
	if m.Breaks == "" || len(m.Hunks) == 0 || len(m.Tests) == 0 && !m.Vectors {
		return m, fmt.Errorf("%s: it breaks nothing, changes nothing or is caught by nothing", m.Title)
	}
	return m, nil
}

// String is the paragraph of a mistake.
func (m *mistake) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n  breaks: %s\n", m.Title, m.Breaks)
	for _, by := range m.catchers() {
		fmt.Fprintf(&b, "  caught by: %s\n", by)
	}
	for _, h := range m.Hunks {
		fmt.Fprintf(&b, "@@ %s %s\n%s\n", h.Where, h.Name, strings.Join(h.Lines, "\n"))
	}
	return b.String()
}

func (m *mistake) catchers() (names []string) {
	for _, t := range m.Tests {
		names = append(names, t.String())
	}
	if m.Vectors {
		names = append(names, "vectors")
	}
	return names
}

func (f file) String() string {
	text := f.head + "\n"
	for _, m := range f.mistakes {
		text += "\n" + m.String()
	}
	return text
}

// write writes the data files.
func (l *list) write() (err error) {
	for _, f := range l.files {
		err = errors.Join(err, os.WriteFile(filepath.Join(folder, f.name), []byte(f.String()), 0o644))
	}
	return err
}

// choose returns the mistakes that match, and of those one in every so many.
func (l *list) choose(pattern *regexp.Regexp, every, from uint64) (chosen []*mistake) {
	var n uint64
	for _, m := range l.mistakes {
		words := append(m.catchers(), m.Title)
		for _, h := range m.Hunks {
			words = append(words, h.Where+" "+h.Name)
		}
		if slices.ContainsFunc(words, pattern.MatchString) {
			if n%every == from%every {
				chosen = append(chosen, m)
			}
			n++
		}
	}
	return chosen
}

// words splits a line; quotes hold words together.
func words(line string) []string {
	words := regexp.MustCompile(`(?:"[^"]*"|[^\s"])+`).FindAllString(line, -1)
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], `"`, "")
	}
	return words
}
