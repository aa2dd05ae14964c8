// Package transferstest is what tests of schedulers that measure transfers share.
package transferstest

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	seeds  = flag.Int("seeds", 0, "seeds for each figure, instead of each test's own number; -v prints the tables")
	update = flag.Bool("update", false, "write testdata/grid.txt anew")
)

// Seeds returns the number of seeds that was asked for, or else n.
func Seeds(n int) int {
	if *seeds > 0 {
		return *seeds
	}
	return n
}

// Grid compares a coarse grid of transfers with the one that is committed in
// testdata/grid.txt, so that a change of behavior is a diff. To the microsecond and the
// byte: everything is integers and virtual time.
func Grid(t *testing.T, got string) {
	t.Helper()
	const file = "testdata/grid.txt"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); d != "" {
		t.Errorf("if this is meant, run the test with -update\n%s", d)
	}
}
