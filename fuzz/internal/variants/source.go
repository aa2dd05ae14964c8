// Package variants makes wrong versions of the sources, builds tests with them, and runs
// these. Many versions are in one binary: a function begins with a switch to the
// version of its body that is on, so that one compilation serves them all.
package variants

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// Source is a file in Go.
type Source struct {
	Path string // from the repository's root
	Text string
	Set  *token.FileSet
	Tree *ast.File
}

// Parse parses a file's text.
func Parse(path, text string) (*Source, error) {
	s := &Source{Path: path, Text: text, Set: token.NewFileSet()}
	var err error
	s.Tree, err = parser.ParseFile(s.Set, path, text, parser.SkipObjectResolution)
	return s, err
}

// Package parses the files of a package, without its tests.
func Package(folder string) (sources []*Source, err error) {
	pkg, err := build.ImportDir(folder, 0)
	if err != nil {
		return nil, err
	}
	for _, name := range pkg.GoFiles {
		s, err := read(filepath.Join(folder, name))
		if err != nil {
			return nil, err
		}
		sources = append(sources, s)
	}
	return sources, nil
}

func read(path string) (*Source, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, string(text))
}

// Offset returns where something stands in the text.
func (s *Source) Offset(p token.Pos) int { return s.Set.Position(p).Offset }

// Slice returns the text of a node.
func (s *Source) Slice(n ast.Node) string { return s.Text[s.Offset(n.Pos()):s.Offset(n.End())] }

// FuncName returns "f", "T.f" or "(*T).f".
func FuncName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	form, t := "%s.%s", f.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		form, t = "(*%s).%s", star.X
	}
	switch generic := t.(type) {
	case *ast.IndexExpr:
		t = generic.X
	case *ast.IndexListExpr:
		t = generic.X
	}
	return fmt.Sprintf(form, t.(*ast.Ident).Name, f.Name.Name)
}

// Edit replaces a stretch of a text.
type Edit struct {
	From, To int
	With     string
}

// Apply makes edits that are in order; base is the text's own offset.
func Apply(text string, base int, edits []Edit) string {
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(text[at:e.From-base] + e.With)
		at = e.To - base
	}
	return b.String() + text[at:]
}
