package variants

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"
)

// variable names the environment's variable that says which version is on.
const variable = "CHUNKWIRE_MUTANT"

// switchFile is a file that a package with versions needs besides.
const switchFile = `package %s

import (
	"os"
	"strconv"
)

var mutantOn = func() int {
	n, _ := strconv.Atoi(os.Getenv("` + variable + `"))
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

// span is the lines that a version of a body fills, both ends included.
type span struct{ first, last, id int }

// switched is a file with versions behind a switch, as it is written.
type switched struct {
	strings.Builder
	line  int // counted from 0
	spans []span
	left  []int // versions with edits elsewhere than in bodies of functions and initial values of variables
}

func (w *switched) add(text string) {
	w.WriteString(text)
	w.line += strings.Count(text, "\n")
}

// switched returns the file with versions in it, given by what each changes here.
func (s *Source) switched(versions map[int][]Edit) *switched {
	w := &switched{}
	ids := slices.Sorted(maps.Keys(versions))
	inside := map[int]int{}
	at := 0
	for _, p := range s.places() {
		body := p.body()
		from, to := s.Offset(body.Pos()), s.Offset(body.End())
		texts := map[int]string{}
		for _, id := range ids {
			if edits := within(versions[id], from, to); len(edits) > 0 {
				texts[id] = Apply(s.Text[from:to], from, edits)
				inside[id] += len(edits)
			}
		}
		if len(texts) == 0 {
			continue
		}
		if p.function == nil {
			w.add(s.Text[at:from])
			w.variable(s.Slice(body), texts)
			at = to
		} else {
			w.add(s.Text[at : from+1])
			w.function(s, p.function, texts)
			at = from + 1
		}
	}
	w.add(s.Text[at:])
	w.left = slices.DeleteFunc(ids, func(id int) bool { return inside[id] == len(versions[id]) })
	return w
}

// within returns the edits that lie in a stretch.
func within(edits []Edit, from, to int) (inside []Edit) {
	for _, e := range edits {
		if from <= e.From && e.To <= to {
			inside = append(inside, e)
		}
	}
	return inside
}

// place is a function with a body, or a variable with one initial value.
type place struct {
	function *ast.FuncDecl
	value    ast.Expr
}

// body returns what of a place may be another one.
func (p place) body() ast.Node {
	if p.function != nil {
		return p.function.Body
	}
	return p.value
}

func (s *Source) places() (list []place) {
	for _, decl := range s.Tree.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				list = append(list, place{function: d})
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok && d.Tok == token.VAR && len(v.Names) == 1 && len(v.Values) == 1 {
					list = append(list, place{value: v.Values[0]})
				}
			}
		}
	}
	return list
}

// function writes the switch at a function's begin. Each body is in a function of its
// own, which sees the parameters and has the same results.
func (w *switched) function(s *Source, fn *ast.FuncDecl, bodies map[int]string) {
	call, results, end := "", "", "; return"
	if fn.Type.Results != nil {
		call, results, end = "return ", s.Slice(fn.Type.Results)+" ", ""
	}
	ids := slices.Sorted(maps.Keys(bodies))
	w.add(fmt.Sprintf(" if mutantOn >= %d && mutantOn <= %d { switch mutantOn {", ids[0], ids[len(ids)-1]))
	for _, id := range ids {
		w.add(fmt.Sprintf("\ncase %d: %sfunc() %s", id, call, results))
		first := w.line + 1
		w.add(bodies[id])
		w.spans = append(w.spans, span{first, w.line + 1, id})
		w.add("()" + end)
	}
	w.add("\n} }; ")
}

// variable writes a pick of an initial value. All of them are computed.
func (w *switched) variable(value string, values map[int]string) {
	var numbers []string
	all := []string{value}
	for _, id := range slices.Sorted(maps.Keys(values)) {
		numbers = append(numbers, fmt.Sprint(id))
		all = append(all, values[id])
	}
	w.add("mutantPick([]int{" + strings.Join(numbers, ", ") + "}, " + strings.Join(all, ", ") + ")")
}
