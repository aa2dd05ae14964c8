package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Citation is a place that names a sentence.
type Citation struct {
	ID   string
	File string
	Line int
}

func (c Citation) String() string { return fmt.Sprintf("%s:%d", c.File, c.Line) }

// A citer finds citations in text, whatever the language.
type citer struct {
	sentence *regexp.Regexp
	row      *regexp.Regexp // nil when no document has rows
}

// rowFolders are where S1 stands for a row. Elsewhere it may be anything.
var rowFolders = []string{"spec", "statemachine", "sim", "transport", "testvectors", "fuzz", "cmd", "ports"}

// What a vector that stands in a test's text lists is not cited by the test.
var listPattern = regexp.MustCompile(`"sentences": ?\[[^\]\n]*\]|"sentences: [^"\n]*"`)

// Words of the same form that cite nothing.
var notCitations = map[string]bool{"SHA": true, "CRC": true, "UTF": true, "AES": true, "BCP": true, "CVE": true, "CWE": true, "IEEE": true, "ISO": true, "RFC": true}

// letters is what an id has before its number.
const letters = `(?:[A-Z]{2,5}-)?[A-Z]{2,5}`

// newCiter returns a citer for the documents' rows. A row is cited by its id, or by
// a constant that begins with it, such as R2FirstSlice or CW_R2.
func newCiter(sentences []Sentence) citer {
	c := citer{sentence: regexp.MustCompile(`\b(` + letters + `)-(\d+)\b(\.\.|[-–]\d|(?:\s+(?://|#|\*)?\s*)to\s+(?:(?://|#|\*)\s*)?(` + letters + `)-(\d+)\b)?`)}
	rows := ""
	for _, s := range sentences {
		if f := family(s.ID); s.IsRow() && !strings.Contains(rows, f) {
			rows += f
		}
	}
	if rows != "" {
		c.row = regexp.MustCompile(`\b(?:[A-Z]+_)?([` + rows + `]\d{1,2})(?:[A-Z][a-z]\w*)?\b`)
	}
	return c
}

// find returns the citations in a text, and complaints about those that say
// something else than they mean. "RTT-2 to RTT-4" cites three sentences; no
// other short form is allowed.
func (c citer) find(file, text string) (cited []Citation, problems []string) {
	lines := newLines(text)
	text = listPattern.ReplaceAllStringFunc(text, func(list string) string { return strings.Repeat(" ", len(list)) })
	for _, m := range c.sentence.FindAllStringSubmatchIndex(text, -1) {
		group := func(i int) string { return text[max(m[2*i], 0):max(m[2*i+1], 0)] }
		name, line := group(1), lines.at(m[0])
		if slices.ContainsFunc(strings.Split(name, "-"), func(s string) bool { return notCitations[s] }) {
			continue
		}
		from, _ := strconv.Atoi(group(2))
		to := from
		if tail := group(3); tail != "" {
			last, _ := strconv.Atoi(group(5))
			if group(4) != name || last <= from || last > from+50 {
				problems = append(problems, fmt.Sprintf("%s:%d: %q is no range: write it as %s-1 to %s-3", file, line, spaced(group(0)), name, name))
			} else {
				to = last
			}
		}
		for n := from; n <= to; n++ {
			cited = append(cited, Citation{name + "-" + strconv.Itoa(n), file, line})
		}
	}
	folder, _, _ := strings.Cut(file, "/")
	if c.row != nil && slices.Contains(rowFolders, folder) {
		for _, m := range c.row.FindAllStringSubmatchIndex(text, -1) {
			cited = append(cited, Citation{text[m[2]:m[3]], file, lines.at(m[0])})
		}
	}
	return cited, problems
}

// lines turns offsets into line numbers.
type lines []int

func newLines(text string) (l lines) {
	for i, b := range []byte(text) {
		if b == '\n' {
			l = append(l, i)
		}
	}
	return l
}

func (l lines) at(offset int) int {
	low, high := 0, len(l)
	for low < high {
		if mid := (low + high) / 2; l[mid] < offset {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low + 1
}
