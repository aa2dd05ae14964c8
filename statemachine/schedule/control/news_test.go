package control

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
)

// REC-11: the loss is counted first, then the train ends, then the account, which knows its rate.
func TestTheOrderOfNews(t *testing.T) {
	s := known(Config{}, 40*ms, 1_000_000)
	s.rate.whole = 0
	s.now += 100 * ms
	s.Arrived(s.now, 1, 1, 0)
	s.cap.arrived, s.cap.lost = 60, 52
	for range 2 {
		s.now += 16 * ms
		s.Arrived(s.now, 8, 8, 0)
	}
	check.Equal(t, "the look is at the pace of the train that has just ended, without its pause", s.cap.look, 1_000_000)
	s.TimedOut(s.now)
	before := s.losses
	s.Arrived(s.now, 0, 0, 2)
	check.Equal(t, "lost", s.losses.Lost, before.Lost+32)
	check.Equal(t, "no news of an arrival", s.timeouts, 1)
	s.Arrived(s.now, 1, 1, 0)
	check.Equal(t, "an arrival", s.timeouts, 0)
}

// WIN-6: the smaller of window and limit; on a contested path the limit, but in a drain.
func TestWhatMayBeInFlightWhenAChunkBegins(t *testing.T) {
	s := limited(Config{}, 40*whole)
	check.Equal(t, "the limit", s.PathSlices(), 40)
	s.limit.size = 400 * whole
	check.Equal(t, "the window", s.PathSlices(), 71)
	s.limit.contested = true
	check.Equal(t, "contested", s.PathSlices(), 400)
	s.base.drain(s.now, 40*ms, 40*ms)
	check.Equal(t, "contested, in a drain", s.PathSlices(), 4)
	s.limit.size = 4
	check.Equal(t, "two slices", s.PathSlices(), 2)
}
