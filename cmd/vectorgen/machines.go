package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/script"
)

// This file has the machines that are declared for package conform.

// machine adds a trace of a machine.
func machine(op *conform.Op) func(*group, script.Script) error {
	return func(g *group, s script.Script) error {
		p, err := op.Run(s.Lines)
		if err != nil {
			return err
		}
		if err := errors.Join(g.expects(s, p), namesRows(g.file.Group+"/"+s.Name, s.Sentences, slices.Concat(p.Rows...))); err != nil {
			return err
		}
		g.addScript(s, asJSON(op.Request(p.Config, p.Events)), asJSON(conform.Steps{OK: true, Steps: p.Steps}))
		return nil
	}
}

// expects checks that a script expects the actual result, or rewrites it, if it is named.
func (g *group) expects(s script.Script, p *conform.Played) error {
	if g.rewrite == nil || !slices.Contains(g.rewrite.names, g.file.Group+"/"+s.Name) {
		return p.Wrong()
	}
	return g.rewrite.script(g.file.Group, s.Name, p)
}

// rewriting are the scripts whose expectations are rewritten: those that are named, never all.
type rewriting struct {
	dir   string // of the archives
	names []string
}

func (r *rewriting) script(group, name string, p *conform.Played) error {
	path := filepath.Join(r.dir, group+".txtar")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(p.Rewrite(string(text), name)), 0o644)
}

// current fails if an archive is not the one that this binary was built with: the lines that are
// replaced would not be those that were run.
func (r *rewriting) current() error {
	for _, name := range r.names {
		group, _, _ := strings.Cut(name, "/")
		built, err := testvectors.Traces.ReadFile("traces/" + group + ".txtar")
		if err != nil {
			continue // exist says so
		}
		text, err := os.ReadFile(filepath.Join(r.dir, group+".txtar"))
		if err != nil {
			return err
		}
		if !bytes.Equal(text, built) {
			return fmt.Errorf("%s.txtar has changed since vectorgen was built: run it by go run ./cmd/vectorgen", group)
		}
	}
	return nil
}

// exist fails if no script has a name.
func (r *rewriting) exist(groups []testvectors.File) error {
	if r == nil {
		return nil
	}
	for _, name := range r.names {
		if !slices.ContainsFunc(groups, func(f testvectors.File) bool {
			return slices.ContainsFunc(f.Vectors, func(v testvectors.Vector) bool { return v.Name == name })
		}) {
			return fmt.Errorf("%w: --rewrite: no script %q", errUsage, name)
		}
	}
	return nil
}
