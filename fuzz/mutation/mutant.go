package main

import (
	"fmt"
	"go/ast"
	"path"
	"strings"
	"time"

	"github.com/chunkwire/chunkwire/fuzz/internal/variants"
)

// mutant is one mistake: a stretch of a file that is replaced.
type mutant struct {
	id       int
	file     *variants.Source
	fn       *ast.FuncDecl // nil outside functions
	mutator  string
	from, to int // offsets in the file
	with     string
	ordinal  int // 1 for the first of its mutator in its function
	end      string
	killer   string        // the test that failed
	cost     time.Duration // of a processor
}

// mutantsOf returns a package's mutants whose lines match.
func mutantsOf(pkg string, o options) (mutants []*mutant, err error) {
	sources, err := variants.Package(pkg)
	for _, s := range sources {
		for _, m := range findMutants(s) {
			if o.match == nil || o.match.MatchString(m.String()) {
				m.id = len(mutants) + 1
				mutants = append(mutants, m)
			}
		}
	}
	return mutants, err
}

// edits is what a mutant changes in its file.
func (m *mutant) edits() []variants.Edit {
	return []variants.Edit{{From: m.from, To: m.to, With: m.with}}
}

func (m *mutant) version() variants.Version { return variants.Version{m.file.Path: m.edits()} }

// description names a mutant by its function, its mutator and which of them it is, so
// that it holds while code moves and while what the function uses gets other names.
func (m *mutant) description() string {
	place := path.Dir(m.file.Path) + ", "
	if m.fn == nil {
		place = m.file.Path + ", package level"
	} else {
		place += strings.NewReplacer("(*", "", ")", "").Replace(variants.FuncName(m.fn))
	}
	return fmt.Sprintf("%s, %s %d", place, m.mutator, m.ordinal)
}

// String is the description with the lines that the mutant changes.
func (m *mutant) String() string {
	before, after := m.lines()
	return fmt.Sprintf("%s: `%s` → `%s`", m.description(), before, after)
}

// lines returns the lines that the mutant changes, before and after, in one.
func (m *mutant) lines() (before, after string) {
	text := m.file.Text
	first := strings.LastIndexByte(text[:m.from], '\n') + 1
	end := len(text)
	if n := strings.IndexByte(text[m.to:], '\n'); n >= 0 {
		end = m.to + n
	}
	return oneLine(text[first:end]), oneLine(text[first:m.from] + m.with + text[m.to:end])
}

// oneLine drops comments and needless space.
func oneLine(text string) string {
	var words []string
	for _, line := range strings.Split(text, "\n") {
		code, _, _ := strings.Cut(line, "// ")
		words = append(words, strings.Fields(code)...)
	}
	return strings.Join(words, " ")
}
