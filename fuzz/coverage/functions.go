package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// function is a function of a package; a method's name is Type.Method.
type function struct {
	inside, name string // folder of its package, and its name
	file         string
	first, last  int // its lines
}

// functions are those of the packages measured, by import path.
type functions map[string][]function

// functions reads the sources of the packages measured.
func (m measurement) functions() (functions, error) {
	list := functions{}
	for _, p := range m.packages {
		files, err := filepath.Glob(filepath.Join(p.dir, "*.go"))
		if err != nil {
			return nil, err
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok {
					list[p.path] = append(list[p.path], function{
						p.inside, receiver(f) + f.Name.Name, filepath.Base(name),
						set.Position(f.Pos()).Line, set.Position(f.End()).Line,
					})
				}
			}
		}
	}
	return list, nil
}

// receiver is the type of a method and a dot, or nothing.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if generic, ok := of.(*ast.IndexExpr); ok {
		of = generic.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name + "."
	}
	return ""
}

// of returns the function that a block is in, packageLevel for one in the
// declaration of a variable.
func (f functions) of(b block) function {
	for _, c := range f[b.pkg] {
		if c.file == b.file && c.first <= b.line && b.line <= c.last {
			return c
		}
	}
	inside := ""
	for _, c := range f[b.pkg] {
		inside = c.inside
	}
	return function{inside: inside, name: packageLevel}
}

const packageLevel = "package-level"

// gaps are functions that need not be reached: "package function" and the reason.
type gaps map[string]string

// readGaps reads lines of the form "codec Type.Method: reason". Those that start
// with # are for people. No file is no gap.
func readGaps(name string) (gaps, error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	g := gaps{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		what, why, _ := strings.Cut(line, ": ")
		if len(strings.Fields(what)) != 2 || strings.TrimSpace(why) == "" || g[what] != "" {
			return nil, fmt.Errorf("%s: %q is not \"package function: reason\", or is there twice", name, line)
		}
		g[what] = strings.TrimSpace(why)
	}
	return g, nil
}

func (g gaps) reason(f function) string { return g[f.inside+" "+f.name] }

// check refuses gaps in functions that are no longer there.
func (g gaps) check(all functions) error {
	known := map[string]bool{}
	for _, list := range all {
		for _, f := range list {
			known[f.inside+" "+f.name] = true
			known[f.inside+" "+packageLevel] = true
		}
	}
	for what := range g {
		if !known[what] {
			return fmt.Errorf("the gap %q is in no function that is there", what)
		}
	}
	return nil
}
