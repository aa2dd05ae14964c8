package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// mutant is one mistake: a stretch of a file that is replaced.
type mutant struct {
	id       int
	file     *source
	fn       *ast.FuncDecl // nil outside functions
	mutator  string
	from, to int // offsets in the file
	with     string
	ordinal  int // 1 for the first of several that are described alike
	verdict  verdict
	killer   string        // the test that failed
	cost     time.Duration // of a processor
}

// source is a file of the package that is mutated.
type source struct {
	path string // from the repository's root
	text string
	set  *token.FileSet
	tree *ast.File
}

func (s *source) offset(p token.Pos) int { return s.set.Position(p).Offset }

func (s *source) slice(n ast.Node) string { return s.text[s.offset(n.Pos()):s.offset(n.End())] }

// readSources parses the files of a package, without its tests.
func readSources(dir string) ([]*source, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var sources []*source
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		s, err := parse(filepath.ToSlash(path), string(text))
		if err != nil {
			return nil, err
		}
		sources = append(sources, s)
	}
	return sources, nil
}

func parse(path, text string) (*source, error) {
	s := &source{path: path, text: text, set: token.NewFileSet()}
	var err error
	s.tree, err = parser.ParseFile(s.set, path, text, parser.SkipObjectResolution)
	return s, err
}

// description names a mutant by the words of its line, so that it holds while
// lines move: file, function, the line, and what becomes of it.
func (m *mutant) description() string {
	before, after := m.lines()
	name := "package level"
	if m.fn != nil {
		name = functionName(m.fn)
	}
	again := ""
	if m.ordinal > 1 {
		again = fmt.Sprintf(" #%d", m.ordinal)
	}
	return fmt.Sprintf("%s, %s%s: `%s` → `%s`", m.file.path, name, again, before, after)
}

// lines returns the lines that the mutant changes, before and after, in one.
func (m *mutant) lines() (before, after string) {
	text := m.file.text
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

func functionName(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	of := fn.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if of, ok := of.(*ast.Ident); ok {
		return of.Name + "." + fn.Name.Name
	}
	return fn.Name.Name
}
