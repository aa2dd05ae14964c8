package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRecord(t *testing.T) {
	name := filepath.Join(t.TempDir(), "HISTORY.md")
	if err := os.WriteFile(name, []byte("# History\n\n"+recordBegins+recordEnds+"\nThe end.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, r := range []row{
		{"aaa", "./fuzz/FuzzBits", 1_000_000, 2, 0},
		{"aaa", "./fuzz/FuzzPort", 999, 0, 0},
		{"aaa", "./fuzz/FuzzBits", 234_567, 1, 1},
		{"bbb+", "./fuzz/FuzzBits", 5, 0, 0},
	} {
		if err := addToRecord(name, r); err != nil {
			t.Fatal(err)
		}
	}
	want := "# History\n\n" + recordBegins + `| Commit | Target | Executions | New entries | Finds |
|---|---|--:|--:|--:|
| aaa | ./fuzz/FuzzBits | 1,234,567 | 3 | 1 |
| aaa | ./fuzz/FuzzPort | 999 | 0 | 0 |
| bbb+ | ./fuzz/FuzzBits | 5 | 0 | 0 |

1,235,571 executions, 1 finds.
` + recordEnds + "\nThe end.\n"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Error(diff)
	}
	known, err := readRecord(name)
	if err != nil || known.executions("aaa", "./fuzz/FuzzBits") != 1_234_567 || known.executions("bbb", "./fuzz/FuzzBits") != 0 {
		t.Errorf("%v, %v", known, err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(name), ".record-*")); len(left) > 0 {
		t.Errorf("%v were left behind", left)
	}
}

// A table that was edited into something else is refused, and left alone.
func TestASpoiledRecord(t *testing.T) {
	name := filepath.Join(t.TempDir(), "record.md")
	for _, text := range []string{
		recordBegins + recordHead,
		recordBegins + recordHead + "| aaa | ./fuzz/FuzzBits | many | 0 | 0 |\n" + recordEnds,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := addToRecord(name, row{}); err == nil {
			t.Errorf("took %q", text)
		}
		if after, _ := os.ReadFile(name); string(after) != text {
			t.Errorf("made %q of %q", after, text)
		}
	}
}

func TestThousands(t *testing.T) {
	var got []string
	for _, n := range []int64{0, 999, 1000, 50_000_000} {
		got = append(got, thousands(n))
	}
	if s := strings.Join(got, " "); s != "0 999 1,000 50,000,000" {
		t.Error(s)
	}
}
