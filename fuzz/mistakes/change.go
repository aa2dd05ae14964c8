package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"os"
	"regexp"
	"slices"
	"strings"
)

// A reference names a node: "e3" of the mistake's own place, or
// "e3@(*Sender).hear" of another one in the same package.
const reference = `[sen]\d+(?:@(?:\(\*?\w+\)\.|\w+\.)?\w+)?`

var (
	references = regexp.MustCompile(`\b` + reference + `\b`)
	changeForm = regexp.MustCompile(`^(?:delete (` + reference + `)|(` + reference + `) -> (.+))$`)
)

// home returns the place of a reference and the node's name there.
func home(place, ref string) (string, string) {
	name, elsewhere, found := strings.Cut(ref, "@")
	if found {
		folder, _ := split(place)
		place = folder + "." + elsewhere
	}
	return place, name
}

// node finds what a reference names.
func (p packages) node(place, ref string) (*place, *node, error) {
	in, name := home(place, ref)
	at, err := p.find(in)
	if err != nil {
		return nil, nil, err
	}
	i := slices.IndexFunc(at.nodes, func(n node) bool { return n.name == name })
	if i < 0 {
		return nil, nil, fmt.Errorf("there is no %s in %s", name, in)
	}
	return at, &at.nodes[i], nil
}

// edit replaces a part of a file.
type edit struct {
	from, to int
	text     string
}

// apply returns the files that a mistake changes, as they then are.
func (p packages) apply(m *mistake) (map[string][]byte, error) {
	if m.Port != "" {
		return applyToPort(m)
	}
	edits, texts := map[string][]edit{}, map[string][]byte{}
	for _, change := range m.Changes {
		parts := changeForm.FindStringSubmatch(change)
		if parts == nil {
			return nil, fmt.Errorf("%q is no change", change)
		}
		at, n, err := p.node(m.Place, parts[1]+parts[2])
		if err != nil {
			return nil, err
		}
		e := edit{n.from, n.to, ""}
		if parts[1] != "" {
			e = withComma(e, at.text)
		} else if e.text, err = p.replacement(m.Place, parts[3], n); err != nil {
			return nil, err
		}
		edits[at.file], texts[at.file] = append(edits[at.file], e), at.text
	}
	changed := map[string][]byte{}
	for file, list := range edits {
		text, err := splice(texts[file], list)
		if err == nil {
			text, err = format.Source(text)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		changed[file] = text
	}
	return changed, nil
}

// replacement returns a text with the present text of nodes in the place of
// references.
func (p packages) replacement(place, text string, into *node) (string, error) {
	var failure error
	result := references.ReplaceAllStringFunc(text, func(ref string) string {
		at, n, err := p.node(place, ref)
		if err != nil {
			failure = err
			return ""
		}
		present := string(at.text[n.from:n.to])
		if n.loose && ref != text {
			return "(" + present + ")"
		}
		return present
	})
	if tree, err := parser.ParseExpr(result); err == nil && into.operand {
		if _, binary := tree.(*ast.BinaryExpr); binary {
			result = "(" + result + ")"
		}
	}
	return result, failure
}

// withComma extends the deletion of an element of a list to its comma.
func withComma(e edit, text []byte) edit {
	behind := bytes.TrimLeft(text[e.to:], " \t\n")
	before := bytes.TrimRight(text[:e.from], " \t\n")
	if bytes.HasPrefix(behind, []byte(",")) {
		e.to = len(text) - len(behind) + 1
	} else if bytes.HasSuffix(before, []byte(",")) {
		e.from = len(before) - 1
	}
	return e
}

// splice makes the edits, none of which may lie in another.
func splice(text []byte, edits []edit) ([]byte, error) {
	slices.SortFunc(edits, func(a, b edit) int { return a.from - b.from })
	var out []byte
	done := 0
	for _, e := range edits {
		if e.from < done {
			return nil, errors.New("two changes overlap")
		}
		out = append(append(out, text[done:e.from]...), e.text...)
		done = e.to
	}
	return append(out, text[done:]...), nil
}

// applyToPort makes changes "OLD -> NEW" in a function of a port, in which OLD
// stands once. If there are several of that name, it stands in one of them.
func applyToPort(m *mistake) (map[string][]byte, error) {
	file, function, _ := strings.Cut(m.Place, " ")
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for _, change := range m.Changes {
		before, after, _ := strings.Cut(change, " -> ")
		var places []int
		for _, f := range portFunctions(text, function) {
			for at := f[0]; bytes.Contains(text[at:f[1]], []byte(before)); at = places[len(places)-1] + 1 {
				places = append(places, at+bytes.Index(text[at:f[1]], []byte(before)))
			}
		}
		if len(places) != 1 {
			return nil, fmt.Errorf("%q stands %d times in %s", before, len(places), m.Place)
		}
		text = slices.Replace(text, places[0], places[0]+len(before), []byte(after)...)
	}
	return map[string][]byte{file: text}, nil
}

// portFunctions returns where the functions of a name stand in C, C#, Python, Rust or
// TypeScript: each from the line that begins its definition to the next one that is
// indented no more.
func portFunctions(text []byte, name string) (found [][2]int) {
	begin := regexp.MustCompile(`(?m)^([ \t]*)(?:pub\(crate\) )?(?:[\w \t*]*[ \t*])?#?` + name + `(?:<.*>)?\((?:.*[^;\n])?$`)
	for _, m := range begin.FindAllSubmatchIndex(text, -1) {
		end := regexp.MustCompile(fmt.Sprintf(`(?m)^[ \t]{0,%d}[^\s{)]`, m[3]-m[2])).FindIndex(text[m[1]:])
		if end == nil {
			end = []int{len(text) - m[1]}
		}
		found = append(found, [2]int{m[0], m[1] + end[0]})
	}
	return found
}
