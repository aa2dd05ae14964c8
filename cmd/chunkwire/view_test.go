package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func logFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "transfer.log")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

const oneEvent = "\x1e{\"title\":\"test\"}\n\x1e{\"time\":0,\"name\":\"chunkwire:connection_started\",\"data\":{}}\n"

func TestView(t *testing.T) {
	t.Parallel()
	name := logFile(t, oneEvent)
	printed := runCommand(t, nil, "view", name, name)
	if printed.code != exitOK || !strings.HasPrefix(printed.stdout, "<!doctype html>") || !strings.Contains(printed.stdout, "transfer.log and transfer.log") {
		t.Errorf("exit %d, %.200s", printed.code, printed.stdout)
	}
	out := filepath.Join(t.TempDir(), "page.html")
	if r := runCommand(t, nil, "view", name, name, "-o", out); r.code != exitOK || r.stdout != "" {
		t.Errorf("%+v", r)
	}
	if written, err := os.ReadFile(out); err != nil || string(written) != printed.stdout {
		t.Errorf("%v: the file and what is printed differ", err)
	}
}

func TestViewFailures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{nil, exitUsage, "usage: view wants one FILE or two"},
		{[]string{"a", "b", "c"}, exitUsage, "usage: view wants one FILE or two"},
		{[]string{filepath.Join(t.TempDir(), "missing")}, exitFailed, "no such file"},
		{[]string{logFile(t, "no log")}, exitFailed, "is not an event log"},
		{[]string{logFile(t, "")}, exitFailed, "is not an event log"},
		{[]string{logFile(t, oneEvent), "-o", filepath.Join(t.TempDir(), "missing", "page.html")}, exitFailed, "no such file"},
	} {
		if r := runCommand(t, nil, append([]string{"view"}, c.args...)...); r.code != c.code || !strings.Contains(r.stderr, c.says) {
			t.Errorf("%v: exit %d, %s", c.args, r.code, r.stderr)
		}
	}
}

// A log whose name ends with .gz is compressed, and makes the same page.
func TestCompressedLogs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var pages []string
	for _, folder := range []string{"plain", "compressed"} {
		name := filepath.Join(dir, folder, map[string]string{"plain": "one-world.log", "compressed": "one-world.log.gz"}[folder])
		if err := os.Mkdir(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if r := runCommand(t, nil, "simulate", "--seeds", "1", "--size", "8K", "--log", name); r.code != exitOK {
			t.Fatal(r.stderr)
		}
		r := runCommand(t, nil, "view", name)
		if r.code != exitOK {
			t.Fatal(r.stderr)
		}
		pages = append(pages, strings.ReplaceAll(r.stdout, filepath.Base(name), "NAME"))
	}
	if pages[0] != pages[1] {
		t.Error("the page of the compressed log differs")
	}
}
