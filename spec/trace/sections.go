package main

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// numbered matches a heading with a number: "## 9 Properties", "### G.1 State", "## Appendix B: Ports".
var numbered = regexp.MustCompile(`^#+ (?:Appendix ([A-Z])\b|(\d+(?:\.\d+)*|[A-Z]\.\d+) )`)

const (
	gap     = `(?:\s|//|#|\*)+` // a comment may go on in the next line
	place   = `(?:\d+(?:\.\d+)*|[A-Z](?:\.\d+)?)\b`
	placeIn = `(RFC \d+|[\w/-]+\.md)`
)

// referring matches what names a section: "section 3.2", "sections 4 to 6 of spec/PROTOCOL.md", "(PROTOCOL.md, appendix B)".
var referring = regexp.MustCompile(`(?:\b` + placeIn + `\)?,?` + gap + `)?\b(?:[sS]ections?|[aA]ppendi(?:x|ces))` + gap +
	`(` + place + `(?:(?:,|` + gap + `(?:and|to|or))` + gap + place + `)*)(?:` + gap + `(?:of|in)` + gap + `\[?(?:` + placeIn + `|that\b))?`)

// bare matches the short form "(PROTOCOL.md, 1.3)".
var bare = regexp.MustCompile(`\b` + placeIn + `\)?,` + gap + `(\d+\.\d+|[A-Z]\.\d+)\b`)

var placePattern = regexp.MustCompile(`\b` + place)

// history has the numbers of sections as they once were.
const history = "spec/HISTORY.md"

// sectionsOf returns the numbers of a document's sections.
func sectionsOf(text string) map[string]bool {
	found := map[string]bool{}
	forLines(text, func(_ int, line string, fenced bool) {
		if m := numbered.FindStringSubmatch(line); m != nil && !fenced {
			found[m[1]+m[2]] = true
		}
	})
	return found
}

func (t *Trace) isDocument(name string) bool {
	return slices.ContainsFunc(t.Documents, func(d Document) bool { return d.File == name })
}

// checkSections returns the references in a text to sections that do not exist. Without the name
// of a document, a document refers to itself; what other texts then mean is not known.
func (t *Trace) checkSections(name, text string) (problems []string) {
	if name == history {
		return nil
	}
	lines := newLines(text)
	report := func(at int, document, places string) {
		sections := t.sections["spec/"+path.Base(document)]
		for _, p := range placePattern.FindAllString(places, -1) {
			if sections != nil && !sections[p] {
				problems = append(problems, fmt.Sprintf("%s:%d: %s has no section %s", name, lines.at(at), path.Base(document), p))
			}
		}
	}
	for _, m := range referring.FindAllStringSubmatchIndex(text, -1) {
		group := func(i int) string { return text[max(m[2*i], 0):max(m[2*i+1], 0)] }
		document := group(3)
		if document == "" {
			document = group(1)
		}
		if document == "" && !strings.HasSuffix(text[:m[1]], "that") && t.isDocument(name) {
			document = name
		}
		report(m[0], document, group(2))
	}
	for _, m := range bare.FindAllStringSubmatchIndex(text, -1) {
		if !strings.HasPrefix(text[m[1]:], " of") { // a list: "section 3.2 of CHANNELS.md, 6.3 of PROTOCOL.md"
			report(m[0], text[m[2]:m[3]], text[m[4]:m[5]])
		}
	}
	return problems
}
