package main

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Sentence is a normative sentence of the specification, or a row of a table of
// transitions.
type Sentence struct {
	ID      string
	Section string // the nearest heading, such as "7.3 Transitions"
	Text    string // its words, without the id, spaced evenly
	File    string
	Line    int
}

// Hash stands for the sentence's words in the file of confirmed ones.
func (s Sentence) Hash() string {
	sum := sha256.Sum256([]byte(s.Text))
	return fmt.Sprintf("%x", sum[:8])
}

// What follows from the other sentences is tested and not implemented (section 1
// of the specification).
var consequences = []string{"SAFE", "LIVE", "BND"}

// Needs tells whether the sentence must have an implementation or a test.
func (s Sentence) Needs(o Obligation) bool {
	return o == Test || !slices.Contains(consequences, family(s.ID))
}

// Obligation is what a sentence needs: to be implemented, or to be tested.
type Obligation string

// The obligations, by their names in the file of exceptions.
const (
	Implementation Obligation = "implementation"
	Test           Obligation = "test"
)

var (
	headingPattern = regexp.MustCompile(`^#+ (.*)`)
	itemPattern    = regexp.MustCompile(`^- \*\*([A-Z]{2,5}-\d+)\*\*\s*(.*)`)
	cellPattern    = regexp.MustCompile(`^\| \*\*([A-Z]{2,5}-\d+)\*\* \|(.*)`)
	rowPattern     = regexp.MustCompile(`^\| ([A-Z]\d+) \|(.*)`)
)

// parse finds the sentences of a document. The words of a list item are all
// that is indented under it, and a table right behind it, unless its rows have
// ids of their own.
func parse(file, text string) []Sentence {
	p := parser{file: file}
	for i, line := range strings.Split(text, "\n") {
		p.take(i+1, line)
		p.afterBlank = line == ""
	}
	p.close()
	return p.sentences
}

type parser struct {
	file       string
	sentences  []Sentence
	section    string
	item       bool   // the latest sentence is a list item that may go on
	table      string // behind it
	fenced     bool   // in a block of code
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
	id, rest, isItem := begins(line)
	heading := headingPattern.FindStringSubmatch(line)
	switch {
	case heading != nil:
		p.close()
		p.section = heading[1]
	case id != "":
		if !isItem {
			p.table = "" // it was the header of this row
		}
		p.close()
		p.sentences = append(p.sentences, Sentence{id, p.section, spaced(rest), p.file, number})
		p.item = isItem
	case line == "":
	case line[0] == '|':
		p.table += " " + line
	case line[0] == ' ' || !p.afterBlank && line[0] != '-':
		p.more(line)
	default:
		p.close()
	}
}

// more adds words to the item.
func (p *parser) more(words string) {
	if p.item {
		last := &p.sentences[len(p.sentences)-1]
		last.Text = spaced(last.Text + " " + words)
	}
}

// close ends the item, with the table behind it.
func (p *parser) close() {
	p.more(p.table)
	p.item, p.table = false, ""
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

// family returns the letters of an id: "SND" of SND-7, "S" of S9.
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
