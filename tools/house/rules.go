package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// mostAtTop is how many folders may be at the top.
const mostAtTop = 20

var kinds = []string{"product", "apparatus", "tool"}

// row is a folder: its place in the order of the layers, its kind, and the lines of Go
// outside tests that it may have.
type row struct {
	folder, kind string
	most         int
}

// rules are what house.txt says.
type rules struct {
	rows  []row
	never []never
	ratio int // tenths of the product's lines that the apparatus may have
}

// never says that no package in one of the folders imports one in another of these.
type never struct{ from, to []string }

func parse(text string) (*rules, error) {
	r := &rules{}
	for line := range strings.Lines(text) {
		code, _, _ := strings.Cut(line, "#")
		words := strings.Fields(code)
		switch arrow := slices.Index(words, "->"); {
		case len(words) == 0:
		case words[0] == "never" && arrow > 1:
			r.never = append(r.never, never{words[1:arrow], words[arrow+1:]})
		case words[0] == "ratio" && len(words) == 2:
			tenths, err := strconv.Atoi(words[1])
			if err != nil {
				return nil, fmt.Errorf("house.txt: %q: %w", strings.TrimSpace(line), err)
			}
			r.ratio = tenths
		case len(words) == 3 && slices.Contains(kinds, words[1]):
			most, err := strconv.Atoi(words[2])
			if err != nil {
				return nil, fmt.Errorf("house.txt: %q: %w", strings.TrimSpace(line), err)
			}
			r.rows = append(r.rows, row{words[0], words[1], most})
		default:
			return nil, fmt.Errorf("house.txt: %q is neither FOLDER KIND LINES, never FOLDERS -> FOLDERS nor ratio TENTHS", strings.TrimSpace(line))
		}
	}
	return r, nil
}

func inside(name, folder string) bool {
	return name == folder || strings.HasPrefix(name, folder+"/")
}

// rowOf returns the row of a package: the one with the longest name that it is inside.
func (r *rules) rowOf(name string) *row {
	var found *row
	for i := range r.rows {
		if row := &r.rows[i]; inside(name, row.folder) && (found == nil || len(row.folder) > len(found.folder)) {
			found = row
		}
	}
	return found
}

// imports returns what is imported against the order.
func (r *rules) imports(packages []source) (problems []string) {
	place := map[string]int{}
	for i, row := range r.rows {
		place[row.folder] = i
	}
	for _, p := range packages {
		from := r.rowOf(p.Path)
		if from == nil {
			problems = append(problems, p.Path+" has no row in house.txt")
			continue
		}
		for _, i := range p.Imports {
			switch to := r.rowOf(i); {
			case to != nil && place[to.folder] > place[from.folder]:
				problems = append(problems, fmt.Sprintf("%s imports %s, which stands below it", p.Path, i))
			case to == nil && from.kind == "product" && strings.Contains(i, ".") && !strings.HasPrefix(i, "golang.org/x/"):
				problems = append(problems, fmt.Sprintf("%s imports %s: the product depends on the standard library and golang.org/x alone", p.Path, i))
			}
			for _, n := range r.never {
				if n.forbids(p.Path, i) {
					problems = append(problems, fmt.Sprintf("%s imports %s, which it must never", p.Path, i))
				}
			}
		}
	}
	return problems
}

func (n never) forbids(from, to string) bool {
	for _, f := range n.from {
		for _, t := range n.to {
			if inside(from, f) && inside(to, t) && f != t {
				return true
			}
		}
	}
	return false
}

// names returns the package names that two packages have.
func (r *rules) names(packages []source) (problems []string) {
	seen := map[string]string{}
	for _, p := range packages {
		if first, twice := seen[p.Name]; twice && p.Name != "main" {
			problems = append(problems, fmt.Sprintf("%s and %s are both called %s", first, p.Path, p.Name))
		}
		seen[p.Name] = p.Path
	}
	return problems
}

// sizes returns the folders that have outgrown their ceilings, and whether the apparatus
// has outgrown the product.
func (r *rules) sizes(all map[string]lines) (problems []string) {
	sums := map[string]int{}
	for _, row := range r.rows {
		n := all[row.folder].code
		sums[row.kind] += n
		if n > row.most {
			problems = append(problems, fmt.Sprintf("%s has %d lines, and may have %d: make it smaller, or say in house.txt why not", row.folder, n, row.most))
		}
	}
	if 10*sums["apparatus"] > r.ratio*sums["product"] {
		problems = append(problems, fmt.Sprintf("the apparatus has %d lines, more than %d.%d times the product's %d", sums["apparatus"], r.ratio/10, r.ratio%10, sums["product"]))
	}
	return problems
}

// top returns the problems of the folders at the top.
func (r *rules) top(folders []string) (problems []string) {
	if len(folders) > mostAtTop {
		problems = append(problems, fmt.Sprintf("%d folders at the top, more than %d", len(folders), mostAtTop))
	}
	return problems
}
