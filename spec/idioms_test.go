package spec_test

import (
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// idioms is the data of idioms.txt.
type idioms struct {
	allowed map[string]int // by document or folder: so many lines may have one
	plain   map[*regexp.Regexp]string
}

func readIdioms(t *testing.T) idioms {
	d := idioms{map[string]int{}, map[*regexp.Regexp]string{}}
	for line := range strings.Lines(documentText(t, "idioms.txt")) {
		line = strings.TrimSpace(line)
		var place string
		var n int
		idiom, term, isIdiom := strings.Cut(line, " = ")
		if _, err := fmt.Sscanf(line, "allow %s %d", &place, &n); err == nil {
			d.allowed[place] = n
		} else if isIdiom {
			d.plain[regexp.MustCompile(idiom)] = term
		}
	}
	if len(d.plain) < 10 {
		t.Fatalf("%d idioms", len(d.plain))
	}
	return d
}

// find returns the lines of a text with an idiom.
func (d idioms) find(place string, first int, text string) (found []string) {
	for i, line := range strings.Split(text, "\n") {
		for idiom, term := range d.plain {
			if m := idiom.FindString(line); m != "" {
				found = append(found, fmt.Sprintf("%s:%d: %q: better: %s", place, first+i, m, term))
			}
		}
	}
	return found
}

func (d idioms) check(t *testing.T, place string, found []string) {
	if len(found) > d.allowed[place] {
		t.Errorf("%s: %d lines, %d are allowed:\n%s", place, len(found), d.allowed[place], strings.Join(found, "\n"))
	}
}

// The documents do not use the idioms of idioms.txt, outside blocks of code.
func TestDocumentsUsePlainTerms(t *testing.T) {
	d := readIdioms(t)
	files, err := filepath.Glob("*.md")
	if err != nil || len(files) < 6 {
		t.Fatalf("%d documents, %v", len(files), err)
	}
	code := regexp.MustCompile("(?ms)^```.*?^```$|`[^`\n]*`")
	for _, name := range files {
		text := code.ReplaceAllStringFunc(documentText(t, name), func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) })
		d.check(t, name, d.find(name, 1, text))
	}
}

// The comments and strings of the product's packages do not use them either.
func TestCodeUsesPlainTerms(t *testing.T) {
	d := readIdioms(t)
	for _, folder := range []string{"bitpack", "channel", "cmd", "codec", "connection", "core", "eventlog", "internal", "netsim", "packet", "statemachine", "transport"} {
		var found []string
		err := filepath.WalkDir(filepath.Join("..", folder), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := os.ReadFile(path)
			found = append(found, d.inSource(path, source)...)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		d.check(t, folder, found)
	}
}

// inSource looks at the comments and strings of a Go file.
func (d idioms) inSource(path string, source []byte) (found []string) {
	var s scanner.Scanner
	files := token.NewFileSet()
	file := files.AddFile(path, files.Base(), len(source))
	s.Init(file, source, nil, scanner.ScanComments)
	for {
		at, kind, text := s.Scan()
		switch kind {
		case token.EOF:
			return found
		case token.COMMENT, token.STRING:
			found = append(found, d.find(path, file.Line(at), text)...)
		}
	}
}
