package main

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestLine is how many characters a line of a document may have, outside
// tables and blocks of code.
const longestLine = 240

// widthChecked are the texts whose lines are counted: files, or folders.
var widthChecked = []string{"spec", "docs", "README.md", "SECURITY.md"}

var linkPattern = regexp.MustCompile(`\]\(([^()\s]+)\)`)

// checkForm returns the lines of a text that are too long, and its links that
// lead nowhere.
func checkForm(tree fs.FS, name, text string) (problems []string) {
	say := func(line int, format string, args ...any) {
		problems = append(problems, fmt.Sprintf("%s:%d: %s", name, line+1, fmt.Sprintf(format, args...)))
	}
	forLines(text, func(i int, line string, fenced bool) {
		if fenced {
			return
		}
		if n := utf8.RuneCountInString(line); n > longestLine && !strings.HasPrefix(strings.TrimSpace(line), "|") && isWidthChecked(name) {
			say(i, "%d characters, more than %d", n, longestLine)
		}
		for _, m := range linkPattern.FindAllStringSubmatch(line, -1) {
			if !leadsSomewhere(tree, name, m[1]) {
				say(i, "the link %s leads nowhere", m[1])
			}
		}
	})
	return problems
}

func isWidthChecked(name string) bool {
	for _, w := range widthChecked {
		if name == w || strings.HasPrefix(name, w+"/") {
			return true
		}
	}
	return false
}

// forLines calls do for each line, and says whether it is in a block of code.
func forLines(text string, do func(i int, line string, fenced bool)) {
	fenced := false
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		do(i, line, fenced)
	}
}

// leadsSomewhere reports whether a link's file exists and has its heading.
// Links to elsewhere are not looked at.
func leadsSomewhere(tree fs.FS, from, link string) bool {
	if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
		return true
	}
	target, anchor, hasAnchor := strings.Cut(link, "#")
	file := from
	if target != "" {
		file = path.Join(path.Dir(from), target)
	}
	if strings.HasPrefix(file, "..") {
		return true // above the tree
	}
	if _, err := fs.Stat(tree, file); err != nil {
		return false
	}
	if !hasAnchor || path.Ext(file) != ".md" {
		return true
	}
	text, err := fs.ReadFile(tree, file)
	return err == nil && anchors(string(text))[anchor]
}

// anchors returns the names by which a page's headings are linked.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	forLines(text, func(_ int, line string, fenced bool) {
		m := headingPattern.FindStringSubmatch(line)
		if fenced || m == nil {
			return
		}
		name := slug(m[2])
		for again := 1; found[name]; again++ {
			name = fmt.Sprintf("%s-%d", slug(m[2]), again)
		}
		found[name] = true
	})
	return found
}

// slug turns a heading into its anchor.
func slug(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, heading)
}
