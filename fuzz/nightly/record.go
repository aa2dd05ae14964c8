package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// row is what a target did at a commit, in all nights.
type row struct {
	commit, target string
	executions     int64
	fresh, finds   int
}

// table is the record: at most one row for a commit and a target.
type table []row

// The table's place in a file of prose.
const (
	recordBegins = "<!-- fuzz/nightly: begin -->\n"
	recordEnds   = "<!-- fuzz/nightly: end -->\n"
	recordHead   = "| Commit | Target | Executions | New entries | Finds |\n|---|---|--:|--:|--:|\n"
)

// executions returns what is on record for a target at a commit.
func (t table) executions(commit, target string) int64 {
	for _, r := range t {
		if r.commit == commit && r.target == target {
			return r.executions
		}
	}
	return 0
}

// add puts a row into the table, or its counts to the row that is there.
func (t table) add(more row) table {
	for i := range t {
		if r := &t[i]; r.commit == more.commit && r.target == more.target {
			r.executions += more.executions
			r.fresh += more.fresh
			r.finds += more.finds
			return t
		}
	}
	return append(t, more)
}

func (t table) String() string {
	var b strings.Builder
	b.WriteString(recordHead)
	var executions int64
	finds := 0
	for _, r := range t {
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %d |\n", r.commit, r.target, thousands(r.executions), r.fresh, r.finds)
		executions += r.executions
		finds += r.finds
	}
	fmt.Fprintf(&b, "\n%s executions, %d finds.\n", thousands(executions), finds)
	return b.String()
}

// parseTable reads what String writes.
func parseTable(text string) (t table, err error) {
	for line := range strings.Lines(strings.TrimPrefix(text, recordHead)) {
		if !strings.HasPrefix(line, "| ") {
			continue
		}
		var r row
		var executions string
		_, err := fmt.Sscanf(line, "| %s | %s | %s | %d | %d |", &r.commit, &r.target, &executions, &r.fresh, &r.finds)
		if err == nil {
			_, err = fmt.Sscan(strings.ReplaceAll(executions, ",", ""), &r.executions)
		}
		if err != nil {
			return nil, fmt.Errorf("the record's row %q: %w", strings.TrimSpace(line), err)
		}
		t = append(t, r)
	}
	return t, nil
}

// split takes a file apart: what stands before the table, the table, what follows.
func split(text string) (before string, t table, after string, err error) {
	before, rest, found := strings.Cut(text, recordBegins)
	if !found {
		return text, nil, "", nil
	}
	inner, after, found := strings.Cut(rest, recordEnds)
	if !found {
		return "", nil, "", errors.New("the record's table has no end")
	}
	t, err = parseTable(inner)
	return before, t, after, err
}

func readRecord(name string) (table, error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	_, t, _, err := split(string(text))
	return t, err
}

// addToRecord adds a row to the table of a file, which need not exist. Whoever
// interrupts it leaves the old file or the new one.
func addToRecord(name string, more row) error {
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	before, t, after, err := split(string(text))
	if err != nil {
		return err
	}
	news := before + recordBegins + t.add(more).String() + recordEnds + after
	aside, err := os.CreateTemp(filepath.Dir(name), ".record-*")
	if err != nil {
		return err
	}
	_, err = aside.WriteString(news)
	err = errors.Join(err, aside.Chmod(0o644), aside.Close())
	if err == nil {
		err = os.Rename(aside.Name(), name)
	}
	if err != nil {
		_ = os.Remove(aside.Name())
	}
	return err
}
