package schemata

import (
	"strings"
	"testing"
)

const example = `package example

const least = 1

var table = rows(
	row("A"),
	row("B"),
)

func sum(a, _ int) int {
	return a
}
`

// edit replaces what stands once in the example.
func edit(before, after string) Edit {
	at := strings.Index(example, before)
	return Edit{at, at + len(before), after}
}

// A version may change several places; one that changes a constant or a signature is
// left.
func TestVersions(t *testing.T) {
	file, err := New("example.go", example, []Version{
		{3, []Edit{edit(`	row("A"),`+"\n", ""), edit("return a", "return a + 1")}},
		{5, []Edit{edit("least = 1", "least = 2")}},
		{6, []Edit{edit("a, _ int", "_, a int")}},
		{8, []Edit{edit("return a", "return 0")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer(
		"rows(\n", "mutantPick([]int{3}, rows(\n", "row(\"B\"),\n)", "row(\"B\"),\n), rows(\n\trow(\"B\"),\n))",
		"_ int) int {", "arg1 int) int { if mutantOn >= 3 && mutantOn <= 8 { switch mutantOn { case 3: return sum__3(a, arg1); case 8: return sum__8(a, arg1); } }; ",
	).Replace(example) + "\nfunc sum__3(a, arg1 int) int {\n\treturn a + 1\n}\nfunc sum__8(a, arg1 int) int {\n\treturn 0\n}\n"
	if file.Text != want {
		t.Errorf("got\n%s\nwant\n%s", file.Text, want)
	}
	if len(file.Left) != 2 || file.Left[0] != 5 || file.Left[1] != 6 {
		t.Errorf("left are %v", file.Left)
	}
	lines := strings.Split(file.Text, "\n")
	for _, s := range file.Spans {
		if !strings.HasPrefix(lines[s.First-1], "func sum__") || lines[s.Last-1] != "}" {
			t.Errorf("the copy of %d is not in lines %d to %d", s.ID, s.First, s.Last)
		}
	}
}
