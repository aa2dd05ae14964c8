package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/soak"
)

// Small worlds, with one to three peers. The command runs crowded ones too.
func TestSmallWorlds(t *testing.T) {
	worlds := uint64(300)
	if testing.Short() || raceDetector {
		worlds = 60
	}
	var all soak.Counts
	for seed := uint64(1); seed <= worlds; seed++ {
		w := newWorld(seed, soak.NewLog(false))
		if w.conditions.peers > 3 {
			continue
		}
		w.run()
		all.Add(&w.Counts)
		if _, err := w.Result(); err != nil {
			t.Fatalf("seed %d: %v\nrepeat: go run ./fuzz/storm --seed %d --verbose", seed, err, seed)
		}
	}
	for _, row := range chunks.Rows {
		for _, count := range row.Counts {
			if all[count] == 0 {
				t.Errorf("%s: something never happened: %+v", row.Name, all)
			}
		}
	}
}

// Each seed also has a world of channels and one of whole connections, and of several flows if
// that is asked for; the packages of these test more of them, and their judges.
func TestWorldsOfOtherKinds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, want string }{
		{"--worlds 20 --only channels", "channels      20 worlds"},
		{"--worlds 8 --only connections", "whole         8 worlds"},
		{"--from 19 --worlds 2 --only flows", "flows         2 worlds"},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(strings.Fields(c.args), &stdout, &stderr); code != 0 {
			t.Errorf("%s ends with %d: %s%s", c.args, code, &stdout, &stderr)
		}
		if text := stdout.String(); !strings.Contains(text, c.want) || strings.Contains(text, "worlds  ") {
			t.Errorf("%s prints\n%s", c.args, text)
		}
	}
	for _, k := range kinds[1:] {
		log := soak.NewLog(true)
		if _, err := k.Run(19, log); err != nil || len(log.Latest(nil, 4)) < 4 {
			t.Errorf("%s: %v, %q", k.Name, err, log.Latest(nil, 4))
		}
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
	_, _ = chunks.Run(5, a)
	_, _ = chunks.Run(6, b)
	if a.Hash == b.Hash {
		t.Error("two seeds give the same world")
	}
	chunks.TestSeed(t, 5)
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
	log := soak.NewLog(true)
	w := newWorld(3, log)
	w.At(1000, func() { panic("a machine's") })
	w.run()
	if _, err := w.Result(); err == nil || err.Error() != "at 0.001000 s: panic: a machine's" {
		t.Errorf("failed with %v", err)
	}
	if text := strings.Join(log.Latest(nil, logged), "\n"); !strings.Contains(text, "begins connection 1") || !strings.Contains(text, "conditions: ") {
		t.Errorf("it logs %s", text)
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
		_, err := w.Result()
		var f *failure
		if !errors.As(err, &f) || f.Rule != "LIVE-2" || !strings.Contains(f.Text, c.wants) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// calmWorld returns a world without faults from the beginning, and busy.
func calmWorld(t *testing.T) *world {
	t.Helper()
	for seed := uint64(1); seed < 1000; seed++ {
		w := newWorld(seed, soak.NewLog(false))
		e := w.pairs[0].ends[0]
		if w.conditions.peers == 1 && e.chunks > 20 && e.thinks > second && e.giveUp == 10*second && e.peer.giveUp == e.giveUp && e.peer.chunks == 0 {
			w.GoodAt = 0
			w.endFaults()
			return w
		}
	}
	t.Fatal("there is no such world")
	return nil
}
