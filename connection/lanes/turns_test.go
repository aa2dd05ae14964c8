package lanes_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// sharedRoad has room for one slice each so long, of whatever lane.
type sharedRoad struct {
	each, free core.Micros
}

// onRoad is a scheduler that sends each slice of a chunk once, at any rate, and then what is missing, when
// there is room.
type onRoad struct {
	statemachine.NoPath
	road    *sharedRoad
	missing core.Set
	fresh   int
	last    int
	slices  int
}

func (s *onRoad) Begin(f statemachine.Flight) {
	s.missing, s.fresh, s.last, s.slices = core.FirstN(f.NumSlices), 0, -1, f.NumSlices
}

func (s *onRoad) Acked(_ core.Micros, p statemachine.Progress) { s.missing = s.missing.Minus(p.News) }

func (s *onRoad) Held(core.Micros) {}

func (s *onRoad) Next(now core.Micros) (id int, ok bool) {
	if s.fresh < s.slices {
		s.fresh++
		return s.fresh - 1, true
	}
	if now < s.road.free || s.missing.Empty() {
		return 0, false
	}
	s.road.free = now + s.road.each
	for {
		if s.last = (s.last + 1) % s.slices; s.missing.Has(s.last) {
			return s.last, true
		}
	}
}

func (s *onRoad) Deadline() core.Micros {
	if s.fresh < s.slices {
		return 0
	}
	return s.road.free
}

func (s *onRoad) Stats() statemachine.ScheduleStats { return statemachine.ScheduleStats{} }

// Three lanes whose path becomes slow when any part of each chunk is still missing, with no loss, or with each
// second slice of a lane lost: no lane gives up (LAN-13), and none is silent for longer than SLICE_LIMIT (SCH-2).
func TestEachLaneGetsItsTurn(t *testing.T) {
	const n, slices, sliceTime, sliceLimit = 3, 6, 600 * ms, 3 * second
	states := 0
	for start := range slices * slices * slices {
		for _, isLossy := range []bool{false, true} {
			road := &sharedRoad{each: sliceTime}
			l := check.Must(lanes.New(variants[0].of(n, func(c *lanes.Config) {
				c.GiveUp = 5 * second
				c.NewScheduler = func() (statemachine.Scheduler, error) { return &onRoad{road: road}, nil }
			})))
			var have [n]core.Set
			var spoke [n]core.Micros // the latest slice, or news
			left := start
			for k := range n {
				check.Must(l.Submit(0, make([]byte, slices*1024)))
				for range slices {
					_, _, ok := l.PollSlice(0)
					check.That(t, ok, "each slice goes once")
				}
				have[k] = core.FirstN(left % slices)
				left /= slices
			}
			for k := range n {
				ack := variants[0].ack(0, slices, have[k].Count())
				l.HandleAck(0, k, ack)
			}
			var sent [n]int
			for now := core.Micros(0); l.Sending(); now = max(road.free, now+ms) {
				states++
				k, s, ok := l.PollSlice(now)
				if l.Err() != nil {
					t.Fatalf("start %d, lossy %v, at %v: %v", start, isLossy, now, l.Err())
				}
				for j := range n {
					if have[j].Count() < slices && now-spoke[j] > sliceLimit {
						t.Fatalf("start %d, lossy %v: lane %d is silent from %v to %v", start, isLossy, j, spoke[j], now)
					}
				}
				if !ok {
					continue
				}
				spoke[k] = now
				if sent[k]++; isLossy && sent[k]%2 == 1 {
					continue
				}
				have[k].Add(s.SliceID)
				ack := variants[0].ack(0, slices, 0)
				ack.Acked = have[k]
				l.HandleAck(now, k, ack)
			}
		}
	}
	t.Logf("%d states", states)
}
