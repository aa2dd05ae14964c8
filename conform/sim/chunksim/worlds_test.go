package chunksim

import (
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/soak"
	"github.com/chunkwire/chunkwire/core"
)

// Whatever happens to datagrams, processes and clocks, the machines keep what section 11 of PROTOCOL.md promises; and
// all that is counted happens.
func TestWorlds(t *testing.T) {
	t.Parallel()
	all := Worlds.Test(t, 200)
	for _, row := range Worlds.Rows {
		for _, count := range row.Counts {
			if all[count] == 0 {
				t.Errorf("%s: something never happened: %v", row.Name, all)
			}
		}
	}
}

// A seed is one world, and a log does not change it.
func TestAWorldIsItsSeed(t *testing.T) {
	t.Parallel()
	Worlds.TestSeed(t, 5)
}

// Where nothing gets through though the troubles are over, senders that give up are failures, and so is a world that does
// not end.
func TestStallsAreSeen(t *testing.T) {
	t.Parallel()
	cut := func(w *world) { w.BreakPaths() }
	for name, c := range map[string]struct {
		wants  string
		change func(w *world)
	}{
		"nothing":      {"", func(*world) {}},
		"cut for long": {"stalled", cut},
		"cut from a connection's begin": {"saw no fault", func(w *world) {
			cut(w)
			for _, e := range w.ends {
				e.giveUp = 3 * core.Second
				e.connect(2)
			}
		}},
		"never submitted": {"has 1 chunks to send", func(w *world) { w.ends[1].chunks++ }},
	} {
		w := calmWorld(t)
		w.At(w.badFor+2*settling+1, func() { c.change(w) })
		w.run()
		if _, err := w.Result(); (err == nil) != (c.wants == "") || err != nil && (!strings.Contains(err.Error(), "LIVE-2") || !strings.Contains(err.Error(), c.wants)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// calmWorld returns a world that is busy for long after the troubles.
func calmWorld(t *testing.T) *world {
	t.Helper()
	for seed := uint64(1); seed < 10_000; seed++ {
		w, err := newWorld(seed, soak.NewLog(false))
		if err != nil {
			t.Fatal(err)
		}
		if e := w.ends[0]; e.chunks > 20 && e.thinks > 3*core.Second && e.giveUp == 10*core.Second && e.peer.giveUp == e.giveUp && e.peer.chunks == 0 && w.badFor < 4*core.Second {
			return w
		}
	}
	t.Fatal("there is no such world")
	return nil
}
