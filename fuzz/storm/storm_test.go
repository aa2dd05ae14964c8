package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/soak"
)

// Each seed has a world; its package tests more of them, and their judges.
func TestWorlds(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	if code := run([]string{"--worlds", "8"}, &stdout, &stderr); code != 0 || !strings.Contains(stdout.String(), "whole         8 worlds") {
		t.Errorf("it ends with %d: %s%s", code, &stdout, &stderr)
	}
	log := soak.NewLog(true)
	if _, err := worlds.Run(19, log); err != nil || len(log.Latest(4)) < 4 {
		t.Errorf("%v, %q", err, log.Latest(4))
	}
}

// The same seed gives the same world, to the last datagram.
func TestSeedsRepeat(t *testing.T) {
	t.Parallel()
	output := func() string {
		var stdout, stderr bytes.Buffer
		if code := run([]string{"--from", "5", "--worlds", "6"}, &stdout, &stderr); code != 0 {
			t.Fatalf("ends with %d: %s%s", code, &stdout, &stderr)
		}
		return stdout.String()
	}
	first, second := output(), output()
	if first != second || !strings.Contains(first, "trace ") {
		t.Errorf("first\n%s\nthen\n%s", first, second)
	}
	a, b := soak.NewLog(true), soak.NewLog(false)
	_, _ = worlds.Run(5, a)
	_, _ = worlds.Run(6, b)
	if a.Hash == b.Hash {
		t.Error("two seeds give the same world")
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]int{
		"--help": 0, "--seed x": 2, "--verbose": 2, "--for -1s": 2, "more": 2, "--worlds -1": 2,
		"--seed 3 --verbose": 0,
	} {
		var stdout, stderr bytes.Buffer
		if code := run(strings.Fields(args), &stdout, &stderr); code != want {
			t.Errorf("%q ends with %d, not %d: %s", args, code, want, &stderr)
		}
		if want == 2 && stderr.Len() == 0 || args == "--help" && !strings.Contains(stderr.String(), "Exit codes") {
			t.Errorf("%q says %q", args, &stderr)
		}
	}
}
