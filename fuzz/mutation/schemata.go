package main

import (
	"fmt"
	"go/ast"
	"strings"
)

// switchFile is added to a package: it says which mutant is on.
const switchFile = `package %s

import (
	"os"
	"strconv"
)

var mutantOn = func() int {
	n, _ := strconv.Atoi(os.Getenv("` + switchVariable + `"))
	return n
}()
`

const switchVariable = "CHUNKWIRE_MUTANT"

// schemata is a file with all its functions' mutants in it: each mutant is a copy
// of its function, and the function begins with a switch to the copy that is on.
// One compilation then makes a binary for all of them.
type schemata struct {
	text  string
	lines []span // of the copies
}

// span is the lines that a mutant's copy fills, both ends included.
type span struct {
	first, last int
	mutant      *mutant
}

// withMutants returns the schemata of a file for those of the mutants that lie in
// its functions.
func withMutants(s *source, mutants []*mutant) schemata {
	byFunction := map[*ast.FuncDecl][]*mutant{}
	for _, m := range mutants {
		if m.file == s && m.fn != nil {
			byFunction[m.fn] = append(byFunction[m.fn], m)
		}
	}
	var edits []edit
	var copies strings.Builder
	out := schemata{}
	line := strings.Count(s.text, "\n") + 1
	for _, decl := range s.tree.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || len(byFunction[fn]) == 0 {
			continue
		}
		sig := signatureOf(s, fn)
		edits = append(edits, sig.names...)
		at := s.offset(fn.Body.Lbrace) + 1
		edits = append(edits, edit{at, at, sig.dispatch(byFunction[fn])})
		for _, m := range byFunction[fn] {
			text := sig.copyFor(m)
			copies.WriteString("\n" + text)
			height := strings.Count(text, "\n")
			out.lines = append(out.lines, span{line + 1, line + 1 + height, m})
			line += 1 + height
		}
	}
	out.text = apply(s.text, 0, edits) + copies.String() + "\n"
	return out
}

// edit replaces a stretch of a text.
type edit struct {
	from, to int
	with     string
}

// apply makes edits that are in order; base is the text's own offset.
func apply(text string, base int, edits []edit) string {
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(text[at:e.from-base] + e.with)
		at = e.to - base
	}
	return b.String() + text[at:]
}

// signature is what is needed to call a copy of a function with its arguments.
type signature struct {
	file     *source
	fn       *ast.FuncDecl
	names    []edit // give names to parameters that have none
	receiver string // "r.", or nothing
	types    string // "[State]", or nothing
	args     string
}

func signatureOf(s *source, fn *ast.FuncDecl) signature {
	sig := signature{file: s, fn: fn}
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
			at := sig.file.offset(field.Pos())
			sig.names = append(sig.names, edit{at, at, names[len(names)-1] + " "})
		}
		for _, name := range field.Names {
			if name.Name == "_" {
				names = append(names, fmt.Sprint(prefix, len(names)))
				at := sig.file.offset(name.Pos())
				sig.names = append(sig.names, edit{at, at + 1, names[len(names)-1]})
				continue
			}
			names = append(names, name.Name)
		}
	}
	return names
}

func (sig *signature) nameOf(m *mutant) string {
	return fmt.Sprintf("%s__%d", sig.fn.Name.Name, m.id)
}

// dispatch is the switch at the function's begin, all in its first line.
func (sig *signature) dispatch(mutants []*mutant) string {
	var b strings.Builder
	fmt.Fprintf(&b, " if mutantOn >= %d && mutantOn <= %d { switch mutantOn { ", mutants[0].id, mutants[len(mutants)-1].id)
	for _, m := range mutants {
		call := sig.receiver + sig.nameOf(m) + sig.types + "(" + sig.args + ")"
		if sig.fn.Type.Results == nil {
			fmt.Fprintf(&b, "case %d: %s; return; ", m.id, call)
		} else {
			fmt.Fprintf(&b, "case %d: return %s; ", m.id, call)
		}
	}
	return b.String() + "} }; "
}

// copyFor is the function under the mutant's own name, with its mistake.
func (sig *signature) copyFor(m *mutant) string {
	s, fn := sig.file, sig.fn
	from, to := s.offset(fn.Pos()), s.offset(fn.End())
	name := edit{s.offset(fn.Name.Pos()), s.offset(fn.Name.End()), sig.nameOf(m)}
	edits := []edit{name}
	for _, e := range sig.names {
		if e.from < name.from { // the receiver's
			edits = append([]edit{e}, edits...)
		} else {
			edits = append(edits, e)
		}
	}
	edits = append(edits, edit{m.from, m.to, m.with})
	return apply(s.text[from:to], from, edits)
}

// packageName is what the file says that it belongs to.
func (s *source) packageName() string { return s.tree.Name.Name }

// mutated is the file with one mutant and no switch: for what is computed before
// any function runs, or by the compiler.
func (m *mutant) mutated() string {
	return apply(m.file.text, 0, []edit{{m.from, m.to, m.with}})
}
