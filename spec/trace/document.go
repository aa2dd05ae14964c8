package main

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/chunkwire/chunkwire/spec"
)

// Document is one document of the specification, with its sentences and rows.
type Document struct {
	spec.Document
	Sentences []Sentence
}

// Sentence is a normative sentence, or a row of a table of transitions: its text has the
// table behind it, too.
type Sentence struct {
	spec.Sentence
	Words string // without the table
	Line  int
}

// IsRow reports whether it is a row of a table of transitions.
func (s Sentence) IsRow() bool { return !strings.Contains(s.ID, "-") }

// What follows from the other sentences is tested and not implemented.
var consequences = []string{"SAFE", "LIVE", "BND"}

// Needs reports whether the sentence must have an implementation or a test.
func (s Sentence) Needs(o Obligation) bool {
	return o == Test || s.Class != "property" && !slices.Contains(consequences, family(s.ID))
}

// Obligation is what a sentence needs: to be implemented, or to be tested.
type Obligation string

// The obligations, by their names in the file of exceptions.
const (
	Implementation Obligation = "implementation"
	Test           Obligation = "test"
)

// An id is letters and a number, such as SND-7; a document may put a prefix of its
// own before that, such as PKT-ACK-1.
const idPattern = letters + `-\d+`

var (
	headingPattern = regexp.MustCompile(`^(#+) (.*)`)
	classPattern   = regexp.MustCompile(`^\*Class: ([a-z]+)\.\*$`)
	namePattern    = regexp.MustCompile(`^<!-- table: ([a-z-]+) -->$`)
	itemPattern    = regexp.MustCompile(`^- \*\*(` + idPattern + `)\*\*\s*(.*)`)
	cellPattern    = regexp.MustCompile(`^\| \*\*(` + idPattern + `)\*\* \|(.*)`)
	rowPattern     = regexp.MustCompile(`^\| ([A-Z]\d+) \|(.*)`)
)

// parse reads a document. The words of a list item are all that is indented
// under it, and a table right behind it, unless its rows have ids of their own.
func parse(file, text string) Document {
	p := parser{doc: Document{Document: spec.Document{
		File: file, Sentences: []spec.Sentence{}, Tables: []spec.Table{}, Constants: []spec.Constant{}, Codes: []spec.Code{},
	}}}
	for i, line := range strings.Split(text, "\n") {
		p.take(i+1, line)
		p.afterBlank = line == ""
	}
	p.close()
	p.doc.take(p.grids)
	return p.doc
}

type parser struct {
	doc        Document
	section    string
	classes    []string // by heading level
	item       bool     // the latest sentence is a list item that may go on
	table      []string // the lines of the table that is being read
	name       string   // of the next table of transitions
	grids      []grid   // all tables
	fenced     bool     // in a block of code
	afterBlank bool
}

func (p *parser) take(number int, line string) {
	if strings.HasPrefix(line, "```") {
		p.fenced = !p.fenced
		p.close()
	}
	if p.fenced {
		return
	}
	if strings.HasPrefix(line, "|") {
		p.table = append(p.table, line)
	} else if len(p.table) > 0 {
		p.endTable()
	}
	id, rest, isItem := begins(line)
	switch {
	case p.structure(line):
	case id != "":
		p.closeItem(isItem)
		p.doc.Sentences = append(p.doc.Sentences, Sentence{
			spec.Sentence{ID: id, Class: p.class(), Section: p.section, Text: spaced(rest), File: p.doc.File}, spaced(rest), number,
		})
		p.item = isItem
	case line == "", line[0] == '|':
	case line[0] == ' ' || !p.afterBlank && line[0] != '-':
		p.more(line)
	default:
		p.close()
	}
}

// structure takes a line that has no words of a sentence.
func (p *parser) structure(line string) bool {
	if m := headingPattern.FindStringSubmatch(line); m != nil {
		p.close()
		level := len(m[1])
		if level == 1 && p.doc.Title == "" {
			p.doc.Title = m[2]
		}
		for len(p.classes) < level {
			p.classes = append(p.classes, p.class())
		}
		p.classes = p.classes[:level]
		p.classes[level-1] = p.outer(level)
		p.section = m[2]
		return true
	}
	if m := classPattern.FindStringSubmatch(line); m != nil && len(p.classes) > 0 {
		p.close()
		p.classes[len(p.classes)-1] = m[1]
		return true
	}
	if m := namePattern.FindStringSubmatch(line); m != nil {
		p.close()
		p.name = m[1]
		return true
	}
	return false
}

func (p *parser) class() string {
	if len(p.classes) == 0 {
		return ""
	}
	return p.classes[len(p.classes)-1]
}

// outer returns the class that a section of a level inherits.
func (p *parser) outer(level int) string {
	if level < 2 {
		return ""
	}
	return p.classes[level-2]
}

// more adds words to the item.
func (p *parser) more(words string) {
	if p.item {
		last := &p.doc.Sentences[len(p.doc.Sentences)-1]
		last.Text = spaced(last.Text + " " + words)
		last.Words = spaced(last.Words + " " + words)
	}
}

// endTable ends a table. It belongs to the item before it, unless its rows have
// ids.
func (p *parser) endTable() {
	if len(p.table) == 0 {
		return
	}
	g := newGrid(p.table)
	g.name, g.class = p.name, p.class()
	p.grids = append(p.grids, g)
	if p.item {
		last := &p.doc.Sentences[len(p.doc.Sentences)-1]
		last.Text = spaced(last.Text + " " + strings.Join(p.table, " "))
	}
	p.table, p.name = nil, ""
}

// closeItem ends the item before another sentence. In a table the lines so far
// are no part of it.
func (p *parser) closeItem(isItem bool) {
	if isItem {
		p.close()
	}
	p.item = false
}

// close ends the item, with the table behind it.
func (p *parser) close() {
	p.endTable()
	p.item = false
}

// begins returns the id that a line begins with, if any, and the rest.
func begins(line string) (id, rest string, isItem bool) {
	for _, p := range []*regexp.Regexp{itemPattern, cellPattern, rowPattern} {
		if m := p.FindStringSubmatch(line); m != nil {
			return m[1], m[2], p == itemPattern
		}
	}
	return "", "", false
}

func spaced(s string) string { return strings.Join(strings.Fields(s), " ") }

// family returns the letters of an id: "SND" of SND-7, "S" of S9, "PKT-ACK" of
// PKT-ACK-1.
func family(id string) string { return strings.TrimRight(id, "-0123456789") }

func number(id string) int {
	n, _ := strconv.Atoi(id[strings.IndexAny(id, "0123456789"):])
	return n
}

// byID orders ids by their letters, then by their numbers.
func byID(a, b string) int {
	if c := strings.Compare(family(a), family(b)); c != 0 {
		return c
	}
	return number(a) - number(b)
}
