// Command house checks the order of the house: who may import whom, how large each
// folder may grow, and that each package has a name of its own. The rules are in
// house.txt beside it.
//
//	go run ./tools/house            # check
//	go run ./tools/house -count     # and print the lines of each folder
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

func main() {
	count := flag.Bool("count", false, "print the lines of each folder")
	flag.Parse()
	if err := run(os.Stdout, *count); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(w io.Writer, count bool) error {
	text, err := os.ReadFile("tools/house/house.txt")
	if err != nil {
		return fmt.Errorf("run it in the root of the repository: %w", err)
	}
	rules, err := parse(string(text))
	if err != nil {
		return err
	}
	packages, err := list()
	if err != nil {
		return err
	}
	lines, err := rules.measure(os.DirFS("."))
	if err != nil {
		return err
	}
	if count {
		print(w, rules, lines)
	}
	top, err := topFolders()
	if err != nil {
		return err
	}
	problems := slices.Concat(rules.imports(packages), rules.names(packages), rules.sizes(lines), rules.top(top))
	if len(problems) > 0 {
		return errors.New(strings.Join(problems, "\n"))
	}
	return nil
}

// a source is a package, as the go command lists it, with paths inside the module.
type source struct {
	Path, Name string
	Imports    []string // of ours by their folders, of others by their whole paths
}

// list returns the packages of the module.
func list() (all []source, err error) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Name,Imports,Module", "./...").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for in := json.NewDecoder(bytes.NewReader(out)); in.More(); {
		var p struct {
			ImportPath, Name string
			Imports          []string
			Module           struct{ Path string }
		}
		if err := in.Decode(&p); err != nil {
			return nil, err
		}
		s := source{Path: strings.TrimPrefix(p.ImportPath, p.Module.Path+"/"), Name: p.Name}
		for _, i := range p.Imports {
			s.Imports = append(s.Imports, strings.TrimPrefix(i, p.Module.Path+"/"))
		}
		all = append(all, s)
	}
	return all, nil
}

// topFolders returns the folders at the top that are in the repository.
func topFolders() (all []string, err error) {
	out, err := exec.Command("git", "ls-tree", "-d", "--name-only", "HEAD").Output()
	for name := range strings.FieldsSeq(string(out)) {
		if !strings.HasPrefix(name, ".") {
			all = append(all, name)
		}
	}
	return all, err
}

// lines are the lines of Go in a folder, without those of the rows inside it.
type lines struct{ code, tests int }

// measure counts the lines of each row.
func (r *rules) measure(tree fs.FS) (map[string]lines, error) {
	all := map[string]lines{}
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".go" {
			return err
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		row := r.rowOf(path.Dir(filepath.ToSlash(name)))
		if row == nil {
			return nil
		}
		n, l := bytes.Count(text, []byte("\n")), all[row.folder]
		if strings.HasSuffix(name, "_test.go") {
			l.tests += n
		} else {
			l.code += n
		}
		all[row.folder] = l
		return nil
	})
	return all, err
}

func print(w io.Writer, r *rules, all map[string]lines) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "folder\tkind\tcode\tat most\ttests\t")
	sums := map[string]lines{}
	for _, row := range r.rows {
		l, sum := all[row.folder], sums[row.kind]
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t\n", row.folder, row.kind, l.code, row.most, l.tests)
		sums[row.kind] = lines{sum.code + l.code, sum.tests + l.tests}
	}
	for _, kind := range kinds {
		fmt.Fprintf(t, "all\t%s\t%d\t\t%d\t\n", kind, sums[kind].code, sums[kind].tests)
	}
	t.Flush()
	fmt.Fprintf(w, "apparatus / product: %.2f\n", float64(sums["apparatus"].code)/float64(sums["product"].code))
}
