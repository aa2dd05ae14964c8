package crowd

import (
	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/conform/sim/flows/tcp"
	"github.com/chunkwire/chunkwire/conform/soak"
	"github.com/chunkwire/chunkwire/core"
)

// What is counted in worlds of several flows, besides what is in all.
const (
	FlowsOfOurs = soak.Own + iota
	FlowsBeside
	BadPaths
	GaveUp // flows, while a path was bad
	Chunks // delivered
	LostQueue
	LostPolicer
	ByLoad // worlds or flows that this judge looked at, as the next ones
	ByShares
	BySpeed
	ByDelivery
)

// Worlds are the scenarios that seeds draw. With a log, one that fails is made smaller.
var Worlds = soak.Kind{Name: "flows", Run: runWorld, Rows: []soak.Row{
	{Name: "flows", Format: "%d worlds with %d flows of ours and %d beside them, %v of virtual time", Counts: []soak.Count{soak.Worlds, FlowsOfOurs, FlowsBeside, soak.Time}},
	{Name: "crowds", Format: "%d chunks delivered; %d datagrams, queues dropped %d, policers %d; %d flows gave up on one of %d bad paths", Counts: []soak.Count{Chunks, soak.Datagrams, LostQueue, LostPolicer, GaveUp, BadPaths}},
	{Name: "judges", Format: "delivery of %d flows, load of %d links, shares of %d worlds, speed of %d", Counts: []soak.Count{ByDelivery, ByLoad, ByShares, BySpeed}},
}}

func runWorld(seed uint64, log *soak.Log) (soak.Counts, error) {
	note := func(format string, args ...any) { log.Add(0, format, args...) }
	counts, err := Draw(seed).Run(note)
	if err != nil && log.Verbose() {
		note("smaller:\n%v", Draw(seed).Shrink())
	}
	return counts, err
}

// world is a scenario under way.
type world struct {
	*Scenario
	*flows.World
	ours   []*flows.Chunks
	failed []bool      // before the path was good for long enough
	from   core.Micros // the path is good
	counts soak.Counts
}

// Run runs the scenario, and fails with what is violated. Log, unless it is nil, is told the scenario and
// what the judges saw.
func (s *Scenario) Run(log func(format string, args ...any)) (soak.Counts, error) {
	if log == nil {
		log = func(string, ...any) {}
	}
	log("%v", s)
	w, err := s.world()
	if err != nil {
		return soak.Counts{}, err
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
	c[soak.Worlds], c[soak.Time] = 1, int64(w.Now())
	c[FlowsOfOurs], c[FlowsBeside], c[BadPaths] = int64(len(w.Ours)), int64(len(w.Beside)), int64(len(w.Bad))
	for i, f := range w.ours {
		if w.failed[i] {
			c[GaveUp]++
		}
		c[Chunks] += int64(len(f.Delivered(flows.Down)) + len(f.Delivered(flows.Up)))
		for _, side := range []int{flows.Down, flows.Up} {
			n := f.Counts(side, 0, w.Now())
			c[soak.Datagrams] += n.Sent
			c[LostQueue] += n.LostQueue
			c[LostPolicer] += n.LostPolicer
		}
	}
}
