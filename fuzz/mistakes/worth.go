package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/chunkwire/chunkwire/conform/measure"
	"github.com/chunkwire/chunkwire/conform/sim/flows/search"
	"github.com/chunkwire/chunkwire/fuzz/internal/variants"
)

const told = 1.15 // a property that becomes worse by less is not told

var sentence = regexp.MustCompile(`[A-Z]{3,4}-\d+`)

// printWorth runs worlds of the congestion controller against the first mistake that breaks each sentence, and prints
// what becomes worse, and better: what each rule is worth.
func (l *list) printWorth(chosen []*mistake, worlds int, seed uint64, page string) error {
	seen := map[string]bool{}
	chosen = slices.DeleteFunc(chosen, func(m *mistake) bool {
		id := sentence.FindString(m.Breaks)
		if seen[id] || id == "" || m.port() != "" {
			return true
		}
		if _, err := l.code.edits(m); err != nil {
			fmt.Fprintln(os.Stderr, "not made:", m.Title, err)
			return true
		}
		seen[id] = true
		return false
	})
	dir, err := os.MkdirTemp("", "worth-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b, in, err := l.build(dir, chosen)
	if err != nil {
		return err
	}
	binary := filepath.Join(dir, "judges")
	if err := b.Go("build", "-o", binary, "./conform/sim/flows/judges"); err != nil {
		return err
	}
	run := func(id int) ([]search.Finding, error) {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, binary, "-json", "-workers", "1", "-worlds", strconv.Itoa(worlds), "-seed", strconv.FormatUint(seed, 10))
		cmd.Env = append(os.Environ(), variants.Choose(id))
		out, err := cmd.Output()
		var found []search.Finding
		if err == nil {
			err = json.Unmarshal(out, &found)
		}
		return found, err
	}
	with, err := run(0)
	if err != nil {
		return err
	}
	fmt.Printf("%.1f %% of %d figures are beyond their bounds with all rules\n", search.Beyond(with), len(with))
	rows := make([]string, len(chosen)+1)
	variants.Each(in, func(id int) string {
		without, err := run(id)
		m := chosen[id-1]
		_, title, _ := strings.Cut(m.Title, ": ")
		if err != nil {
			return fmt.Sprintf("| %s | %s | | some world has no end | |", sentence.FindString(m.Breaks), title)
		}
		worse, better := changes(with, without)
		return fmt.Sprintf("| %s | %s | %+.1f | %s | %s |", sentence.FindString(m.Breaks), title, search.Beyond(without)-search.Beyond(with), worse, better)
	}, func(id int, row string) {
		fmt.Println(row)
		rows[id] = row
	})
	if page == "" {
		return nil
	}
	rows = slices.DeleteFunc(rows, func(row string) bool { return row == "" })
	slices.Sort(rows)
	name, err := measure.Controller(".")
	if err != nil {
		return err
	}
	if err := measure.WriteTable(page, "ablation", rows); err != nil {
		return err
	}
	return measure.WriteTable(page, "controller of the ablation", []string{"| each rule left out | `" + name + "` |"})
}

// changes names the properties that change most: by how much figures are nearer to their bounds, or further beyond
// them, in the geometric mean of the worlds. What is far within its bound counts as half of it.
func changes(with, without []search.Finding) (worse, better string) {
	type key struct {
		name string
		seed uint64
	}
	size := func(f search.Finding) float64 { return math.Log(min(max(f.Badness(), .5), 1000)) }
	before := map[key]float64{}
	for _, f := range with {
		before[key{f.Family + ": " + f.What, f.Seed}] = size(f)
	}
	sums, counts := map[string]float64{}, map[string]float64{}
	for _, f := range without {
		if was, ok := before[key{f.Family + ": " + f.What, f.Seed}]; ok {
			sums[f.Family+": "+f.What] += size(f) - was
			counts[f.Family+": "+f.What]++
		}
	}
	var names []string
	for name := range sums {
		names = append(names, name)
	}
	by := func(name string) float64 { return math.Exp(sums[name] / counts[name]) }
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(by(b), by(a)), cmp.Compare(a, b)) })
	var up, down []string
	for _, name := range names[:3] {
		if by(name) >= told {
			up = append(up, fmt.Sprintf("%s × %.1f", name, by(name)))
		}
	}
	if last := names[len(names)-1]; by(last) <= 1/told {
		down = append(down, fmt.Sprintf("%s × %.2f", last, by(last)))
	}
	return strings.Join(up, "; "), strings.Join(down, "; ")
}
