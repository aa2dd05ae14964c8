package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chunkwire/chunkwire/fuzz/internal/variants"
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
	titles := map[string]bool{}
	for _, m := range l.mistakes {
		if titles[m.Title] {
			t.Errorf("%s: the title is there twice", m.Title)
		}
		titles[m.Title] = true
		changed, err := l.code.apply(m)
		if err != nil {
			t.Errorf("%s: %v; see go run ./fuzz/mistakes -rewrite", m.Title, err)
		}
		for file, text := range changed {
			if before, err := os.ReadFile(file); err != nil || string(before) == text {
				t.Errorf("%s: it changes nothing in %s (%v)", m.Title, file, err)
			}
		}
		for _, by := range m.Tests {
			if names, err := variants.Declared(by.Package); err != nil || !slices.Contains(names, by.Name) {
				t.Errorf("%s: there is no %s", m.Title, by)
			}
		}
	}
}

// Each row of the table of attackers, and of the table of faults that connections exclude, has a test that can fail.
func TestEveryAttackHasAMistake(t *testing.T) {
	fails := map[string]bool{}
	for _, m := range theList(t).mistakes {
		for _, by := range m.Tests {
			fails[by.Name] = true
		}
	}
	for file, row := range map[string]string{"spec/CONNECTION.md": `(?m)^\| \*\*CXA-.* \| (.*) \|$`, "spec/RATIONALE.md": `(?m)^\| [AD]-\d.* \| (.*) \|$`} {
		text, err := os.ReadFile(file)
		rows := regexp.MustCompile(row).FindAllStringSubmatch(string(text), -1)
		if err != nil || len(rows) < 14 {
			t.Errorf("%s: %d rows, %v", file, len(rows), err)
		}
		for _, r := range rows {
			if !slices.ContainsFunc(strings.Split(r[1], ", "), func(name string) bool { return fails[name] }) {
				t.Errorf("%s: no mistake is caught by %s", file, r[1])
			}
		}
	}
}

// What -rewrite writes differs from what is there only in what it has renewed.
func TestTheListIsWrittenAsItIsRead(t *testing.T) {
	for _, f := range theList(t).files {
		text, err := data.ReadFile(f.name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(text), f.String()); diff != "" {
			t.Errorf("%s: %s", f.name, diff)
		}
	}
}

const source = `package p

const limit = 3

type thing struct{ n, m int }

func (t *thing) sum(a, b int) int {
	if a > limit {
		return a + b
	}
	t.n = a - b
	t.m++
	return t.n * 2
}

func sum(a, b int) int {
	if a > limit {
		return a + b
	}
	return b
}
`

// inFile writes a package in a folder of its own and returns the folder.
func inFile(t *testing.T, text string) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "p.go"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// patched is a mistake of one hunk, and what the package becomes with it.
func patched(folder, name string, lines ...string) (*mistake, string, error) {
	m := &mistake{Hunks: []hunk{{folder, name, lines}}}
	changed, err := newSources().apply(m)
	return m, changed[filepath.Join(folder, "p.go")], err
}

func TestPatches(t *testing.T) {
	for _, c := range []struct {
		name          string
		lines         []string
		before, after string
	}{
		{"(*thing).sum", []string{"-\tt.m++"}, "\tt.m++\n", ""},
		{"(*thing).sum", []string{" \tt.m++", "+\tt.n++"}, "t.m++\n", "t.m++\n\tt.n++\n"},
		{"sum", []string{"-\tif a > limit {", "+\tif true {"}, "b int) int {\n\tif a > limit {\n\t\treturn a + b\n\t}\n\treturn b", "b int) int {\n\tif true {\n\t\treturn a + b\n\t}\n\treturn b"},
		{"limit", []string{"-const limit = 3", "+const limit = 4"}, "limit = 3", "limit = 4"},
	} {
		_, got, err := patched(inFile(t, source), c.name, c.lines...)
		if err != nil {
			t.Errorf("%q: %v", c.lines, err)
		}
		if diff := cmp.Diff(strings.Replace(source, c.before, c.after, 1), got); diff != "" {
			t.Errorf("%q: %s", c.lines, diff)
		}
	}
}

func TestPatchesThatDoNotFit(t *testing.T) {
	for name, lines := range map[string][]string{
		"nothing":      {"-\treturn b"},
		"limit":        {"-\treturn b"},
		"sum":          {"-\treturn c"},
		"(*thing).sum": {"-\tt.m++", "+\t)"},
	} {
		if _, _, err := patched(inFile(t, source), name, lines...); err == nil {
			t.Errorf("%s: %q can be made", name, lines)
		}
	}
	twice := strings.Replace(source, "\tt.m++", "\tt.m++\n\tt.m++", 1)
	if _, _, err := patched(inFile(t, twice), "(*thing).sum", "-\tt.m++"); err == nil {
		t.Error("a line that is there twice is found")
	}
}

// A patch is renewed when names, context, indentation or the function have changed, and
// given up when its lines have.
func TestRewrite(t *testing.T) {
	lines := []string{" \t}", "-\tt.n = a - b", "+\tt.n, t.m = a-b, a", " \tt.m++"}
	for _, c := range []struct{ before, after, want string }{
		{"t.", "thing.", "\tthing.n, thing.m = a-b, a\n\tthing.m++"},
		{"t.n", "t.total", "\tt.total, t.m = a-b, a\n\tt.m++"},
		{"\tt.m++\n", "\tt.m += 2\n", "\tt.n, t.m = a-b, a\n\tt.m += 2"},
		{"\tt.m++\n", "\n\tt.m++\n", "\tt.n, t.m = a-b, a\n\n\tt.m++"},
		{"\tt.n = a - b\n\tt.m++\n", "\tif b > 0 {\n\t\tt.n = a - b\n\t}\n", "\tif b > 0 {\n\t\tt.n, t.m = a-b, a\n\t}"},
		{"sum", "total", "\tt.n, t.m = a-b, a\n\tt.m++"},
		{"\tt.n = a - b\n", "", ""},
		{"a - b", "a + b", ""},
	} {
		folder := inFile(t, strings.ReplaceAll(source, c.before, c.after))
		m := &mistake{Hunks: []hunk{{folder, "(*thing).sum", lines}}}
		_, err := newSources().rewrite(m)
		if c.want == "" {
			if err == nil {
				t.Errorf("after %q: %q is renewed", c.after, m)
			}
			continue
		}
		_, got, applied := patched(folder, m.Hunks[0].Name, m.Hunks[0].Lines...)
		if err != nil || applied != nil || !strings.Contains(got, c.want+"\n") {
			t.Errorf("after %q: %v, %v: %s", c.after, err, applied, got)
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
		found := portFunctions("", c.text, c.name)
		if len(found) != 1 || strings.Join(strings.SplitAfter(c.text, "\n")[found[0].from:found[0].to], "") != c.body {
			t.Errorf("%s is at %v in %q", c.name, found, c.text)
		}
	}
}

// What is neither a title nor a part of a mistake is an error.
func TestALineThatIsNoPartOfAMistake(t *testing.T) {
	const good = "title\n  breaks: X-1\n  caught by: vectors\n@@ p f\n-a\n"
	if _, err := readFile("", "head\n\n"+good); err != nil {
		t.Error(err)
	}
	for _, line := range []string{"  breaks: X-1", "  caught by: vectors", "@@ p f"} {
		if _, err := readFile("", "head\n\n"+strings.Replace(good, line, "  caught: vectors", 1)); err == nil {
			t.Errorf("a wrong key is taken for %q", line)
		}
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
