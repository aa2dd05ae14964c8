package spec_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The documents do not use the idioms of idioms.txt, outside blocks of code.
func TestDocumentsUsePlainTerms(t *testing.T) {
	allowed, plain := map[string]int{}, map[*regexp.Regexp]string{}
	for line := range strings.Lines(documentText(t, "idioms.txt")) {
		line = strings.TrimSpace(line)
		var file string
		var n int
		idiom, term, isIdiom := strings.Cut(line, " = ")
		if _, err := fmt.Sscanf(line, "allow %s %d", &file, &n); err == nil {
			allowed[file] = n
		} else if isIdiom {
			plain[regexp.MustCompile(idiom)] = term
		}
	}
	files, err := filepath.Glob("*.md")
	if err != nil || len(files) < 6 || len(plain) < 10 {
		t.Fatalf("%d documents, %d idioms, %v", len(files), len(plain), err)
	}
	code := regexp.MustCompile("(?ms)^```.*?^```$|`[^`\n]*`")
	for _, name := range files {
		var found []string
		for i, line := range strings.Split(code.ReplaceAllStringFunc(documentText(t, name), func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) }), "\n") {
			for idiom, term := range plain {
				if m := idiom.FindString(line); m != "" {
					found = append(found, fmt.Sprintf("%s:%d: %q: better: %s", name, i+1, m, term))
				}
			}
		}
		if len(found) > allowed[name] {
			t.Errorf("%d lines, %d are allowed:\n%s", len(found), allowed[name], strings.Join(found, "\n"))
		}
	}
}
