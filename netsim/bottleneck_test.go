package netsim_test

import (
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/netsim"
)

// step is one Send and what is to become of it: 125 bytes at 1 Mbit/s are one
// millisecond on the wire.
type step struct {
	now     time.Duration
	payload int
	want    time.Duration // arrival, or dropped
}

const dropped = -1

func TestQueue(t *testing.T) {
	good := netsim.Path{Rate: 1_000_000, Queue: 375}
	tests := []struct {
		name   string
		change func(*netsim.Path)
		steps  []step
	}{
		{"last accepted, first dropped", func(p *netsim.Path) {}, []step{
			{0, 125, 1 * ms}, {0, 125, 2 * ms}, {0, 125, 3 * ms}, {0, 1, dropped}}},
		{"one byte less room", func(p *netsim.Path) { p.Queue = 374 }, []step{
			{0, 125, 1 * ms}, {0, 125, 2 * ms}, {0, 125, dropped}, {0, 0, 2 * ms}}},
		{"in service counts in full", func(p *netsim.Path) {}, []step{
			{0, 125, 1 * ms}, {0, 250, 3 * ms}, {1*ms - 1, 1, dropped}, {1 * ms, 125, 4 * ms}}},
		{"drops take no time", func(p *netsim.Path) {}, []step{
			{0, 375, 3 * ms}, {0, 375, dropped}, {0, 375, dropped}, {3 * ms, 125, 4 * ms}}},
		{"small fits where large does not", func(p *netsim.Path) {}, []step{
			{0, 250, 2 * ms}, {0, 126, dropped}, {0, 125, 3 * ms}}},
		{"idle accepts any size", func(p *netsim.Path) {}, []step{
			{0, 1250, 10 * ms}, {0, 1, dropped}, {10 * ms, 1250, 20 * ms}}},
		{"overhead takes room", func(p *netsim.Path) { p.Overhead = 125 }, []step{
			{0, 125, 2 * ms}, {0, 1, dropped}, {0, 0, 3 * ms}}},
		{"unlimited", func(p *netsim.Path) { p.Queue = 0 }, []step{
			{0, 125000, 1000 * ms}, {0, 125000, 2000 * ms}}},
		{"no rate, no queue", func(p *netsim.Path) { p.Rate = 0 }, []step{
			{0, 375, 0}, {0, 375, 0}, {0, 375, 0}}},
		{"delay is behind the queue", func(p *netsim.Path) { p.Delay = 50 * ms }, []step{
			{0, 375, 53 * ms}, {0, 1, dropped}, {3 * ms, 375, 56 * ms}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			link := newLink(with(good, test.change), 1)
			lost := follow(t, link, test.steps)
			if got := link.Stats().LostQueue; got != lost {
				t.Errorf("LostQueue = %d, want %d", got, lost)
			}
		})
	}
}

func TestPathChangesWithAFullQueue(t *testing.T) {
	good := netsim.Path{Rate: 1_000_000, Queue: 375}
	fill := []step{{0, 125, 1 * ms}, {0, 125, 2 * ms}, {0, 125, 3 * ms}}
	tests := []struct {
		name   string
		change func(*netsim.Path)
		steps  []step
	}{
		{"slower: what is queued stays as computed", func(p *netsim.Path) { p.Rate = 100_000 }, []step{
			{0, 1, dropped}, {1 * ms, 125, 13 * ms}, {2 * ms, 125, 23 * ms}, {2 * ms, 1, dropped}}},
		{"faster: same room", func(p *netsim.Path) { p.Rate = 10_000_000 }, []step{
			{0, 1, dropped}, {2 * ms, 250, 3200 * time.Microsecond}, {2 * ms, 1, dropped}}},
		{"unlimited rate: still behind the queue", func(p *netsim.Path) { p.Rate = 0 }, []step{
			{0, 1, dropped}, {1 * ms, 125, 3 * ms}, {1 * ms, 1, dropped}, {3 * ms, 999, 3 * ms}}},
		{"longer queue", func(p *netsim.Path) { p.Queue = 500 }, []step{
			{0, 125, 4 * ms}, {0, 1, dropped}}},
		{"shorter queue drops only what is new", func(p *netsim.Path) { p.Queue = 125 }, []step{
			{2 * ms, 1, dropped}, {3 * ms, 125, 4 * ms}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			link := newLink(good, 1)
			follow(t, link, fill)
			link.SetPath(with(good, test.change))
			follow(t, link, test.steps)
		})
	}
}

func TestRateChangeRoundsUp(t *testing.T) {
	link := newLink(netsim.Path{Rate: 3_000_000_000}, 1)
	follow(t, link, []step{{0, 1, 3}}) // 2 2/3 ns
	link.SetPath(netsim.Path{Rate: 1_000_000_000})
	follow(t, link, []step{{0, 1, 11}})
}

// follow sends step by step and returns how many were to be dropped.
func follow(t *testing.T, link *netsim.Link, steps []step) (lost int64) {
	t.Helper()
	for i, s := range steps {
		got := time.Duration(dropped)
		if a := link.Send(s.now, s.payload); a.Len() > 0 {
			got = a.At(0)
		}
		if got != s.want {
			t.Errorf("step %d, %d bytes at %v: arrives at %v, want %v", i, s.payload, s.now, got, s.want)
		}
		if s.want == dropped {
			lost++
		}
	}
	return lost
}
