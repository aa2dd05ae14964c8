package main

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// numbered matches a heading with a number: "## 9 Properties", "### G.1 State", "## Appendix B: Ports".
var numbered = regexp.MustCompile("(?m)^#+ (?:Appendix )?(" + place + ")[: ]")

const (
	gap   = `(?:\s|//|#|\*)+` // a comment may go on in the next line
	place = `(?:\d+(?:\.\d+)*|[A-Z](?:\.\d+)?)\b`
	where = `(RFC \d+|[\w/-]+\.md)`
)

// referring matches what names a section: "section 3.2", "sections 4 to 6 of spec/PROTOCOL.md", "(PROTOCOL.md, 1.3)".
var referring = regexp.MustCompile(`(?:\b` + where + `\)?,?` + gap + `)?\b([sS]ections?` + gap + `|[aA]ppendi(?:x|ces)` + gap + `|)` +
	`(` + place + `(?:(?:,|` + gap + `(?:and|to|or))` + gap + place + `)*)(?:` + gap + `(?:of|in)` + gap + `\[?(?:` + where + `|that\b))?`)

var placePattern = regexp.MustCompile(`\b` + place)

// checkSections returns the references in a text to sections that do not exist. Without the name
// of a document, a document refers to itself; what other texts then mean is not known. The history
// has the numbers of sections as they once were.
func (t *Trace) checkSections(name, text string) (problems []string) {
	lines := newLines(text)
	for _, m := range referring.FindAllStringSubmatchIndex(text, -1) {
		group := func(i int) string { return text[max(m[2*i], 0):max(m[2*i+1], 0)] }
		document, inShort := cmp.Or(group(4), group(1)), group(2) == ""
		if inShort && (group(1) == "" || !strings.Contains(group(3), ".")) || name == "spec/HISTORY.md" {
			continue
		}
		if document == "" && !strings.HasSuffix(text[:m[1]], "that") && slices.ContainsFunc(t.Documents, func(d Document) bool { return d.File == name }) {
			document = name
		}
		sections := t.sections["spec/"+path.Base(document)]
		for _, p := range placePattern.FindAllString(group(3), -1) {
			if sections != nil && !slices.Contains(sections, p) {
				problems = append(problems, fmt.Sprintf("%s:%d: %s has no section %s", name, lines.at(m[0]), path.Base(document), p))
			}
		}
	}
	return problems
}
