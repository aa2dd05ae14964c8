package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/chunkwire/chunkwire/fuzz/internal/schemata"
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
	{"worlds", regexp.MustCompile(`storm|/soak |sim/(\w+/)*(chunksim|connectionsim|crowd) | Test\w*(World|Storm)`)},
	{"own tests", nil},
	{"tests above", nil},
}

// matrix makes mistakes, all in one set of binaries, and runs each kind of judges
// against each.
type matrix struct {
	dir      string
	list     []*mistake // with the numbers 1, 2, … in the binaries
	left     []*mistake // those that cannot be switched on
	changed  map[string]bool
	spans    map[string][]schemata.Span // of each file, as the overlay calls it
	binaries []*binary
}

// binary has the tests of a package.
type binary struct {
	Package string
	path    string
	deps    map[string]bool
	suites  []*suite
}

// suite is the tests of a package that are of one kind.
type suite struct {
	binary *binary
	kind   int
	tests  []string
	cost   time.Duration // of a processor, without a mistake
}

// row is what became of one mistake: for each kind the first test that failed, "." if
// all passed, and nothing if there was none to run.
type row struct {
	Title  string            `json:"title"`
	Caught map[string]string `json:"caught"`
}

// printMatrix runs the tests whose "package Test" matches.
func (l *list) printMatrix(chosen []*mistake, tests *regexp.Regexp, asJSON bool) error {
	dir, err := os.MkdirTemp("", "matrix-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	x, err := newMatrix(dir, l.code, chosen)
	if err != nil {
		return err
	}
	if err := x.compile(); err != nil {
		return err
	}
	if err := x.build(tests); err != nil {
		return err
	}
	rows := make([]row, len(x.list))
	var ids []int
	for i := range x.list {
		ids = append(ids, i)
	}
	done := 0
	var mu sync.Mutex
	each(ids, func(i int) {
		rows[i] = x.judge(i + 1)
		mu.Lock()
		defer mu.Unlock()
		done++
		if !asJSON {
			fmt.Println(rows[i])
		}
		progress(fmt.Sprintf("%d of %d", done, len(rows)))
	})
	for _, m := range x.left {
		fmt.Fprintf(os.Stderr, "not made, since it is in a constant, a type or a port: %s\n", m.Title)
	}
	if asJSON {
		return printJSON(rows)
	}
	printSums(rows)
	return nil
}

func newMatrix(dir string, code *sources, chosen []*mistake) (*matrix, error) {
	x := &matrix{dir: dir, changed: map[string]bool{}, spans: map[string][]schemata.Span{}}
	return x, x.switchable(code, chosen)
}

// compile returns an error that names the mistakes that do not compile.
func (x *matrix) compile() error {
	args := []string{"go", "build", "-gcflags=-e", "-overlay", filepath.Join(x.dir, "overlay.json")}
	for folder := range x.changed {
		args = append(args, "./"+folder)
	}
	said, err := output("", args...)
	for _, c := range regexp.MustCompile(`([\w.]+\.go):(\d+):\d+: .*`).FindAllSubmatch(said, -1) {
		line, _ := strconv.Atoi(string(c[2]))
		for _, s := range x.spans[string(c[1])] {
			if s.First <= line && line <= s.Last {
				err = errors.Join(err, fmt.Errorf("%s: %s", x.list[-1+s.ID].Title, c[0]))
			}
		}
	}
	return err
}

// switchable writes the packages with all mistakes in them behind a switch.
func (x *matrix) switchable(code *sources, chosen []*mistake) error {
	for {
		versions, err := x.versions(code, chosen)
		if err != nil {
			return err
		}
		replaced, left := map[string][]byte{}, map[int]bool{}
		for file, list := range versions {
			text := strings.Join(code.lines[file], "\n")
			made, err := schemata.New(file, text, list)
			if err != nil {
				return err
			}
			for _, id := range made.Left {
				left[id] = true
			}
			replaced[file], x.spans[overlaid(file)] = []byte(made.Text), made.Spans
			folder := filepath.Dir(file)
			x.changed[folder] = true
			name := regexp.MustCompile(`(?m)^package (\w+)`).FindStringSubmatch(text)[1]
			replaced[filepath.Join(folder, "mutant_on.go")] = []byte(schemata.SwitchFile(name))
		}
		if len(left) == 0 {
			return writeOverlay(x.dir, replaced)
		}
		chosen = nil
		for i, m := range x.list {
			if left[i+1] {
				x.left = append(x.left, m)
			} else {
				chosen = append(chosen, m)
			}
		}
	}
}

// versions returns what the mistakes change in each file, and numbers them.
func (x *matrix) versions(code *sources, chosen []*mistake) (map[string][]schemata.Version, error) {
	x.list = nil
	versions := map[string][]schemata.Version{}
	for _, m := range chosen {
		if m.port() != "" {
			x.left = append(x.left, m)
			continue
		}
		edits, err := code.edits(m)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Title, err)
		}
		x.list = append(x.list, m)
		for file, list := range edits {
			for i, e := range list {
				list[i] = narrow(e, strings.Join(code.lines[file], "\n"))
			}
			versions[file] = append(versions[file], schemata.Version{ID: len(x.list), Edits: list})
		}
	}
	return versions, nil
}

// narrow leaves out of an edit what is the same before and after.
func narrow(e schemata.Edit, text string) schemata.Edit {
	for e.From < e.To && e.With != "" && text[e.From] == e.With[0] {
		e.From, e.With = e.From+1, e.With[1:]
	}
	for e.From < e.To && e.With != "" && text[e.To-1] == e.With[len(e.With)-1] {
		e.To, e.With = e.To-1, e.With[:len(e.With)-1]
	}
	return e
}

// build builds the tests of all packages that depend on a mistake, and runs what
// matches without any.
func (x *matrix) build(tests *regexp.Regexp) error {
	binaries, err := testBinaries()
	if err != nil {
		return err
	}
	var mu sync.Mutex
	each(binaries, func(b *binary) {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(x.changed)), func(folder string) bool { return b.deps[folder] }) {
			return
		}
		progress("building the tests of " + b.Package)
		failure := x.prepare(b, tests)
		mu.Lock()
		defer mu.Unlock()
		if len(b.suites) > 0 {
			x.binaries = append(x.binaries, b)
		}
		err = errors.Join(err, failure)
	})
	slices.SortFunc(x.binaries, func(a, b *binary) int { return cmp.Compare(a.suites[0].cost, b.suites[0].cost) })
	return err
}

// testBinaries returns all packages with tests, and what these depend on.
func testBinaries() (list []*binary, err error) {
	module, err := output("", "go", "list", "-m")
	if err != nil {
		return nil, err
	}
	prefix := strings.TrimSpace(string(module)) + "/"
	text, err := exec.Command("go", "list", "-test", "-json=ImportPath,Deps", "./...").Output()
	for d := json.NewDecoder(bytes.NewReader(text)); err == nil && d.More(); {
		var p struct {
			ImportPath string
			Deps       []string
		}
		err = d.Decode(&p)
		name, isTest := strings.CutSuffix(strings.TrimPrefix(p.ImportPath, prefix), ".test")
		if !isTest {
			continue
		}
		b := &binary{Package: name, deps: map[string]bool{}}
		for _, dep := range p.Deps {
			dep, _, _ = strings.Cut(dep, " ")
			b.deps[strings.TrimPrefix(dep, prefix)] = true
		}
		list = append(list, b)
	}
	return list, err
}

// prepare builds a binary and sorts its tests into suites, each of which passes.
func (x *matrix) prepare(b *binary, tests *regexp.Regexp) error {
	if files, _ := filepath.Glob(filepath.Join(b.Package, "*_test.go")); !anyTest(files, b.Package, tests) {
		return nil
	}
	b.path = filepath.Join(x.dir, strings.ReplaceAll(b.Package, "/", "_"))
	_, err := output("", "go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", filepath.Join(x.dir, "overlay.json"), "-o", b.path, "./"+b.Package)
	if err != nil {
		return err
	}
	names, err := output(b.Package, b.path, "-test.list", "^(Test|Fuzz|Example)")
	if err != nil {
		return err
	}
	suites := make([]*suite, len(kinds))
	for _, name := range strings.Fields(string(names)) {
		if kind := kindOf(b.Package, name); tests.MatchString(b.Package + " " + name) {
			if suites[kind] == nil {
				suites[kind] = &suite{binary: b, kind: kind}
			}
			suites[kind].tests = append(suites[kind].tests, name)
		}
	}
	for _, s := range suites {
		if s != nil && s.settle() {
			b.suites = append(b.suites, s)
		}
	}
	return nil
}

func anyTest(files []string, pkg string, tests *regexp.Regexp) bool {
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)
	for _, f := range files {
		text, _ := os.ReadFile(f)
		for _, m := range declared.FindAllSubmatch(text, -1) {
			if tests.MatchString(pkg + " " + string(m[1])) {
				return true
			}
		}
	}
	return false
}

// kindOf returns the number of a test's kind; own tests stand for those above, too.
func kindOf(pkg, test string) int {
	for i, k := range kinds {
		if k.tests != nil && k.tests.MatchString(pkg+" "+test) {
			return i
		}
	}
	return len(kinds) - 2
}

// settle leaves out the tests that fail without a mistake, measures the rest, and
// reports whether any is left.
func (s *suite) settle() bool {
	for len(s.tests) > 0 {
		failed, cost := s.run(0)
		if failed == "" {
			s.cost = cost
			return true
		}
		fmt.Fprintf(os.Stderr, "%s %s fails without a mistake\n", s.binary.Package, failed)
		kept := slices.DeleteFunc(slices.Clone(s.tests), func(name string) bool { return name == failed })
		if len(kept) == len(s.tests) {
			return false
		}
		s.tests = kept
	}
	return false
}

var failing = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)

// run returns the first test that fails with a mistake, and the processor time.
func (s *suite) run(id int) (failed string, cost time.Duration) {
	seconds := 600
	if s.cost > 0 {
		seconds = int(math.Ceil(1 + 5*s.cost.Seconds()))
	}
	script := fmt.Sprintf(`ulimit -t %d && exec "$0" "$@"`, seconds)
	cmd := exec.Command("sh", "-c", script, s.binary.path, "-test.failfast", "-test.timeout=20m", "-test.run=^("+strings.Join(s.tests, "|")+")$")
	flags, _ := exec.Command(s.binary.path, "-help").CombinedOutput()
	for _, f := range fixed {
		if name, _, _ := strings.Cut(f, "="); strings.Contains(string(flags), "  "+name) {
			cmd.Args = append(cmd.Args, f)
		}
	}
	cmd.Dir = s.binary.Package
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", fmt.Sprintf("%s=%d", schemata.Variable, id))
	out, err := cmd.CombinedOutput()
	cost = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if m := failing.FindSubmatch(out); m != nil {
		return string(m[1]), cost
	} else if err != nil && bytes.Contains(out, []byte("panic: ")) {
		return "a panic", cost
	} else if err != nil {
		return "no end", cost
	}
	return "", cost
}

// judge runs all suites against a mistake, of each kind until one fails.
func (x *matrix) judge(id int) row {
	m := x.list[id-1]
	r := row{m.Title, map[string]string{}}
	folder := m.Hunks[0].Where
	for _, b := range x.binaries {
		if !b.deps[folder] {
			continue
		}
		for _, s := range b.suites {
			kind := s.kind
			if kind == len(kinds)-2 && b.Package != folder {
				kind++
			}
			name := kinds[kind].name
			if r.Caught[name] != "" && r.Caught[name] != "." {
				continue
			}
			r.Caught[name] = "."
			if failed, _ := s.run(id); failed != "" {
				r.Caught[name] = b.Package + " " + failed
			}
		}
	}
	return r
}

// String is a line of the table, with a letter for each kind that catches.
func (r row) String() string {
	var b strings.Builder
	for _, k := range kinds {
		switch by := r.Caught[k.name]; by {
		case "":
			b.WriteString("  ")
		case ".":
			b.WriteString(". ")
		default:
			b.WriteString(k.name[:1] + " ")
		}
	}
	return b.String() + " " + r.Title
}

// printSums prints how much each kind catches, and how much it catches alone.
func printSums(rows []row) {
	fmt.Printf("\n%-12s %8s %8s %8s\n", "kind", "made", "caught", "alone")
	none := 0
	for _, k := range kinds {
		made, caught, alone := 0, 0, 0
		for _, r := range rows {
			by := r.catching()
			if r.Caught[k.name] != "" {
				made++
			}
			if slices.Contains(by, k.name) {
				caught++
				if len(by) == 1 {
					alone++
					defer fmt.Printf("%s alone (%s): %s\n", k.name, r.Caught[k.name], r.Title)
				}
			}
		}
		fmt.Printf("%-12s %8d %8d %8d\n", k.name, made, caught, alone)
	}
	for _, r := range rows {
		if len(r.catching()) == 0 {
			none++
			defer fmt.Println("caught by none:", r.Title)
		}
	}
	fmt.Printf("%d mistakes, %d caught by none\n", len(rows), none)
}

func (r row) catching() (names []string) {
	for _, k := range kinds {
		if by := r.Caught[k.name]; by != "" && by != "." {
			names = append(names, k.name)
		}
	}
	return names
}
