package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"hash/fnv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// place is a function, a constant, a variable or a row of a table. Its statements,
// its expressions and its private names behind a dot or before a colon are
// numbered in source order: s1, s2, …, e1, e2, … and n1, n2, …
type place struct {
	file  string
	line  int
	text  []byte // of the file
	nodes []node
	shape string // the kinds of its nodes in order, hashed, without private names and literals
}

// node is a statement, an expression or a name.
type node struct {
	name     string // such as "e12"
	from, to int    // in the file's text
	depth    int
	loose    bool // needs parentheses as an operand
	operand  bool // stands in another expression, without parentheses or commas
}

// packages caches the places of packages by folder, and then by name.
type packages map[string]map[string]*place

// find returns a place such as "statemachine/schedule/base.(*Scheduler).sent",
// "statemachine.ackInterval" or, for a row of a table, "statemachine.S9".
func (p packages) find(name string) (*place, error) {
	folder, inside := split(name)
	if p[folder] == nil {
		files, err := readPackage(folder)
		if err == nil {
			p[folder], err = index(files)
		}
		if err != nil {
			return nil, err
		}
	}
	if found := p[folder][inside]; found != nil {
		return found, nil
	}
	return nil, fmt.Errorf("there is no %s in %s", inside, folder)
}

// split returns a place's folder and its name there.
func split(name string) (folder, inside string) {
	slash := strings.LastIndex(name, "/") + 1
	inside, after, _ := strings.Cut(name[slash:], ".")
	return name[:slash] + inside, after
}

// readPackage returns the files that the go command would build here.
func readPackage(folder string) (map[string][]byte, error) {
	pkg, err := build.ImportDir(folder, 0)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, name := range pkg.GoFiles {
		file := filepath.Join(folder, name)
		if files[file], err = os.ReadFile(file); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// index returns the places in a package's files by name.
func index(files map[string][]byte) (map[string]*place, error) {
	places := map[string]*place{}
	for file, text := range files {
		fset := token.NewFileSet()
		tree, err := parser.ParseFile(fset, file, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		add := func(name string, at token.Pos, root ast.Node) {
			p := &place{file: file, line: fset.Position(at).Line, text: text}
			p.number(root, fset.File(tree.Pos()))
			if places[name] != nil {
				p = &place{shape: "ambiguous"}
			}
			places[name] = p
		}
		for _, decl := range tree.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Body != nil {
				add(funcName(f), f.Pos(), f.Body)
			}
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				return false
			case *ast.ValueSpec:
				for _, name := range n.Names {
					add(name.Name, n.Pos(), &ast.CompositeLit{Elts: n.Values})
				}
			case *ast.CallExpr: // a row, if it begins with its id
				if len(n.Args) > 1 {
					if id, ok := n.Args[0].(*ast.BasicLit); ok && id.Kind == token.STRING {
						name, _ := strconv.Unquote(id.Value)
						add(name, n.Pos(), n)
					}
				}
			}
			return true
		})
	}
	return places, nil
}

// funcName returns "f", "T.f" or "(*T).f".
func funcName(f *ast.FuncDecl) string {
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

// number walks over what is below root.
func (p *place) number(root ast.Node, file *token.File) {
	hash := fnv.New32a()
	count := map[string]int{}
	var above []ast.Node
	ast.Inspect(root, func(n ast.Node) bool {
		if n == nil {
			above = above[:len(above)-1]
			hash.Write([]byte{')'})
			return true
		}
		fmt.Fprintf(hash, "%T%s", n, keeps(n))
		if _, ok := n.(*ast.FuncType); ok {
			return false
		}
		var parent ast.Node
		if len(above) > 0 {
			parent = above[len(above)-1]
		}
		above = append(above, n)
		if kind := kindOf(n, parent); kind != "" && n != root {
			count[kind]++
			_, binary := n.(*ast.BinaryExpr)
			_, unary := n.(*ast.UnaryExpr)
			p.nodes = append(p.nodes, node{
				name: kind + strconv.Itoa(count[kind]), depth: len(above) - 2,
				from: file.Offset(n.Pos()), to: file.Offset(n.End()),
				loose: binary || unary, operand: isOperand(n, parent),
			})
		}
		return true
	})
	p.shape = fmt.Sprintf("%08x", hash.Sum32())
}

// keeps returns what of a node besides its kind belongs to the shape: operators
// and exported names. Private names and literals may change.
func keeps(n ast.Node) string {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		return n.Op.String()
	case *ast.UnaryExpr:
		return n.Op.String()
	case *ast.AssignStmt:
		return n.Tok.String()
	case *ast.IncDecStmt:
		return n.Tok.String()
	case *ast.BranchStmt:
		return n.Tok.String()
	case *ast.Ident:
		if n.IsExported() {
			return n.Name
		}
	}
	return ""
}

// kindOf returns "s", "e", "n", or "" for what has no number: blocks, parentheses
// and exported names, which can be written as they are.
func kindOf(n, parent ast.Node) string {
	switch n := n.(type) {
	case *ast.BlockStmt, *ast.ParenExpr:
		return ""
	case ast.Stmt:
		return "s"
	case *ast.Ident:
		selector, _ := parent.(*ast.SelectorExpr)
		field, _ := parent.(*ast.KeyValueExpr)
		if (selector == nil || selector.Sel != n) && (field == nil || field.Key != n) {
			return "e"
		} else if !n.IsExported() {
			return "n"
		}
	case ast.Expr:
		return "e"
	}
	return ""
}

func isOperand(n, parent ast.Node) bool {
	switch parent := parent.(type) {
	case *ast.BinaryExpr, *ast.UnaryExpr, *ast.StarExpr, *ast.SelectorExpr:
		return true
	case *ast.CallExpr:
		return parent.Fun == n
	case *ast.IndexExpr:
		return parent.X == n
	}
	return false
}
