package main

import (
	"bytes"
	"strings"
	"testing"
)

// Small worlds, with one to three peers. The command runs crowded ones too.
func TestSmallWorlds(t *testing.T) {
	worlds := uint64(300)
	if testing.Short() || raceDetector {
		worlds = 60
	}
	var all counts
	for seed := uint64(1); seed <= worlds; seed++ {
		w := newWorld(seed, false)
		if w.conditions.peers > 3 {
			continue
		}
		w.run()
		all.add(w.counts)
		if w.failure != nil {
			t.Fatalf("seed %d: %v\nrepeat: go run ./fuzz/storm --seed %d --verbose", seed, w.failure, seed)
		}
	}
	for i, fault := range faults {
		if all.faults[i] == 0 {
			t.Errorf("no world had %s", fault.name)
		}
	}
	for _, n := range all.numbers() {
		if n == 0 {
			t.Errorf("something never happened: %+v", all)
		}
	}
}

// Each seed has a world of channels; conform/sim/channel tests more of them.
func TestWorldsOfChannels(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	if code := run([]string{"--worlds", "20", "--only", "channels"}, &stdout, &stderr); code != 0 {
		t.Fatalf("ends with %d: %s%s", code, &stdout, &stderr)
	}
	if text := stdout.String(); !strings.Contains(text, "worlds        0,") || !strings.Contains(text, "channels      20 worlds") {
		t.Errorf("it prints\n%s", text)
	}
	l := newLog(true)
	if _, err := runChannels(1, l); err != nil || l.count < 100 {
		t.Errorf("%d lines, %v", l.count, err)
	}
}

// Each seed has a world of whole connections; conform/sim/connection tests more of them.
func TestWorldsOfConnections(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	if code := run([]string{"--worlds", "8", "--only", "connections"}, &stdout, &stderr); code != 0 {
		t.Fatalf("ends with %d: %s%s", code, &stdout, &stderr)
	}
	if text := stdout.String(); !strings.Contains(text, "channels      0 worlds") || !strings.Contains(text, "whole         8 worlds") {
		t.Errorf("it prints\n%s", text)
	}
	l := newLog(true)
	if _, err := runConnections(1, l); err != nil || l.count < 10 {
		t.Errorf("%d lines, %v", l.count, err)
	}
}

// Worlds of several flows; conform/sim/flows/crowd tests more of them, and its judges.
func TestWorldsOfFlows(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	if code := run([]string{"--from", "19", "--worlds", "2", "--only", "flows"}, &stdout, &stderr); code == 2 {
		t.Fatalf("ends with %d: %s%s", code, &stdout, &stderr)
	}
	if text := stdout.String(); !strings.Contains(text, "flows         2 worlds") || !strings.Contains(text, "worlds        0,") {
		t.Errorf("it prints\n%s", text)
	}
	l := newLog(true)
	if _, _ = runFlows(19, l); l.count < 4 {
		t.Errorf("%d lines", l.count)
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
	a, b := newWorld(5, true), newWorld(6, false)
	a.run()
	b.run()
	if a.log.hash == b.log.hash {
		t.Error("two seeds give the same world")
	}
	c := newWorld(5, false)
	if c.run(); a.log.hash != c.log.hash {
		t.Error("a log changes the world")
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]int{
		"--help": 0, "--seed x": 2, "--verbose": 2, "--for -1s": 2, "more": 2, "--worlds -1": 2, "--only packets": 2,
		"--seed 3 --verbose": 0, "--seed 3 --verbose --only channels": 0, "--seed 3 --verbose --only connections": 0,
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

// A panic of a machine is a failure, and a failure says where it happened.
func TestFailuresAreReported(t *testing.T) {
	t.Parallel()
	w := newWorld(3, true)
	w.At(1000, func() { panic("a machine's") })
	w.run()
	if w.failure == nil || w.failure.Rule != "panic" || !strings.Contains(w.failure.Error(), "a machine's") {
		t.Errorf("failed with %v", w.failure)
	}
	var out bytes.Buffer
	w.print(&out)
	if !strings.Contains(out.String(), "begins connection 1") || !strings.Contains(out.String(), "panic at 0.001000 s") {
		t.Errorf("it prints %s", &out)
	}
}

// Where nothing gets through though the faults have ended, senders that give up are
// failures, and so is a world that does not end.
func TestStallsAreSeen(t *testing.T) {
	t.Parallel()
	cut := func(w *world) {
		for _, e := range w.pairs[0].ends {
			setPath(e.link, outagePath)
		}
	}
	for name, c := range map[string]struct {
		wants  string
		change func(w *world)
	}{
		"cut for long": {"stalled", cut},
		"cut from a connection's begin": {"saw no fault", func(w *world) {
			cut(w)
			for _, e := range w.pairs[0].ends {
				e.giveUp = 3 * second
				e.connect(2)
			}
		}},
		"never submitted": {"not all is delivered", func(w *world) { w.pairs[0].ends[1].chunks++ }},
	} {
		w := calmWorld(t)
		w.At(settling+1, func() { c.change(w) })
		w.run()
		if w.failure == nil || w.failure.Rule != "LIVE-2" || !strings.Contains(w.failure.Text, c.wants) {
			t.Errorf("%s: %v", name, w.failure)
		}
	}
}

// calmWorld returns a world without faults from the beginning, and busy.
func calmWorld(t *testing.T) *world {
	t.Helper()
	for seed := uint64(1); seed < 1000; seed++ {
		w := newWorld(seed, false)
		e := w.pairs[0].ends[0]
		if w.conditions.peers == 1 && e.chunks > 20 && e.thinks > second && e.giveUp == 10*second && e.peer.giveUp == e.giveUp && e.peer.chunks == 0 {
			w.endFaults()
			return w
		}
	}
	t.Fatal("there is no such world")
	return nil
}
