package base

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Spacing holds in any window, but for the 20 ms that a driver who comes late may
// make up for (SPC-1, SPC-2).
func TestSpacingHoldsInAnyWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spacing := core.Micros(rapid.Int64Range(1, 5000).Draw(t, "spacing"))
		b := check.Must(New(Profile{Cap: maxCost, Spacing: spacing}))
		b.Begin(statemachine.Flight{NumSlices: codec.MaxSlices, Bytes: fullDatagram, LastBytes: codec.MaxDatagramSize})
		now, last, ahead := core.Micros(0), core.Micros(0), core.Micros(0) // ahead of what spacing asks for
		for range rapid.IntRange(1, 30).Draw(t, "polls") {
			now += core.Micros(rapid.SampledFrom([]int64{0, 1, 900, 19_000, 70_000}).Draw(t, "later"))
			for _, ok := b.Next(now); ok; _, ok = b.Next(now) {
				ahead, last = max(0, ahead-(now-last))+spacing, now
				if ahead > catchUp+spacing {
					t.Fatalf("spacing (SPC-2): the slices until %d are %d us too early", now, ahead-catchUp-spacing)
				}
			}
		}
	})
}

// Polling a sender at its deadline always yields something: a slice, the end, or
// that the resend timer has run out and the budget is what is waited for. Polling it
// a microsecond before yields nothing (SND-16, SCH-3, SCH-9).
func TestASendersDeadlineIsExact(t *testing.T) {
	profiles := []Profile{Burst(), Fixed(0), Fixed(1_000_000), Fixed(8_000_000), Article(4_000_000)}
	rapid.Check(t, func(t *rapid.T) {
		s := check.Must(statemachine.NewSender(statemachine.SenderConfig{
			GiveUp:    core.Micros(rapid.SampledFrom([]int64{1, 100_000, 10_000_000}).Draw(t, "give up")),
			Scheduler: check.Must(New(rapid.SampledFrom(profiles).Draw(t, "profile"))),
		}))
		now := core.Micros(rapid.Int64Range(0, 1_000_000).Draw(t, "start"))
		n := rapid.IntRange(1, 60).Draw(t, "slices")
		_ = s.Submit(now, make([]byte, n*1024))
		for range 80 {
			for _, ok := s.Poll(now); ok; _, ok = s.Poll(now) {
			}
			if s.Vars().State != statemachine.SenderSending {
				check.Equal(t, "deadline when nothing is in flight", s.Deadline(), core.Never)
				return
			}
			if rapid.IntRange(0, 3).Draw(t, "ack") > 0 {
				now = checkSenderDeadline(t, s, now)
				continue
			}
			now += core.Micros(rapid.Int64Range(0, 60_000).Draw(t, "later"))
			s.HandleAck(now, codec.Ack{NumSlices: n, Acked: drawSet(t, n, rapid.IntRange(0, 5).Draw(t, "bits"))})
		}
	})
}

// checkSenderDeadline goes on to the deadline and returns it.
func checkSenderDeadline(t *rapid.T, s *statemachine.Sender, now core.Micros) core.Micros {
	d := s.Deadline()
	timeouts := s.Stats().Schedule.Timeouts
	idle := func(at core.Micros) bool {
		_, ok := s.Poll(at)
		return !ok && s.Vars().Row == "S14" && s.Stats().Schedule.Timeouts == timeouts
	}
	check.That(t, d > now, "the deadline has not passed")
	check.That(t, idle(d-1), "nothing happens before the deadline")
	check.Equal(t, "deadline after a poll", s.Deadline(), d)
	check.That(t, !idle(d), "something happens at the deadline")
	return d
}

func drawSet(t *rapid.T, n, members int) (set core.Set) {
	for range members {
		set.Add(rapid.IntRange(0, n-1).Draw(t, "slice"))
	}
	return set
}

// Acks are idempotent in any order (SAFE-3, SND-5 to SND-8): whichever come, in
// whichever order, and how often, what the sender and its scheduler then know is the
// union of what they said.
func TestAcksAreIdempotentInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 80).Draw(t, "slices")
		sent := rapid.IntRange(1, n).Draw(t, "sent")
		var acks []codec.Ack
		var union core.Set
		for range rapid.IntRange(1, 8).Draw(t, "acks") {
			a := codec.Ack{NumSlices: n, Acked: drawSet(t, n-1, rapid.IntRange(0, n).Draw(t, "bits"))}
			union = union.Union(a.Acked.Intersect(core.FirstN(sent)))
			acks = append(acks, a, a)
		}
		for range 3 {
			b := check.Must(New(Fixed(0)))
			s := check.Must(statemachine.NewSender(statemachine.SenderConfig{Scheduler: b}))
			_ = s.Submit(0, make([]byte, n*1024))
			for range sent {
				s.Poll(0)
			}
			for _, a := range rapid.Permutation(acks).Draw(t, "order") {
				s.HandleAck(0, a)
				once, deadline := s.Vars().Acked, s.Deadline()
				s.HandleAck(0, a)
				check.Equal(t, "acked after the same ack again", s.Vars().Acked, once)
				check.Equal(t, "deadline after the same ack again", s.Deadline(), deadline)
			}
			check.Equal(t, "acked", s.Vars().Acked, union)
			check.Equal(t, "what the scheduler waits for", b.unacked, core.FirstN(n).Minus(union))
			check.Equal(t, "slices counted as acked", s.Stats().SlicesAcked, int64(union.Count()))
		}
	})
}
