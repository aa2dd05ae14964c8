package main

import (
	"embed"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

//go:embed *.txt
var data embed.FS

// mistake is one change to the sources, with what must catch it.
type mistake struct {
	Title   string   `json:"title"`
	Breaks  string   `json:"breaks"` // the property, with the sentences of the specification
	Place   string   `json:"place"`
	Port    string   `json:"port,omitempty"` // the folder of a port; empty for Go
	Changes []string `json:"changes"`
	Tests   []test   `json:"tests,omitempty"` // each of these must fail
	Vectors bool     `json:"vectors"`         // at least one vector must fail
}

// test is a test, or a fuzz target with its seeds.
type test struct {
	Package string `json:"package"`
	Name    string `json:"name"`
	Args    string `json:"args,omitempty"` // of the test binary
}

func (t test) String() string {
	return strings.TrimSpace(path.Base(t.Package) + "." + t.Name + " " + t.Args)
}

// list is what the data files say.
type list struct {
	mistakes []*mistake
	shapes   map[string]string // of each place in Go, when somebody last looked at its mistakes
	code     packages
}

// readList reads all data files in the order of their names.
func readList() (*list, error) {
	l := &list{shapes: map[string]string{}, code: packages{}}
	files, err := data.ReadDir(".")
	for _, f := range files {
		text, _ := data.ReadFile(f.Name())
		if fault := l.read(string(text)); fault != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", f.Name(), fault))
		}
	}
	return l, err
}

var section = regexp.MustCompile(`^-- (\S+) (\S+) --$`)

// read reads a file: sections, each a place, in which paragraphs are mistakes.
// What stands before the first section is for readers.
func (l *list) read(text string) error {
	var place, port string
	var m *mistake
	for _, line := range strings.Split(text, "\n") {
		head := section.FindStringSubmatch(line)
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch {
		case head != nil && strings.HasPrefix(line, "-- ports/"):
			place, port = head[1]+" "+head[2], path.Join(strings.Split(head[1], "/")[:2]...)
		case head != nil:
			place, port, l.shapes[head[1]] = head[1], "", head[2]
		case line == "" || place == "":
			m = nil
		case m == nil:
			m = &mistake{Title: line, Place: place, Port: port}
			l.mistakes = append(l.mistakes, m)
		case key == "breaks":
			m.Breaks = value
		case key == "change":
			m.Changes = append(m.Changes, value)
		case key == "caught by" && value == "vectors":
			m.Vectors = true
		case key == "caught by" && strings.Contains(value, " "):
			folder, rest, _ := strings.Cut(value, " ")
			name, args, _ := strings.Cut(rest, " ")
			m.Tests = append(m.Tests, test{folder, name, args})
		default:
			return fmt.Errorf("%q is no part of a mistake", line)
		}
	}
	return nil
}

// words splits a line; quotes hold words together.
func words(line string) []string {
	words := regexp.MustCompile(`(?:"[^"]*"|[^\s"])+`).FindAllString(line, -1)
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], `"`, "")
	}
	return words
}

// at returns the mistakes that are made in a place, or refer to it.
func (l *list) at(place string) (titles []string) {
	for _, m := range l.mistakes {
		if slices.Contains(m.places(), place) {
			titles = append(titles, m.Title)
		}
	}
	return titles
}

// places returns the places in Go that a mistake is made in or refers to.
func (m *mistake) places() []string {
	if m.Port != "" {
		return nil
	}
	places := []string{m.Place}
	for _, change := range m.Changes {
		for _, ref := range references.FindAllString(change, -1) {
			if place, _ := home(m.Place, ref); !slices.Contains(places, place) {
				places = append(places, place)
			}
		}
	}
	return places
}

// check returns why a mistake cannot be made as it was meant.
func (l *list) check(m *mistake) error {
	if m.Breaks == "" || len(m.Changes) == 0 || len(m.Tests) == 0 && !m.Vectors {
		return errors.New("it breaks nothing, changes nothing or is caught by nothing")
	}
	for _, name := range m.places() {
		p, err := l.code.find(name)
		if err != nil {
			return err
		}
		if l.shapes[name] != p.shape {
			return fmt.Errorf("%s has changed; look at its mistakes again, and then write %s here:\n\t%s",
				name, p.shape, strings.Join(l.at(name), "\n\t"))
		}
	}
	_, err := l.code.apply(m)
	return err
}
