package base

import (
	"testing"

	"github.com/chunkwire/chunkwire/internal/check"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/statemachine"
)

// In order, and then nothing more (SCH-6).
func TestEachSliceGoesOutOnceInTurn(t *testing.T) {
	f := fly(t, atOnce, 5)
	f.sends(0, 1, 2, 3, 4)
	f.sends()
}

func TestLostSlicesWaitForTheirTurn(t *testing.T) {
	f := fly(t, Profile{Cap: maxCost, Spacing: ms}, 7)
	for id := range 4 {
		f.at(machine.Micros(id) * ms).sends(id)
	}
	f.acked(3) // 0 and 1 were overtaken
	for i, id := range []int{4, 5, 6, 0, 1} {
		f.at(machine.Micros(4+i) * ms).sends(id)
	}
	f.at(9 * ms).sends()
}

// Behind what was sent last (SCH-6, SCH-7).
func TestTheCursorGoesOnFromWhereItWas(t *testing.T) {
	f := fly(t, Profile{Cap: maxCost, Spacing: ms}, 6)
	for id := range 6 {
		f.at(machine.Micros(id) * ms).sends(id)
	}
	f.at(10 * ms).acked(5) // 0 to 3 were overtaken
	f.sends(0)
	f.at(11 * ms).sends(1)
	f.acked(0)
	f.at(12 * ms).sends(2)
	f.at(13*ms).acked(4, 2)
	f.sends(3)
	f.at(14 * ms).sends()
}

// Also when it was found lost before (SCH-1, SCH-8).
func TestAnAckedSliceIsTakenOutOfTheLine(t *testing.T) {
	f := fly(t, Profile{Cap: maxCost, Spacing: ms}, 6)
	for id := range 6 {
		f.at(machine.Micros(id) * ms).sends(id)
	}
	f.at(10 * ms).acked(5)
	f.acked(0, 2) // they were late, not lost
	f.sends(1)
	f.at(11 * ms).sends(3)
	f.at(12 * ms).sends()
}

// And never will be (SCH-1, SCH-9).
func TestNothingIsDueWhenAllIsAcked(t *testing.T) {
	f := fly(t, atOnce, 3)
	f.sends(0, 1, 2)
	f.at(50*ms).acked(0, 1, 2)
	check.Equal(t, "deadline", f.Deadline(), machine.Never)
	f.at(year).sends()
}

// Neither numbers, nor the back-off, nor the probes go on (SCH-5).
func TestAChunkStartsEverythingAnew(t *testing.T) {
	f := fly(t, atOnce, 8)
	f.sends(chunktest.Range(0, 7)...)
	f.at(250*ms).sends(6, 7)
	f.at(500*ms).sends(2, 3, 4, 5)
	f.at(600*ms).acked(1, 2, 3, 4, 5, 6, 7)

	f.at(700 * ms).begin(3)
	f.sends(0, 1, 2)
	f.at(701 * ms).acked(0)
	f.sends() // no slice is taken for lost by the numbers of the chunk before
	f.silentUntil(f.Deadline())
	f.sends(1, 2) // two probes again
}

// The next chunk may be smaller, and the one after it larger again.
func TestAChunkOfAnotherSize(t *testing.T) {
	f := fly(t, atOnce, 256)
	f.sends(chunktest.Range(0, 255)...)
	f.acked(chunktest.Range(0, 255)...)
	f.begin(1)
	f.sends(0)
	f.acked(0)
	f.begin(256)
	f.sends(chunktest.Range(0, 255)...)
}

// A sender that rests holds nothing of the chunk that was sent, and sends the next
// one like any other; one with a chunk in flight does not rest.
func TestASenderRests(t *testing.T) {
	b := check.Must(New(atOnce))
	s := check.Must(statemachine.NewSender(statemachine.SenderConfig{Scheduler: b}))
	for id := range uint16(3) {
		check.Same(t, "submit", s.Submit(0, make([]byte, 100_000)), nil)
		s.Poll(0)
		s.Rest()
		check.Equal(t, "records while a chunk is in flight", len(b.slices), 98)
		for _, ok := s.Poll(0); ok; _, ok = s.Poll(0) {
		}
		s.Rest()
		check.Equal(t, "records when all is sent", len(b.slices), 98)
		s.HandleAck(0, chunktest.FullAck(id, 98))
		s.Rest()
		check.That(t, b.slices == nil, "nothing is held at rest")
		check.Equal(t, "deadline", s.Deadline(), machine.Never)
	}
	other := check.Must(statemachine.NewSender(statemachine.SenderConfig{Scheduler: struct{ statemachine.Scheduler }{b}}))
	other.Rest() // its scheduler cannot: nothing happens
}
