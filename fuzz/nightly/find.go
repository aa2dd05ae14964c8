package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	"github.com/chunkwire/chunkwire/fuzz"
)

// find is what is told of a find.
type find struct {
	Target, Name, Package, Folder, Commit string

	Input   string // the reproducer's name, or that of a seed in the code
	New     bool   // the reproducer is no seed yet
	Again   string // the command that repeats it
	Drawing string
	Log     string // the end of it
}

// keep writes a find down in a folder of its own: find.md for people, with the
// drawing; the reproducer, as Go's fuzzer writes it; the whole log.
func keep(c *campaign, p *plan, r result) (dir string, err error) {
	f := find{Target: p.String(), Name: p.name, Package: "./" + p.inside, Folder: path.Join(p.inside, "testdata/fuzz", p.name), Commit: c.commit, Log: tail(r.log)}
	file, input, err := reproduction(c, p, r)
	if err != nil {
		return "", err
	}
	f.New = r.reproducer != ""
	f.Input = filepath.Base(file)
	f.Again = fmt.Sprintf("go test %s -run '^%s$/^%s$'", f.Package, p.name, f.Input)
	if bytes.Contains(r.log, []byte("fuzzing process hung")) {
		f.Again += " -timeout 1m"
	}
	if f.Input == "." { // no input is known: it fails by itself
		f.Input = "failure"
		f.Again = fmt.Sprintf("go test %s -run '^$' -fuzz '^%s$' -fuzztime %dx", f.Package, p.name, p.done+p.warmup+smallest)
	}
	dir = filepath.Join(c.options.finds, p.name+"-"+strings.ReplaceAll(f.Input, "#", "-"))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if input != nil {
		kept := filepath.Join(dir, f.Input)
		if err := os.WriteFile(kept, input, 0o644); err != nil {
			return "", err
		}
		f.Drawing = draw(c.root, p.name, kept)
	}
	var page bytes.Buffer
	if err := findPage.Execute(&page, f); err != nil {
		return "", err
	}
	return dir, errors.Join(
		os.WriteFile(filepath.Join(dir, "find.md"), page.Bytes(), 0o644),
		os.WriteFile(filepath.Join(dir, "log.txt"), r.log, 0o644))
}

// reproduction returns the name and content of the input that fails; no content
// for a seed that is in the code, and no name when nobody knows what failed.
func reproduction(c *campaign, p *plan, r result) (name string, content []byte, err error) {
	switch {
	case r.reproducer != "":
		name = filepath.Join(p.dir, r.reproducer)
	case r.seed != "":
		name = filepath.Join(p.dir, "testdata", "fuzz", filepath.FromSlash(r.seed))
	default:
		return "", nil, nil
	}
	content, err = os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) && r.reproducer == "" {
		return name, added(p.name, filepath.Base(name)), nil
	}
	return name, content, err
}

// added returns a seed that the target adds itself, such as "seed#3", as a file, or
// nothing if the target is none of package fuzz.
func added(name, seed string) []byte {
	var number int
	if _, err := fuzz.Find(name); err != nil {
		return nil
	}
	if _, err := fmt.Sscanf(seed, "seed#%d", &number); err != nil {
		return nil
	}
	if seeds := fuzz.Seeds(name); number < len(seeds) {
		return fuzz.FormatInput(seeds[number])
	}
	return nil
}

// draw returns the input as people read it, or as Go writes it when nothing knows
// how to draw it.
func draw(root, name, file string) string {
	plain, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	file, err = filepath.Abs(file)
	if err != nil {
		return strings.TrimSpace(string(plain))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "run", "./fuzz/show", name, file)
	cmd.Dir = root
	out, _ := cmd.Output() // it fails as the target does
	if len(bytes.TrimSpace(out)) == 0 {
		return strings.TrimSpace(string(plain))
	}
	return strings.TrimSpace(string(out))
}

// tail is the end of a log, short enough to be read.
func tail(log []byte) string {
	const longest = 8000
	if len(log) > longest {
		log = log[len(log)-longest:]
		_, log, _ = bytes.Cut(log, []byte("\n"))
	}
	return string(log)
}

var findPage = template.Must(template.New("find").Parse(`# {{.Name}} fails on {{.Input}}

Commit {{.Commit}}, target ` + "`{{.Target}}`" + `. Fuzzing has no seed to repeat it by; the input repeats it.

{{if .New}}Put the file ` + "`{{.Input}}`" + `, which lies beside this one, into ` + "`{{.Folder}}/`" + ` and run{{else}}Run{{end}}

` + "```\n{{.Again}}\n```" + `
{{if .New}}
Once it is mended, commit the file: it stays a seed for good.
{{end}}{{with .Drawing}}
## What it is

` + "```\n{{.}}\n```" + `
{{end}}
## What the target said

` + "```\n{{.Log}}\n```" + `
`))
