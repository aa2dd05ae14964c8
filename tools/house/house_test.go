package main

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

const order = `
core      product   3   # words
codec     product   2
codec/sum product   9
oracle    apparatus 3
never     codec -> codec/sum
ratio     14
`

func house(t *testing.T) *rules {
	t.Helper()
	r, err := parse(order)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A package imports what stands above it, its own folder, and nothing that is forbidden.
func TestImports(t *testing.T) {
	for _, c := range []struct {
		path, imports, want string
	}{
		{"codec", "core", ""},
		{"codec/deep", "codec", ""},
		{"codec", "errors", ""},
		{"codec", "golang.org/x/sys/unix", ""},
		{"oracle", "codec", ""},
		{"oracle", "example.org/rapid", ""},
		{"codec/sum", "codec", ""},
		{"core", "codec", "core imports codec, which stands below it"},
		{"codec", "oracle/deep", "codec imports oracle/deep, which stands below it"},
		{"codec", "example.org/rapid", "codec imports example.org/rapid: the product depends on the standard library and golang.org/x alone"},
		{"codec", "codec/sum", "codec imports codec/sum, which stands below it\ncodec imports codec/sum, which it must never"},
		{"cellar", "core", "cellar has no row in house.txt"},
	} {
		got := strings.Join(house(t).imports([]source{{Path: c.path, Imports: []string{c.imports}}}), "\n")
		if got != c.want {
			t.Errorf("%s imports %s: got %q, want %q", c.path, c.imports, got, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	all := []source{{Path: "core", Name: "core"}, {Path: "a", Name: "main"}, {Path: "b", Name: "main"}}
	if got := house(t).names(all); got != nil {
		t.Errorf("got %q", got)
	}
	got := house(t).names(append(all, source{Path: "oracle/core", Name: "core"}))
	if want := []string{"core and oracle/core are both called core"}; !cmp.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// A folder has the lines that no row inside it has, and tests do not count.
func TestSizes(t *testing.T) {
	file := func(lines int) *fstest.MapFile { return &fstest.MapFile{Data: []byte(strings.Repeat("\n", lines))} }
	tree := fstest.MapFS{
		"core/a.go": file(3), "core/a_test.go": file(9), "core/a.md": file(9),
		"codec/a.go": file(1), "codec/deep/b.go": file(1), "codec/sum/a.go": file(5),
		"oracle/a.go": file(3), "elsewhere/a.go": file(9),
	}
	measured, err := house(t).measure(tree)
	want := map[string]lines{"core": {3, 9}, "codec": {code: 2}, "codec/sum": {code: 5}, "oracle": {code: 3}}
	if diff := cmp.Diff(want, measured, cmp.AllowUnexported(lines{})); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got := house(t).sizes(measured); got != nil {
		t.Errorf("got %q", got)
	}
	measured["core"] = lines{code: 4}
	measured["oracle"] = lines{code: 16}
	got := house(t).sizes(measured)
	if len(got) != 3 || !strings.HasPrefix(got[0], "core has 4 lines, and may have 3") || !strings.HasPrefix(got[2], "the apparatus has 16 lines") {
		t.Errorf("got %q", got)
	}
}

func TestTop(t *testing.T) {
	r := house(t)
	if got := r.top(make([]string, mostAtTop)); got != nil {
		t.Errorf("got %q", got)
	}
	if got := r.top(make([]string, mostAtTop+1)); got == nil {
		t.Error("one more is taken")
	}
}

func TestARuleThatIsNone(t *testing.T) {
	for _, text := range []string{"core product", "core product x", "core cellar 3", "never -> core", "ratio x"} {
		if _, err := parse(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
