package crowd

import (
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/conform/sim/flows/tcp"
	"github.com/chunkwire/chunkwire/conform/soak"
	"github.com/chunkwire/chunkwire/netsim"
)

var worlds = flag.Int("crowd.worlds", 16, "worlds of several flows")

// Worlds that fail, 4 of the first 16: the link's queue drops 10.5 to 11.4 % of what is sent, where a tenth is allowed,
// since the shares are of few slices (RECOVERY.md, what is not met). One that is mended leaves the list.
var mayFail = map[uint64]bool{2: true, 7: true, 11: true, 14: true}

// Random worlds; the command fuzz/storm runs more of them.
func TestWorlds(t *testing.T) {
	var all soak.Counts
	for seed := range uint64(*worlds) {
		counts, err := Worlds.Run(seed, soak.NewLog(false))
		all.Add(&counts)
		switch {
		case err != nil && mayFail[seed]:
			t.Logf("open: %v", err)
		case err == nil && mayFail[seed]:
			t.Errorf("world %d passes: take it off mayFail", seed)
		case err != nil:
			t.Errorf("%v\nrepeat: go run ./fuzz/storm --only flows --seed %d --verbose", err, seed)
		}
	}
	t.Logf("%+v", all)
}

// A seed gives one scenario, and a scenario one world.
func TestSeedsRepeat(t *testing.T) {
	for seed := range uint64(200) {
		check.Equal(t, "scenario", Draw(seed).String(), Draw(seed).String())
	}
	Worlds.TestSeed(t, 3)
}

// All that can be drawn is, in some seeds, and what is drawn is valid.
func TestWhatIsDrawn(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(1000) {
		s := Draw(seed)
		check.Same(t, "the good path", s.Good.Validate(), nil)
		check.That(t, s.Good.Loss == 0, "it loses nothing at random")
		for _, x := range s.Bad {
			check.Same(t, "a bad path", x.Down.Validate(), nil)
			check.Same(t, "its way back", x.Up.Validate(), nil)
		}
		count := func(what string, is bool) {
			if is {
				seen[what]++
			}
		}
		for _, o := range s.Ours {
			count("repair", o.Repair)
			count("both ways", o.BothWays)
			count("now and then", o.Every > 0)
			count("small chunks", o.ChunkSize < codec.MaxChunkSize)
		}
		count("one flow", len(s.Ours) == 1)
		count("ten flows", len(s.Ours) == 10)
		count("jitter", s.Good.Jitter > 0)
		count("policer", s.Good.PoliceRate > 0)
		count("no bad path", len(s.Bad) == 0)
		for _, c := range s.Beside {
			count(c.Model.String(), true)
		}
	}
	check.Equal(t, "kinds", len(seen), 9+4)
	for what, n := range seen {
		if n < 10 {
			t.Errorf("%s: %d times in 1000", what, n)
		}
	}
}

// two is two flows on a path with room for them, or without what a change takes away.
func two(change func(s *Scenario)) *world {
	s := &Scenario{Alike: true, Ours: []Ours{{Lanes: 8, ChunkSize: codec.MaxChunkSize}, {Lanes: 8, ChunkSize: codec.MaxChunkSize}}}
	s.Good = netsim.Path{Rate: 1_000_000, Delay: 20 * time.Millisecond, Queue: 20 * full, Overhead: headers}
	if change != nil {
		change(s)
	}
	return &world{Scenario: s, failed: make([]bool, len(s.Ours))}
}

// Each judge can object, and looks only where it may.
func TestWhatJudgesSay(t *testing.T) {
	sent := func(queue, policer int64) flows.Figures {
		return flows.Figures{Total: flows.Counts{Sent: 1000, LostQueue: queue, LostPolicer: policer}}
	}
	log := func(string, ...any) {}
	load := func(f flows.Figures) func(w *world) error { return func(w *world) error { return w.judgeLoad(0, f) } }
	shares := func(jain float64) func(w *world) error {
		return func(w *world) error { return w.judgeShares(flows.Figures{Shares: []int64{1, 2}, Jain: jain}) }
	}
	speed := func(use float64) func(w *world) error {
		return func(w *world) error { return w.judgeSpeed(flows.Figures{Use: use}, log) }
	}
	for _, c := range []struct {
		name   string
		change func(s *Scenario)
		judge  func(w *world) error
		want   string // what the judge says; nothing: it is content
	}{
		{"a queue that drops", nil, load(sent(101, 0)), "load: the queue of link 0 drops 10.1 %"},
		{"a queue that drops less", nil, load(sent(100, 0)), ""},
		{"a queue without room", func(s *Scenario) { s.Good.Queue = 7 * full }, load(sent(900, 0)), ""},
		{"a policer that drops", nil, load(sent(0, 301)), "load: the policer of link 0 drops 30.1 %"},
		{"a policer that drops less", nil, load(sent(0, 300)), ""},
		{"nothing was sent", nil, load(flows.Figures{}), ""},
		{"unfair", nil, shares(0.79), "shares: [1 2]: Jain's index is 0.790"},
		{"fair", nil, shares(0.81), ""},
		{"flows of several kinds", func(s *Scenario) { s.Alike = false }, shares(0.5), ""},
		{"a flow that pauses", func(s *Scenario) { s.Ours[0].Every = second }, shares(0.5), ""},
		{"a policer", func(s *Scenario) { s.Good.PoliceRate = 1 }, shares(0.5), ""},
		{"slow", nil, speed(0.59), "speed: use of the link is 0.590"},
		{"not slow", nil, speed(0.61), ""},
		{"jitter", func(s *Scenario) { s.Good.Jitter = 1 }, speed(0.1), ""},
		{"one lane each", func(s *Scenario) { s.Ours[0].Lanes, s.Ours[1].Lanes = 1, 1 }, speed(0.1), ""},
	} {
		err := c.judge(two(c.change))
		if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: the judge says %v, want %q", c.name, err, c.want)
		}
	}
}

// hopeless is a path that loses all from its beginning, and flows whose time to give up is
// after the time in which a bad path excuses that.
func hopeless() *Scenario {
	s := two(nil).Scenario
	s.Bad = []Stretch{{Long: second, Down: s.Good, Up: s.Good}, {Long: second, Down: s.Good, Up: s.Good}}
	s.Beside = []tcp.Config{{}, {Model: tcp.Turbo}}
	s.Good.Loss = 100
	for i := range s.Ours {
		s.Ours[i].Start = 6 * second
	}
	return s
}

func TestAFlowThatGivesUp(t *testing.T) {
	_, err := hopeless().Run(nil)
	check.That(t, err != nil && strings.HasPrefix(err.Error(), "delivery: flow 0 failed on a good path"), "the judge objects")
	s := hopeless()
	s.Ours[0].Start, s.Ours[1].Start = 0, 0
	_, err = s.Run(nil)
	check.Equal(t, "excused", err, nil)
}

// A scenario that fails shrinks to what it takes.
func TestShrink(t *testing.T) {
	s := hopeless().Shrink()
	check.Equal(t, "flows", len(s.Ours), 1)
	check.Equal(t, "lanes", s.Ours[0].Lanes, 1)
	check.Equal(t, "bad paths", len(s.Bad), 0)
	check.Equal(t, "models beside", len(s.Beside), 0)
	check.Equal(t, "which fails", s.fails(), "delivery")
}
