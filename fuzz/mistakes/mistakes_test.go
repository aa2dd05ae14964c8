package main

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMain works in the repository's root, as the command does.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func theList(t *testing.T) *list {
	t.Helper()
	l, err := readList()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Each mistake can still be made where it was meant, in a way that gofmt takes, and
// what must catch it exists.
func TestEveryMistakeCanBeMade(t *testing.T) {
	l := theList(t)
	titles, faults := map[string]bool{}, map[string]bool{}
	for _, m := range l.mistakes {
		if titles[m.Title] {
			t.Errorf("%s: the title is there twice", m.Title)
		}
		titles[m.Title] = true
		if err := l.check(m); err != nil {
			if !faults[err.Error()] { // a place that has changed is one fault
				t.Errorf("%s: %v", m.Title, err)
			}
			faults[err.Error()] = true
			continue
		}
		changed, err := l.code.apply(m)
		if err != nil {
			t.Errorf("%s: %v", m.Title, err)
		}
		for file, text := range changed {
			if before, err := os.ReadFile(file); err != nil || bytes.Equal(before, text) {
				t.Errorf("%s: it changes nothing in %s (%v)", m.Title, file, err)
			}
		}
		for _, by := range m.Tests {
			if !exists(t, by) {
				t.Errorf("%s: there is no %s", m.Title, by)
			}
		}
	}
	for name := range l.shapes {
		if len(l.at(name)) == 0 {
			t.Errorf("no mistake needs %s", name)
		}
	}
}

func exists(t *testing.T, by test) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(by.Package, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("\nfunc "+by.Name+"(")) {
			return true
		}
	}
	return false
}

// When all private names of a package are other ones, each mistake is the same but
// for these names.
func TestARenameBreaksNothing(t *testing.T) {
	l := theList(t)
	renamed := packages{}
	private := map[string]map[string]bool{}
	for _, m := range l.mistakes {
		if m.Port != "" {
			continue
		}
		folder, _ := split(m.Place)
		if renamed[folder] == nil {
			files, err := readPackage(folder)
			if err != nil {
				t.Fatal(err)
			}
			private[folder] = privateNames(t, files)
			for name, text := range files {
				files[name] = rename(t, name, text, private[folder])
			}
			if renamed[folder], err = index(files); err != nil {
				t.Fatal(err)
			}
		}
		before, err := l.code.apply(m)
		if err != nil {
			t.Fatal(err)
		}
		other := *m
		other.Place = folder + "." + renamePlace(m.Place[len(folder)+1:], private[folder])
		other.Changes = nil
		for _, c := range m.Changes {
			other.Changes = append(other.Changes, references.ReplaceAllStringFunc(c, func(ref string) string {
				node, place, _ := strings.Cut(ref, "@")
				return strings.TrimSuffix(node+"@"+renamePlace(place, private[folder]), "@")
			}))
		}
		after, err := renamed.apply(&other)
		if err != nil {
			t.Errorf("%s: %v", m.Title, err)
			continue
		}
		for file, text := range before {
			if diff := cmp.Diff(string(rename(t, file, text, private[folder])), string(after[file])); diff != "" {
				t.Errorf("%s: the change spells a private name: %s", m.Title, diff)
			}
		}
		for i, place := range m.places() {
			p, err := l.code.find(place)
			if err != nil {
				t.Fatal(err)
			}
			other, err := renamed.find(other.places()[i])
			if err != nil {
				t.Fatal(err)
			}
			if p.shape != other.shape {
				t.Errorf("the shape of %s depends on private names", place)
			}
		}
	}
}

// privateNames returns the names in a package that are its own.
func privateNames(t *testing.T, files map[string][]byte) map[string]bool {
	names := map[string]bool{}
	for name, text := range files {
		eachName(t, name, text, func(id *ast.Ident, _ int) { names[id.Name] = true })
	}
	return names
}

// eachName calls do for each private name in a file that is no package's and not
// predeclared, with its offset.
func eachName(t *testing.T, file string, text []byte, do func(id *ast.Ident, at int)) {
	t.Helper()
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, file, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	not := map[string]bool{"_": true, tree.Name.Name: true}
	for _, i := range tree.Imports {
		not[strings.Trim(i.Path.Value[strings.LastIndex(i.Path.Value, "/")+1:], `"`)] = true
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && !id.IsExported() && !not[id.Name] && types.Universe.Lookup(id.Name) == nil {
			do(id, fset.Position(id.Pos()).Offset)
		}
		return true
	})
}

// rename gives other names to all private ones in a file.
func rename(t *testing.T, file string, text []byte, private map[string]bool) []byte {
	var out []byte
	done := 0
	eachName(t, file, text, func(id *ast.Ident, at int) {
		if private[id.Name] {
			at += len(id.Name)
			out = append(append(out, text[done:at]...), 'X')
			done = at
		}
	})
	out, err := format.Source(append(out, text[done:]...))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func renamePlace(name string, private map[string]bool) string {
	return regexp.MustCompile(`\w+`).ReplaceAllStringFunc(name, func(word string) string {
		if private[word] {
			return word + "X"
		}
		return word
	})
}

const source = `package p

const limit = 3

var table = rows(
	row("A1", limit, step, stop),
)

type thing struct{ n, m int }

func (t *thing) sum(a, b int) int {
	if a > limit && b > 0 {
		return a + b
	}
	t.n = a - b // a comment
	return t.n * 2
}
`

func sourceList(t *testing.T, text string, data string) *list {
	t.Helper()
	places, err := index(map[string][]byte{"p/p.go": []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	l := &list{shapes: map[string]string{}, code: packages{"p": places}}
	if err := l.read(data); err != nil {
		t.Fatal(err)
	}
	return l
}

// What a change does to the text.
func TestChanges(t *testing.T) {
	for _, c := range []struct{ place, change, before, after string }{
		{"p.(*thing).sum", "delete s1", "\tif a > limit && b > 0 {\n\t\treturn a + b\n\t}\n", "\n"},
		{"p.(*thing).sum", "e1 -> e2", "a > limit && b > 0", "a > limit"},
		{"p.(*thing).sum", "e1 -> e1 || e5", "a > limit && b > 0", "(a > limit && b > 0) || (b > 0)"},
		{"p.(*thing).sum", "s2 -> return e6", "return a + b", "return b"},
		{"p.(*thing).sum", "s3 -> s3; e12.n1++", "t.n = a - b // a", "t.n = a - b\n\tt.n++ // a"},
		{"p.(*thing).sum", "e17 -> e13", "t.n * 2", "(a - b) * 2"},
		{"p.(*thing).sum", "e4 -> e1@limit", "a > limit", "a > 3"},
		{"p.limit", "e1 -> 4", "limit = 3", "limit = 4"},
		{"p.A1", "delete e5", ", stop)", ")"},
		{"p.A1", "e4 -> e4, e4", "step, stop", "step, step, stop"},
	} {
		m := &mistake{Place: c.place, Changes: []string{c.change}}
		changed, err := sourceList(t, source, "").code.apply(m)
		if err != nil {
			t.Errorf("%s: %v", c.change, err)
			continue
		}
		if diff := cmp.Diff(strings.Replace(source, c.before, c.after, 1), string(changed["p/p.go"])); diff != "" {
			t.Errorf("%s: %s", c.change, diff)
		}
	}
}

func TestChangesThatCannotBeMade(t *testing.T) {
	for place, changes := range map[string][]string{
		"p.limit":        {"e2 -> 1"},
		"p.nothing":      {"e1 -> 1"},
		"nothing":        {"e1 -> 1"},
		"p.A1":           {"e1 is 1"},
		"p.(*thing).sum": {"delete s1", "e1 -> true"},
		"p.table":        {"e1 -> )"},
	} {
		if _, err := sourceList(t, source, "").code.apply(&mistake{Place: place, Changes: changes}); err == nil {
			t.Errorf("%s: %q can be made", place, changes)
		}
	}
}

// A mistake must be looked at again when the structure of its place has changed, and
// only then.
func TestDrift(t *testing.T) {
	places, err := index(map[string][]byte{"p/p.go": []byte(source)})
	if err != nil {
		t.Fatal(err)
	}
	data := "-- p.(*thing).sum " + places["(*thing).sum"].shape + " --\n\nno limit\n  breaks: a limit (X-1)\n  change: e1 -> true\n  caught by: vectors\n"
	for _, c := range []struct {
		before, after string
		drifts        bool
	}{
		{"", "", false},
		{"limit", "bound", false},
		{"> 0", "> 1", false},
		{"// a comment", "// another", false},
		{"t.n", "t.m", false},
		{"a > limit", "a >= limit", true},
		{"return a + b", "t.n++\n\t\treturn a + b", true},
		{"a - b", "a - b - b", true},
		{"sum", "total", true},
	} {
		l := sourceList(t, strings.ReplaceAll(source, c.before, c.after), data)
		if c.before == "" {
			l = sourceList(t, source, data)
		}
		if err := l.check(l.mistakes[0]); (err != nil) != c.drifts {
			t.Errorf("%q becomes %q: %v", c.before, c.after, err)
		}
	}
}

// The functions of four languages, by indentation.
func TestFunctionsOfPorts(t *testing.T) {
	for _, c := range []struct{ text, name, body string }{
		{"static int f(int a);\nint f(int a,\n      int b)\n{\n  g(a);\n}\nint g(void) { return 1; }\n", "f", "int f(int a,\n      int b)\n{\n  g(a);\n"},
		{"int f(void)\n{\n  g(a);\n}\nint g(void) { return 1; }\n", "g", "int g(void) { return 1; }\n"},
		{"class A:\n    def f(self) -> int:\n\n        return g(1)\n\n    def g(self) -> int:\n        return 1\n", "f", "    def f(self) -> int:\n\n        return g(1)\n\n"},
		{"class A\n{\n    private static int F(in B b)\n    {\n        G(b);\n    }\n\n    void G(B b)\n    {\n    }\n}\n", "F", "    private static int F(in B b)\n    {\n        G(b);\n"},
		{"class A {\n  #f(n: number): void {\n    this.f(1);\n  }\n\n  g(): void {}\n}\n", "f", "  #f(n: number): void {\n    this.f(1);\n"},
		{"impl A {\n    pub(crate) fn f<'a>(\n        &self,\n    ) -> &'a u8 {\n        self.f(1)\n    }\n\n    fn g() {}\n}\n", "f", "    pub(crate) fn f<'a>(\n        &self,\n    ) -> &'a u8 {\n        self.f(1)\n"},
	} {
		found := portFunctions([]byte(c.text), c.name)
		if len(found) != 1 || c.text[found[0][0]:found[0][1]] != c.body {
			t.Errorf("%s is at %v in %q", c.name, found, c.text)
		}
	}
}

// What is neither a title nor a part of a mistake is an error.
func TestALineThatIsNoPartOfAMistake(t *testing.T) {
	l := &list{shapes: map[string]string{}}
	if err := l.read("-- p.f 1234 --\n\ntitle\n  caught: vectors\n"); err == nil {
		t.Error("a wrong key is taken")
	}
}

func TestMessages(t *testing.T) {
	for output, want := range map[string]string{
		"--- FAIL: TestA (0.00s)\n    a_test.go:3: one\n    a_test.go:4: two\n":         "one",
		"    a_test.go:2: seed 1\n--- FAIL: TestA (0.00s)\n    a_test.go:3: one\n":      "one",
		"--- FAIL: TestA (0.00s)\n    a_test.go:3: [rapid] failed after 7 tests: one\n": "one",
		"--- FAIL: TestA (0.00s)\npanic: index out of range\n\ngoroutine 1\n":           "panic: index out of range",
		"--- FAIL: TestA (0.00s)\n": "",
	} {
		if failed, text := message(output); failed != (want != "") || failed && text != want {
			t.Errorf("%q: %v, %q", output, failed, text)
		}
	}
}
