// Package schemata puts many versions of functions into one binary: each is a copy of
// its function with some edits, and the function begins with a switch to the copy that
// is on. One compilation then serves them all.
package schemata

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// Variable names the environment's variable that says which version is on.
const Variable = "CHUNKWIRE_MUTANT"

// SwitchFile returns a file that a package with versions needs besides.
func SwitchFile(packageName string) string {
	return "package " + packageName + `

import (
	"os"
	"strconv"
)

var mutantOn = func() int {
	n, _ := strconv.Atoi(os.Getenv("` + Variable + `"))
	return n
}()

func mutantPick[T any](ids []int, values ...T) T {
	for i, id := range ids {
		if id == mutantOn {
			return values[i+1]
		}
	}
	return values[0]
}

var _ = mutantPick[int]
`
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

// Version is a number above 0, with what it changes in a file.
type Version struct {
	ID    int
	Edits []Edit // in order
}

// within returns the edits that lie in a stretch.
func (v Version) within(from, to int) (inside []Edit) {
	for _, e := range v.Edits {
		if from <= e.From && e.To <= to {
			inside = append(inside, e)
		}
	}
	return inside
}

// Span is the lines that a copy fills, both ends included.
type Span struct{ First, Last, ID int }

// File is a file with versions in it.
type File struct {
	Text  string
	Spans []Span
	Left  []int // versions with edits elsewhere than in bodies of functions and initial values of variables
}

// source is a file as it is.
type source struct {
	text string
	set  *token.FileSet
}

func (s source) offset(p token.Pos) int { return s.set.Position(p).Offset }

// New returns a file with all versions in it that can be.
func New(name, text string, versions []Version) (out File, err error) {
	s := source{text, token.NewFileSet()}
	tree, err := parser.ParseFile(s.set, name, text, parser.SkipObjectResolution)
	if err != nil {
		return out, err
	}
	places := map[ast.Node][]Version{}
	for _, v := range versions {
		inside := 0
		parts := s.places(tree)
		for _, p := range parts {
			if edits := v.within(s.offset(body(p).Pos()), s.offset(body(p).End())); len(edits) > 0 {
				places[p] = append(places[p], Version{v.ID, edits})
				inside += len(edits)
			}
		}
		if inside < len(v.Edits) {
			out.Left = append(out.Left, v.ID)
		}
	}
	var edits []Edit
	var copies strings.Builder
	for _, p := range s.places(tree) {
		switch p := p.(type) {
		case *ast.FuncDecl:
			if len(places[p]) > 0 {
				edits = append(edits, s.function(p, places[p], &copies, &out)...)
			}
		case *ast.ValueSpec:
			if len(places[p]) > 0 {
				edits = append(edits, s.variable(p, places[p]))
			}
		}
	}
	line := strings.Count(Apply(text, 0, edits), "\n") + 1
	for i := range out.Spans {
		out.Spans[i].First += line
		out.Spans[i].Last += line
	}
	out.Text = Apply(text, 0, edits) + copies.String() + "\n"
	return out, nil
}

// places returns the functions with a body and the variables with one initial value.
func (s source) places(tree *ast.File) (list []ast.Node) {
	for _, decl := range tree.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				list = append(list, d)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok && d.Tok == token.VAR && len(v.Names) == 1 && len(v.Values) == 1 {
					list = append(list, v)
				}
			}
		}
	}
	return list
}

// body returns what of a place may be another one.
func body(place ast.Node) ast.Node {
	if f, ok := place.(*ast.FuncDecl); ok {
		return f.Body
	}
	return place.(*ast.ValueSpec).Values[0]
}

// function returns the edits for a function, and adds its copies.
func (s source) function(fn *ast.FuncDecl, versions []Version, copies *strings.Builder, out *File) []Edit {
	sig := s.signatureOf(fn)
	at := s.offset(fn.Body.Lbrace) + 1
	for _, v := range versions {
		text := sig.copyFor(v)
		first := strings.Count(copies.String(), "\n") + 1
		copies.WriteString("\n" + text)
		out.Spans = append(out.Spans, Span{first, first + strings.Count(text, "\n"), v.ID})
	}
	return append(sig.names, Edit{at, at, sig.dispatch(versions)})
}

// variable returns the edit that picks an initial value. All of them are computed.
func (s source) variable(spec *ast.ValueSpec, versions []Version) Edit {
	from, to := s.offset(spec.Values[0].Pos()), s.offset(spec.Values[0].End())
	ids, values := []string{}, []string{s.text[from:to]}
	for _, v := range versions {
		ids = append(ids, fmt.Sprint(v.ID))
		values = append(values, Apply(s.text[from:to], from, v.Edits))
	}
	with := "mutantPick([]int{" + strings.Join(ids, ", ") + "}, " + strings.Join(values, ", ") + ")"
	return Edit{from, to, with}
}

// signature is what is needed to call a copy of a function with its arguments.
type signature struct {
	source
	fn       *ast.FuncDecl
	names    []Edit // give names to parameters that have none
	receiver string // "r.", or nothing
	types    string // "[State]", or nothing
	args     string
}

func (s source) signatureOf(fn *ast.FuncDecl) signature {
	sig := signature{source: s, fn: fn}
	if fn.Recv != nil {
		sig.receiver = sig.named(fn.Recv, "receiver")[0] + "."
	}
	if fn.Type.TypeParams != nil {
		sig.types = "[" + strings.Join(sig.named(fn.Type.TypeParams, ""), ", ") + "]"
	}
	sig.args = strings.Join(sig.named(fn.Type.Params, "arg"), ", ")
	if n := len(fn.Type.Params.List); n > 0 {
		if _, variadic := fn.Type.Params.List[n-1].Type.(*ast.Ellipsis); variadic {
			sig.args += "..."
		}
	}
	return sig
}

// named returns the names of a list of parameters, and makes those that lack.
func (sig *signature) named(list *ast.FieldList, prefix string) []string {
	var names []string
	for _, field := range list.List {
		if len(field.Names) == 0 {
			names = append(names, fmt.Sprint(prefix, len(names)))
			at := sig.offset(field.Pos())
			sig.names = append(sig.names, Edit{at, at, names[len(names)-1] + " "})
		}
		for _, name := range field.Names {
			if name.Name == "_" {
				names = append(names, fmt.Sprint(prefix, len(names)))
				at := sig.offset(name.Pos())
				sig.names = append(sig.names, Edit{at, at + 1, names[len(names)-1]})
				continue
			}
			names = append(names, name.Name)
		}
	}
	return names
}

func (sig *signature) nameOf(v Version) string {
	return fmt.Sprintf("%s__%d", sig.fn.Name.Name, v.ID)
}

// dispatch is the switch at the function's begin, all in its first line.
func (sig *signature) dispatch(versions []Version) string {
	var b strings.Builder
	fmt.Fprintf(&b, " if mutantOn >= %d && mutantOn <= %d { switch mutantOn { ", versions[0].ID, versions[len(versions)-1].ID)
	for _, v := range versions {
		call := sig.receiver + sig.nameOf(v) + sig.types + "(" + sig.args + ")"
		if sig.fn.Type.Results == nil {
			fmt.Fprintf(&b, "case %d: %s; return; ", v.ID, call)
		} else {
			fmt.Fprintf(&b, "case %d: return %s; ", v.ID, call)
		}
	}
	return b.String() + "} }; "
}

// copyFor is the function under the version's own name, with its edits.
func (sig *signature) copyFor(v Version) string {
	from, to := sig.offset(sig.fn.Pos()), sig.offset(sig.fn.End())
	name := Edit{sig.offset(sig.fn.Name.Pos()), sig.offset(sig.fn.Name.End()), sig.nameOf(v)}
	var edits []Edit
	for i, e := range sig.names {
		if e.From > name.From { // the receiver's stand before
			edits = append(append(edits, sig.names[:i]...), name)
			edits = append(edits, sig.names[i:]...)
			break
		}
	}
	if edits == nil {
		edits = append(append(edits, sig.names...), name)
	}
	return Apply(sig.text[from:to], from, append(edits, v.Edits...))
}
