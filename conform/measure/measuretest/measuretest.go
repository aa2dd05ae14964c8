// Package measuretest is what tests of schedulers that measure transfers share.
package measuretest

import (
	"errors"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/conform/measure"
	"github.com/chunkwire/chunkwire/netsim"
)

var (
	seeds  = flag.Int("seeds", 0, "seeds for each figure, instead of each test's own number; -v prints the tables")
	update = flag.Bool("update", false, "write testdata/grid.txt anew")
	page   = flag.String("page", "", "write the tables into this Markdown file, too")
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

// DrawPath draws a network with any faults.
func DrawPath(t *rapid.T, name string) netsim.Path {
	return netsim.Path{
		Overhead: 28,
		Delay:    rapid.SampledFrom([]time.Duration{0, 500 * time.Microsecond, 25 * time.Millisecond, 200 * time.Millisecond}).Draw(t, name+" delay"),
		Jitter:   rapid.SampledFrom([]time.Duration{0, 0, 10 * time.Millisecond}).Draw(t, name+" jitter"),
		Loss:     rapid.SampledFrom([]float64{0, 1, 20, 50}).Draw(t, name+" loss"),
		Rate:     rapid.SampledFrom([]int64{0, 1e6, 10e6, 1e9}).Draw(t, name+" rate"),
		Queue:    rapid.SampledFrom([]int{0, 16 << 10, 1 << 20}).Draw(t, name+" queue"),

		Duplicate:    rapid.SampledFrom([]float64{0, 10}).Draw(t, name+" doubled"),
		Reorder:      rapid.SampledFrom([]float64{0, 10}).Draw(t, name+" late"),
		ReorderDelay: 10 * time.Millisecond,
	}
}

// Table prints rows of a table, and writes them into the page that was asked for.
func Table(t *testing.T, name string, rows []string) {
	t.Helper()
	for _, row := range rows {
		t.Log(row)
	}
	if *page == "" {
		return
	}
	if err := measure.WriteTable(*page, name, rows); err != nil {
		t.Fatal(err)
	}
	controller, err := measure.Controller("../../..")
	if err = errors.Join(err, measure.WriteTable(*page, "controller", []string{"| `" + controller + "` |"})); err != nil {
		t.Fatal(err)
	}
}
