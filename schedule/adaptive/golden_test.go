package adaptive_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/grid.txt anew")

// TestGrid compares a coarse grid of transfers with the one that is committed,
// so that a change of behavior is a diff. To the microsecond and the byte:
// everything is integers and virtual time.
func TestGrid(t *testing.T) {
	const file = "testdata/grid.txt"
	got := grid()
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
		t.Errorf("if this is meant, run: go test ./schedule/adaptive -run TestGrid -update\n%s", d)
	}
}

func grid() string {
	var b strings.Builder
	b.WriteString("# Full chunks: ms until delivered and bytes both ways over the size, for seeds 1 to 3.\n")
	for _, s := range schemes {
		for _, c := range cells {
			if c.loss == 1 || s.name == "fixed cold" && c.network == "S4" {
				continue
			}
			fmt.Fprintf(&b, "%-15s %s", s.name, c)
			for seed := range uint64(3) {
				ms, bytes := scenario{down: c.path(), up: c.path(), warm: s.warm}.transfer(seed+1, s.profile(c))
				fmt.Fprintf(&b, "  %8.3f %.4f", ms, bytes)
			}
			b.WriteByte('\n')
		}
	}
	for _, h := range hard {
		ms, bytes := h.path.transfer(1, schemes[0].profile(cell{}))
		fmt.Fprintf(&b, "%-34s  %8.3f %.4f\n", h.name, ms, bytes)
	}
	return b.String()
}
