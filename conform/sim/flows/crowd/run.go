package crowd

import (
	"fmt"

	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/conform/sim/flows/tcp"
	"github.com/chunkwire/chunkwire/core"
)

// WorldCounts are what happened in random worlds.
type WorldCounts struct {
	Worlds, Ours, Beside, Stretches, Failed   int64
	Chunks, Datagrams, LostQueue, LostPolicer int64
	ByLoad, ByShares, BySpeed, ByDelivery     int64 // worlds or flows that this judge looked at
	Time                                      core.Micros
}

// Add adds the counts of other worlds.
func (c *WorldCounts) Add(o WorldCounts) {
	for _, p := range []struct{ to, from *int64 }{
		{&c.Worlds, &o.Worlds}, {&c.Ours, &o.Ours}, {&c.Beside, &o.Beside}, {&c.Stretches, &o.Stretches}, {&c.Failed, &o.Failed},
		{&c.Chunks, &o.Chunks}, {&c.Datagrams, &o.Datagrams}, {&c.LostQueue, &o.LostQueue}, {&c.LostPolicer, &o.LostPolicer},
		{&c.ByLoad, &o.ByLoad}, {&c.ByShares, &o.ByShares}, {&c.BySpeed, &o.BySpeed}, {&c.ByDelivery, &o.ByDelivery},
	} {
		*p.to += *p.from
	}
	c.Time += o.Time
}

// world is a scenario under way.
type world struct {
	*Scenario
	*flows.World
	ours   []*flows.Chunks
	failed []bool      // before the path was good for long enough
	from   core.Micros // the path is good
	counts WorldCounts
}

// RunWorld runs the scenario of a seed, and fails with what is violated. Log, unless it is
// nil, is told the scenario and what the judges saw.
func RunWorld(seed uint64, log func(format string, args ...any)) (WorldCounts, error) {
	s := Draw(seed)
	counts, err := s.Run(log)
	if err != nil {
		err = fmt.Errorf("world %d: %w", seed, err)
	}
	return counts, err
}

// Run runs the scenario, and fails with what is violated. Log is like that of RunWorld.
func (s *Scenario) Run(log func(format string, args ...any)) (WorldCounts, error) {
	if log == nil {
		log = func(string, ...any) {}
	}
	log("%v", s)
	w, err := s.world()
	if err != nil {
		return WorldCounts{}, err
	}
	w.World.Run(w.from + givesUp)
	for _, f := range w.ours {
		w.failed = append(w.failed, f.Err() != nil)
	}
	w.World.Run(w.from + lasts)
	err = w.judge(log)
	w.count()
	return w.counts, err
}

// world returns the world before anything has happened.
func (s *Scenario) world() (*world, error) {
	path := flows.Path{Down: s.Good, Up: s.Good}
	at := core.Micros(0)
	for i, x := range s.Bad {
		if i == 0 {
			path.Down, path.Up = x.Down, x.Up
		}
		path.Changes = append(path.Changes, flows.Change{At: at, Down: x.Down, Up: x.Up})
		at += x.Long
	}
	from := s.goodFrom()
	path.Changes = append(path.Changes, flows.Change{At: from, Down: s.Good, Up: s.Good})
	f, err := flows.NewWorld(path, s.Seed)
	if err != nil {
		return nil, err
	}
	w := &world{Scenario: s, World: f, from: from}
	for _, o := range s.Ours {
		c, err := f.AddChunks("ours", o.options())
		if err != nil {
			return nil, err
		}
		w.ours = append(w.ours, c)
	}
	for _, c := range s.Beside {
		c.Stop = from
		sends, receives := tcp.New(c)
		f.Add(c.Model.String(), sends, receives)
	}
	return w, nil
}

// count counts what has happened.
func (w *world) count() {
	c := &w.counts
	c.Worlds, c.Ours, c.Beside, c.Stretches, c.Time = 1, int64(len(w.Ours)), int64(len(w.Beside)), int64(len(w.Bad)), w.Now()
	for i, f := range w.ours {
		if w.failed[i] {
			c.Failed++
		}
		c.Chunks += int64(len(f.Delivered(flows.Down)) + len(f.Delivered(flows.Up)))
		for _, side := range []int{flows.Down, flows.Up} {
			n := f.Counts(side, 0, w.Now())
			c.Datagrams += n.Sent
			c.LostQueue += n.LostQueue
			c.LostPolicer += n.LostPolicer
		}
	}
}
