package main

import (
	"fmt"
	"go/ast"
	"os"
	"regexp"
	"strings"

	"github.com/chunkwire/chunkwire/fuzz/internal/variants"
)

// sources reads what mistakes are made in, once.
type sources struct {
	lines  map[string][]string // of a file
	places map[string][]place  // of the folder of a package
}

func newSources() *sources {
	return &sources{lines: map[string][]string{}, places: map[string][]place{}}
}

// place is the lines of a function, or of a constant, a variable or a type outside
// functions.
type place struct {
	file, name string
	from, to   int // the first line and the one behind the last, counted from 0
}

// find returns the places of a name in the folder of a package or the file of a port:
// in a port there may be several.
func (s *sources) find(where, name string) ([]place, error) {
	all, err := s.all(where, name)
	var found []place
	for _, p := range all {
		if p.name == name {
			found = append(found, p)
		}
	}
	if err == nil && found == nil {
		err = fmt.Errorf("there is no %s in %s", name, where)
	}
	return found, err
}

// all returns all places of a package, or those of a name in a port.
func (s *sources) all(where, name string) ([]place, error) {
	if (hunk{Where: where}).inPort() {
		text, err := s.read(where)
		if err != nil {
			return nil, err
		}
		return portFunctions(where, text, name), nil
	}
	if s.places[where] == nil {
		files, err := variants.Package(where)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			s.lines[f.Path] = strings.Split(f.Text, "\n")
			s.places[where] = append(s.places[where], goPlaces(f)...)
		}
	}
	return s.places[where], nil
}

func (s *sources) read(file string) (string, error) {
	text, err := os.ReadFile(file)
	s.lines[file] = strings.Split(string(text), "\n")
	return string(text), err
}

// goPlaces returns the places of a file in Go.
func goPlaces(f *variants.Source) (places []place) {
	add := func(name string, n ast.Node) {
		places = append(places, place{f.Path, name, f.Set.Position(n.Pos()).Line - 1, f.Set.Position(n.End()).Line})
	}
	for _, decl := range f.Tree.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			add(variants.FuncName(d), d)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.ValueSpec:
					add(s.Names[0].Name, s)
				case *ast.TypeSpec:
					add(s.Name.Name, s)
				}
			}
		}
	}
	return places
}

// portFunctions returns where the functions of a name stand in C, C#, Python, Rust or
// TypeScript: each from the line that begins its definition to the next one that is
// indented no more.
func portFunctions(file, text, name string) (found []place) {
	begin := regexp.MustCompile(`(?m)^([ \t]*)(?:pub\(crate\) )?(?:[\w \t*]*[ \t*])?#?` + name + `(?:<.*>)?\((?:.*[^;\n])?$`)
	for _, m := range begin.FindAllStringSubmatchIndex(text, -1) {
		end := regexp.MustCompile(fmt.Sprintf(`(?m)^[ \t]{0,%d}[^\s{)]`, m[3]-m[2])).FindStringIndex(text[m[1]:])
		if end == nil {
			end = []int{len(text) - m[1]}
		}
		first := strings.Count(text[:m[0]], "\n")
		found = append(found, place{file, name, first, first + strings.Count(text[m[0]:m[1]+end[0]], "\n")})
	}
	return found
}
