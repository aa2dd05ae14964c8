package channel

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

func TestTheCountsOfASender(t *testing.T) {
	s := newTalker(t, small)
	check.Equal(t, "row", s.Row(), "")
	s.saysFor(300*ms, "a", "b")
	s.goes()
	s.now = 250 * ms
	s.hears(0, 32, 0, 1)
	s.saysFor(50*ms, "c", "d")
	s.says("e")
	s.now = 300 * ms
	check.Equal(t, "one skip over what was sent and what was not", s.goes(), "skip 0+4, message 4 e")
	check.Equal(t, "counts", s.Stats(), SenderStats{Messages: 5, Sent: 7, Resent: 2, Skips: 1, Expired: 4, Kept: 5})
	s.now = s.Deadline()
	s.goes()
	check.Equal(t, "rows", s.hearsOf(0, 1, 0, 32)+s.hears(9, 32)+s.hears(4, 32), "D4D5D6")
	check.Equal(t, "counts", s.Stats(), SenderStats{Messages: 5, Sent: 7, Resent: 2, Skips: 1, Probes: 1, Released: 4, Expired: 4, Overtaken: 1, Implausible: 1, Kept: 1})
}

// What send refuses has the code of its row, and a failure says what was not released (CHS-11,
// CHS-15).
func TestWhatSendRefuses(t *testing.T) {
	s := newTalker(t, small)
	check.That(t, errors.Is(s.Send(0, nil, 0), ErrMessageSize), "D1")
	for range 40 {
		s.says("x")
	}
	err := s.Send(0, []byte("x"), 0)
	check.That(t, errors.Is(err, ErrQueueFull), "D2")
	check.Equal(t, "text", err.Error(), "channel: queue_full: too much waits to be sent")
	s.goes()
	check.Equal(t, "row", s.hears(1, 31), "D6")
	s.now = DefaultGiveUp
	s.goes()
	check.That(t, errors.Is(s.Send(0, []byte("x"), 0), ErrFailed), "D11")
	check.That(t, errors.Is(s.Err(), ErrFailed), "FAIL")
	check.Equal(t, "text", s.Err().Error(), "channel 0: sender: 39 records were not released, from 1 on: channel: failed: the channel was given up")
	check.Equal(t, "deadline", s.Deadline(), core.Never)
	check.Equal(t, "memory", len(s.entries.slots)+len(s.deaths), 0)
}

// Lifetimes are a heap, whichever of them leave it, and each entry knows its place.
func TestTheHeapOfLifetimes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		s := newTalker(t, small)
		for range 1 + random.IntN(30) {
			s.saysFor(core.Micros(1+random.IntN(40))*ms, "x")
			s.heap()
		}
		for len(s.deaths) > 0 {
			i := random.IntN(len(s.deaths))
			last := s.deaths[i].last
			s.dropDeath(i)
			check.Equal(t, "it has none", s.entries.at(last).death, noDeath)
			s.heap()
		}
	}
}

// heap makes sure of the heap of lifetimes.
func (s *talker) heap() {
	s.t.Helper()
	for i, d := range s.deaths {
		check.That(s.t, s.deaths[max(i-1, 0)/2].at <= d.at, "none ends before the one above it")
		check.Equal(s.t, "place", s.entries.at(d.last).death, int32(i))
	}
}

// A lifetime that has no end is none.
func TestALifetimeWithoutEnd(t *testing.T) {
	s := newTalker(t, small)
	s.now = 5
	s.saysFor(core.Never, "a")
	s.saysFor(-1, "b")
	s.saysFor(core.Never-s.now, "c")
	check.Equal(t, "lifetimes", len(s.deaths), 0)
}

// A record that goes again has the bytes of the first time, whatever the application does with
// its memory (CHS-6).
func TestDataAreKept(t *testing.T) {
	s := newTalker(t, small)
	memory := []byte("abcd")
	check.Same(t, "error", s.Send(0, memory, 0), nil)
	copy(memory, "xxxx")
	check.Equal(t, "first", s.goes(), "message 0 abcd")
	s.now = holdUnmeasured
	s.hears(0, 32, 0)
	check.Equal(t, "again", s.goes(), "message 0 abcd")
}

// A report that no decoder gives marks nothing that is not there.
func TestAReportThatWasNotDecoded(t *testing.T) {
	s := newTalker(t, small)
	s.says("a", "b")
	s.goes()
	s.now = holdUnmeasured
	s.Report(s.now, 0, 9, &Record{Type: TypeReport, Sequence: 1, Room: 5, Groups: []Group{{Start: 1, Bits: 0xffffffff}}})
	check.Equal(t, "row", s.Row(), "D6")
	check.Equal(t, "only what is kept", s.goes(), "message 1 b")
	s.says("c")
	s.now += holdUnmeasured
	s.Report(s.now, 1, 9, &Record{Type: TypeReport, Sequence: 1, Room: 5, Groups: []Group{{Start: 2}, {Start: 1}}})
	check.Equal(t, "only what was sent", []int{s.marked, int(s.low)}, []int{1, 1})
	check.Equal(t, "both go", s.goes(), "message 1 b, message 2 c")
	check.Equal(t, "marks", s.marked, 0)
}
