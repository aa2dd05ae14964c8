package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
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
	ordinal  int // 1 for the first of its mutator in its function
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
	for _, name := range paths {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		s, err := parse(filepath.ToSlash(name), string(text))
		if err != nil {
			return nil, err
		}
		sources = append(sources, s)
	}
	return sources, nil
}

func parse(name, text string) (*source, error) {
	s := &source{path: name, text: text, set: token.NewFileSet()}
	var err error
	s.tree, err = parser.ParseFile(s.set, name, text, parser.SkipObjectResolution)
	return s, err
}

// description names a mutant by its function, its mutator and which of them it is, so
// that it holds while code moves and while what the function uses gets other names.
func (m *mutant) description() string {
	place := path.Dir(m.file.path) + ", "
	if m.fn == nil {
		place = m.file.path + ", package level"
	} else {
		place += functionName(m.fn)
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

// functionName returns a function's name, a method's with its type.
func functionName(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	of := fn.Recv.List[0].Type
	for {
		switch t := of.(type) {
		case *ast.StarExpr:
			of = t.X
		case *ast.IndexExpr:
			of = t.X
		case *ast.IndexListExpr:
			of = t.X
		case *ast.Ident:
			return t.Name + "." + fn.Name.Name
		default:
			return fn.Name.Name
		}
	}
}
