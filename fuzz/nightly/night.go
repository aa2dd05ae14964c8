package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// campaign is a night at work.
type campaign struct {
	options
	root     string
	commit   string
	plans    []*plan
	binaries map[string]string
	out      io.Writer
	start    time.Time
	finds    int
	problem  error // a target or package that could not go on; the others did
}

// night fuzzes the targets of the module at root and returns the exit code.
func night(ctx context.Context, root string, o options, out io.Writer) (int, error) {
	dir, err := os.MkdirTemp("", "nightly-*")
	if err != nil {
		return exitProblem, err
	}
	defer os.RemoveAll(dir)
	c, err := prepare(root, dir, o, out)
	if err == nil {
		err = c.run(ctx)
	}
	switch {
	case err != nil:
		return exitProblem, err
	case c.finds > 0:
		return exitFind, c.problem
	case c.problem != nil:
		return exitProblem, c.problem
	}
	return exitClean, nil
}

func prepare(root, dir string, o options, out io.Writer) (*campaign, error) {
	c := &campaign{options: o, root: root, commit: commit(root, o.record, o.finds), out: out, start: time.Now()}
	targets, problem := findTargets(root, o.targets)
	if len(targets) == 0 {
		return nil, errors.Join(errors.New("there is no such target"), problem)
	}
	c.problem = problem
	var err error
	if c.corpus, err = corpusFolder(o.corpus); err != nil {
		return nil, err
	}
	c.say("%s: %d targets, %s executions", c.commit, len(targets), thousands(o.total))
	if c.binaries, err = build(root, dir, targets); err != nil {
		return nil, err
	}
	var known table
	if o.resume {
		if known, err = readRecord(o.record); err != nil {
			return nil, err
		}
	}
	for _, t := range targets {
		c.plans = append(c.plans, &plan{target: t, before: known.executions(c.commit, t.String())})
	}
	return c, nil
}

// corpusFolder is an absolute name, since targets run in their own folders.
func corpusFolder(name string) (string, error) {
	if name == "" {
		return corpusDir()
	}
	return filepath.Abs(name)
}

func (c *campaign) run(ctx context.Context) error {
	left := c.total
	for _, p := range c.plans {
		left -= p.before
	}
	for _, p := range c.plans {
		if err := c.calibrate(ctx, p, left/int64(4*len(c.plans))); err != nil {
			return err
		}
	}
	share(c.plans, c.total, c.power)
	for p := next(c.plans); p != nil && !c.over(ctx); p = next(c.plans) {
		if err := c.slice(ctx, p, sliceOf(p, c.options.slice)); err != nil {
			return err
		}
	}
	c.summarize()
	return nil
}

// over reports whether no further slice may begin.
func (c *campaign) over(ctx context.Context) bool {
	return ctx.Err() != nil || c.limit > 0 && time.Since(c.start) >= c.limit
}

// enough is how long a slice must take for its speed to be believed.
const enough = 2 * time.Second

// calibrate measures a target's speed by slices that grow until one of them takes
// long enough, or most executions are done. They count.
func (c *campaign) calibrate(ctx context.Context, p *plan, most int64) error {
	for n := int64(smallest); !c.over(ctx) && !p.rests && p.done < most; n *= 4 {
		p.budget = p.before + most
		if err := c.slice(ctx, p, max(min(n, most-p.done), smallest)); err != nil || p.took >= enough {
			return err
		}
	}
	return nil
}

// futile is how many slices without any execution a target may have one after the
// other. The first may be spent on the corpus, whose size is not known before.
const futile = 3

// slice runs one slice of a target and puts it on record.
func (c *campaign) slice(ctx context.Context, p *plan, n int64) error {
	for range futile {
		r, err := slice{p.target, c.binaries[p.pkg], filepath.Join(c.corpus, filepath.FromSlash(p.pkg)),
			n + p.warmup, minimizing(p), c.parallel, c.hang}.run(ctx)
		if err != nil {
			return err
		}
		p.warmup = r.warmup
		if err := c.note(p, r); err != nil {
			return err
		}
		if r.counted() > 0 || p.rests || c.over(ctx) {
			return nil
		}
	}
	p.rests = true
	c.problem = errors.Join(c.problem, fmt.Errorf("%s executes nothing", p))
	return nil
}

// note takes in what a slice did: counts, finds, the record.
func (c *campaign) note(p *plan, r result) error {
	p.done += r.counted()
	p.fresh += r.interesting
	p.took = r.took
	if r.counted() >= smallest || p.speed == 0 {
		p.speed = float64(r.counted()) / max(r.took.Seconds(), 0.001)
	}
	found := 0
	if r.verdict == isFind {
		found = 1
	}
	p.finds += found
	c.finds += found
	c.progress(p, r)
	if c.record != "" {
		row := row{c.commit, p.String(), r.counted(), r.interesting, found}
		if err := addToRecord(c.record, row); err != nil {
			return err
		}
	}
	if found == 0 {
		return nil
	}
	p.rests = true
	dir, err := keep(c, p, r)
	if err == nil {
		c.say("FOUND  %s: see %s", p, filepath.Join(dir, "find.md"))
	}
	return err
}

func (c *campaign) progress(p *plan, r result) {
	note := ""
	if r.verdict == nothing {
		note = ", ended early without a reason"
	}
	c.say("%-28s %12s of %s (%d%%), %s/s, %d new, corpus %d%s", p, thousands(p.sum()), thousands(p.budget),
		100*p.sum()/max(p.budget, 1), thousands(int64(p.speed)), p.fresh, r.warmup+int64(r.interesting), note)
}

func (c *campaign) summarize() {
	var done, before int64
	fresh := 0
	for _, p := range c.plans {
		done += p.done
		before += p.before
		fresh += p.fresh
	}
	c.say("%s executions of %d targets in %s (%s before), %d new entries, %d finds",
		thousands(done), len(c.plans), time.Since(c.start).Round(time.Second), thousands(before), fresh, c.finds)
}

func (c *campaign) say(format string, args ...any) { fmt.Fprintf(c.out, format+"\n", args...) }

// thousands writes a number with commas.
func thousands(n int64) string {
	s := fmt.Sprint(n)
	var b strings.Builder
	for i, digit := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	return b.String()
}
