package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"github.com/chunkwire/chunkwire/fuzz/internal/variants"
)

// kinds of judges, each with the tests that are of it, written as "package Test". A
// test is of the first kind that takes it; what none takes is a unit test, of the
// package that the mistake is in or of one above.
var kinds = []struct {
	name  string
	tests *regexp.Regexp
}{
	{"vectors", regexp.MustCompile(`^testvectors/port `)},
	{"fuzz seeds", regexp.MustCompile(`^fuzz `)},
	{"explorers", regexp.MustCompile(` TestExplore`)},
	{"models", regexp.MustCompile(` Test\w*(Models?[A-Z]|Commands|Agree($|[A-Z]))`)},
	{"worlds", regexp.MustCompile(`storm|/soak |sim/(\w+/)*(connectionsim|search) | Test\w*(World|Storm)`)},
	{"own tests", nil},
	{"tests above", nil},
}

const ownTests = 5 // of the kinds; those above come next

// kindOf returns the number of a test's kind; own tests stand for those above, too.
func kindOf(pkg, test string) int {
	for i, k := range kinds {
		if k.tests != nil && k.tests.MatchString(pkg+" "+test) {
			return i
		}
	}
	return ownTests
}

// binary has the tests of a package, by their kinds.
type binary struct {
	*variants.Tests
	deps   []string // what the package and its tests import
	suites [ownTests + 1]variants.Suite
}

// build puts mistakes behind a switch, and returns the numbers of those that are in it.
func (l *list) build(dir string, chosen []*mistake) (*variants.Build, []int, error) {
	versions := map[int]variants.Version{}
	for i, m := range chosen {
		if m.port() != "" {
			continue
		}
		edits, err := l.code.edits(m)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", m.Title, err)
		}
		for file, list := range edits {
			for j, e := range list {
				list[j] = narrow(e, strings.Join(l.code.lines[file], "\n"))
			}
		}
		versions[i+1] = edits
	}
	b, err := variants.All(dir, versions)
	var in []int
	for i, m := range chosen {
		why := b.Without[i+1]
		switch {
		case why == nil && versions[i+1] != nil:
			in = append(in, i+1)
		case why != nil && !errors.Is(why, variants.ErrOutside):
			err = errors.Join(err, fmt.Errorf("%s: %w", m.Title, why))
		}
	}
	return b, in, err
}

// narrow leaves out of an edit what is the same before and after.
func narrow(e variants.Edit, text string) variants.Edit {
	for e.From < e.To && e.With != "" && text[e.From] == e.With[0] {
		e.From, e.With = e.From+1, e.With[1:]
	}
	for e.From < e.To && e.With != "" && text[e.To-1] == e.With[len(e.With)-1] {
		e.To, e.With = e.To-1, e.With[:len(e.With)-1]
	}
	return e
}

// printMatrix runs the tests whose "package Test" matches against each mistake.
func (l *list) printMatrix(chosen []*mistake, tests *regexp.Regexp) error {
	dir, err := os.MkdirTemp("", "matrix-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b, in, err := l.build(dir, chosen)
	if err != nil {
		return err
	}
	for i, m := range chosen {
		if !slices.Contains(in, i+1) {
			fmt.Fprintln(os.Stderr, "not made, since it is in a constant, a type or a port:", m.Title)
		}
	}
	binaries, err := binaries(b, chosen, tests)
	if err != nil {
		return err
	}
	var rows []row
	work := func(id int) row { return judge(binaries, chosen[id-1], id) }
	variants.Each(in, work, func(_ int, r row) {
		rows = append(rows, r)
		fmt.Println(r)
		progress(fmt.Sprintf("%d of %d", len(rows), len(in)))
	})
	printSums(rows)
	return nil
}

// binaries builds all tests that match and depend on a mistake. Those that fail without
// a mistake are named and left out.
func binaries(b *variants.Build, chosen []*mistake, tests *regexp.Regexp) (built []*binary, err error) {
	text, err := exec.Command("go", "list", "-test", "-f", `{{.ImportPath}} {{join .Deps " "}}`, "./...").Output()
	if err != nil {
		return nil, err
	}
	const module = "github.com/chunkwire/chunkwire/"
	isBroken := func(deps []string) bool {
		return slices.ContainsFunc(chosen, func(m *mistake) bool { return slices.Contains(deps, m.Hunks[0].Where) })
	}
	var packages []*binary
	for line := range strings.Lines(strings.ReplaceAll(string(text), module, "")) {
		fields := strings.Fields(line)
		if name, isTest := strings.CutSuffix(fields[0], ".test"); isTest && isBroken(fields[1:]) {
			packages = append(packages, &binary{Tests: &variants.Tests{Package: name}, deps: fields[1:]})
		}
	}
	variants.Each(packages, func(p *binary) error { return p.prepare(b, tests) }, func(p *binary, failure error) {
		progress("built the tests of " + p.Package)
		if failure != nil {
			fmt.Fprintln(os.Stderr, failure)
		}
		built = append(built, p)
	})
	return built, nil
}

// prepare builds a binary and sorts its tests.
func (p *binary) prepare(b *variants.Build, tests *regexp.Regexp) error {
	names, err := variants.Declared(p.Package)
	names = slices.DeleteFunc(names, func(name string) bool { return !tests.MatchString(p.Package + " " + name) })
	if err != nil || len(names) == 0 {
		return err
	}
	if p.Tests, err = b.Tests(p.Package); err != nil {
		return err
	}
	costs, err := p.Measure(names)
	for name, cost := range costs {
		p.suites[kindOf(p.Package, name)].Add(name, cost)
	}
	return err
}

// row is what became of one mistake: for each kind the first test that failed, "." if
// all passed, and nothing if there was none to run.
type row struct {
	title  string
	caught [ownTests + 2]string
}

// judge runs all suites against a mistake, of each kind until one fails.
func judge(binaries []*binary, m *mistake, id int) row {
	r := row{title: m.Title}
	for _, b := range binaries {
		if !slices.Contains(b.deps, m.Hunks[0].Where) {
			continue
		}
		for kind := range b.suites {
			suite := &b.suites[kind]
			if kind == ownTests && b.Package != m.Hunks[0].Where {
				kind++
			}
			if suite.Empty() || strings.Trim(r.caught[kind], ".") != "" {
				continue
			}
			o, err := suite.Judge(b.Tests, id)
			switch {
			case err != nil:
				r.caught[kind] = err.Error()
			case o.Verdict == variants.Passed:
				r.caught[kind] = "."
			case o.Verdict == variants.Failed:
				r.caught[kind] = b.Package + " " + o.Test
			default:
				r.caught[kind] = b.Package + " has no end"
			}
		}
	}
	return r
}

// String is a line of the table, with a letter for each kind that catches.
func (r row) String() (line string) {
	for i, by := range r.caught {
		switch by {
		case "":
			line += "  "
		case ".":
			line += ". "
		default:
			line += kinds[i].name[:1] + " "
		}
	}
	return line + " " + r.title
}

// printSums prints how much each kind catches, and how much it catches alone.
func printSums(rows []row) {
	fmt.Printf("\n%-12s %8s %8s %8s\n", "kind", "made", "caught", "alone")
	var alone, none []string
	for i, k := range kinds {
		made, caught, before := 0, 0, len(alone)
		for _, r := range rows {
			if r.caught[i] != "" {
				made++
			}
			if by := r.catching(); slices.Contains(by, i) {
				caught++
				if len(by) == 1 {
					alone = append(alone, fmt.Sprintf("%s alone (%s): %s", k.name, r.caught[i], r.title))
				}
			}
		}
		fmt.Printf("%-12s %8d %8d %8d\n", k.name, made, caught, len(alone)-before)
	}
	for _, r := range rows {
		if len(r.catching()) == 0 {
			none = append(none, "caught by none: "+r.title)
		}
	}
	fmt.Printf("%d mistakes, %d caught by none\n", len(rows), len(none))
	for _, line := range append(none, alone...) {
		fmt.Println(line)
	}
}

// catching returns the kinds that catch it.
func (r row) catching() (list []int) {
	for i, by := range r.caught {
		if strings.Trim(by, ".") != "" {
			list = append(list, i)
		}
	}
	return list
}
