package main

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
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
	rows     map[string]*regexp.Regexp // by the folder in which they are cited
}

// What a vector that stands in a test's text lists is not cited by the test.
var listPattern = regexp.MustCompile(`"sentences": ?\[[^\]\n]*\]|"sentences: [^"\n]*"`)

// Words of the same form that cite nothing.
var notCitations = map[string]bool{"SHA": true, "CRC": true, "UTF": true, "AES": true, "BCP": true, "CVE": true, "CWE": true, "IEEE": true, "ISO": true, "RFC": true}

// Words of the form of a row that cite none: percentiles, versions of C, and widths of
// integers.
var notRows = map[string]bool{"P50": true, "P95": true, "P99": true, "C99": true, "C11": true, "C17": true, "U32": true, "U64": true}

// letters is what an id has before its number.
const letters = `(?:[A-Z]{2,5}-)?[A-Z]{2,5}`

// newCiter returns a citer for the documents' rows. A row is cited by its id, or by
// a constant that begins with it, such as R2FirstSlice or CW_R2.
func newCiter(sentences []Sentence) citer {
	c := citer{sentence: regexp.MustCompile(`\b(` + letters + `)-(\d+)\b(\.\.|[-–]\d|(?:\s+(?://|#|\*)?\s*)to\s+(?:(?://|#|\*)\s*)?(` + letters + `)-(\d+)\b)?`)}
	letters := map[string]string{}
	for _, s := range sentences {
		if !s.IsRow() {
			continue
		}
		for _, folder := range sources[s.File].rows {
			if f := family(s.ID); !strings.Contains(letters[folder], f) {
				letters[folder] += f
			}
		}
	}
	c.rows = map[string]*regexp.Regexp{}
	for folder, l := range letters {
		c.rows[folder] = regexp.MustCompile(`\b(?:[A-Z]+_)?([` + l + `]\d{1,2})(?:[A-Z][a-z]\w*)?\b`)
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
	if row := c.rows[folder]; row != nil {
		for _, m := range row.FindAllStringSubmatchIndex(text, -1) {
			if id := text[m[2]:m[3]]; !notRows[id] {
				cited = append(cited, Citation{id, file, lines.at(m[0])})
			}
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

func (l lines) at(offset int) int { return sort.SearchInts(l, offset) + 1 }
