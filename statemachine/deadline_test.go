package statemachine

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/codec"
)

// Polling a sender at its deadline always yields something: a slice, the end,
// or that the resend timer has run out and the budget is what is waited for.
// Polling it a microsecond before yields nothing (SND-16, SCH-3, SCH-9).
func TestASendersDeadlineIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t)
		s := NewSender(SenderConfig{
			GiveUp:    Micros(rapid.SampledFrom([]int64{1, 100_000, 10_000_000}).Draw(t, "give up")),
			Scheduler: NewBase(p),
		})
		now := Micros(rapid.Int64Range(0, 1_000_000).Draw(t, "start"))
		n := rapid.IntRange(1, 60).Draw(t, "slices")
		_ = s.Submit(now, chunkOf(n*1024, 1))
		for range 80 {
			if s.State() != SenderSending {
				break
			}
			count(slicesOut(s, now))
			if s.State() != SenderSending {
				break
			}
			if rapid.IntRange(0, 3).Draw(t, "ack") == 0 {
				now += Micros(rapid.Int64Range(0, 60_000).Draw(t, "later"))
				a := codec.Ack{NumSlices: n}
				for range rapid.IntRange(0, 5).Draw(t, "bits") {
					a.Acked.Set(rapid.IntRange(0, n-1).Draw(t, "bit"))
				}
				s.HandleAck(now, a)
				continue
			}
			now = checkSenderDeadline(t, s, now)
		}
		if s.State() != SenderSending && s.Deadline() != Never {
			t.Fatalf("%v, but its deadline is %d", s.State(), s.Deadline())
		}
	})
}

func checkSenderDeadline(t *rapid.T, s *Sender, now Micros) Micros {
	d := s.Deadline()
	if d <= now {
		t.Fatalf("at %d the deadline %d has passed", now, d)
	}
	timeouts := s.Stats().Schedule.Timeouts
	if _, ok := s.Poll(d - 1); ok || s.Row() != S14Wait || s.Stats().Schedule.Timeouts != timeouts {
		t.Fatalf("something happens at %d, before the deadline %d", d-1, d)
	}
	if got := s.Deadline(); got != d {
		t.Fatalf("polling moved the deadline from %d to %d", d, got)
	}
	if _, ok := s.Poll(d); !ok && s.Row() == S14Wait && s.Stats().Schedule.Timeouts == timeouts {
		t.Fatalf("nothing happens at the deadline %d", d)
	}
	return d
}

// Polling a receiver at its deadline always yields an ack or the end; polling
// it a microsecond before yields nothing (RCV-17).
func TestAReceiversDeadlineIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := NewReceiver(ReceiverConfig{GiveUp: Micros(rapid.SampledFrom([]int64{1, 1500, 10_000_000}).Draw(t, "give up"))})
		now := Micros(rapid.Int64Range(0, 1_000_000).Draw(t, "start"))
		for range 80 {
			switch rapid.IntRange(0, 5).Draw(t, "event") {
			case 0:
				_, _ = r.Read(now, nil)
			case 1:
				now += Micros(rapid.Int64Range(0, 3000).Draw(t, "later"))
			default:
				r.HandleSlice(now, sliceOf(r.ChunkID()+uint16(rapid.IntRange(-1, 1).Draw(t, "chunk")),
					rapid.IntRange(0, 2).Draw(t, "slice"), 3))
				continue
			}
			count(acksOut(r, now))
			d := r.Deadline()
			if d <= now {
				t.Fatalf("at %d the deadline %d has passed", now, d)
			}
			if d == Never {
				continue
			}
			if _, ok := r.Poll(d - 1); ok || r.State() == ReceiverFailed {
				t.Fatalf("something happens at %d, before the deadline %d", d-1, d)
			}
			if got := r.Deadline(); got != d {
				t.Fatalf("polling moved the deadline from %d to %d", d, got)
			}
			if _, ok := r.Poll(d); !ok && r.State() != ReceiverFailed {
				t.Fatalf("nothing happens at the deadline %d", d)
			}
			now = d
		}
	})
}

// The sender's deadline is the earlier of the scheduler's and the time to give up (SND-16).
func TestTheEarlierDeadlineCounts(t *testing.T) {
	sched := &stubScheduler{}
	s := NewSender(SenderConfig{GiveUp: 500, Scheduler: sched})
	_ = s.Submit(100, []byte{1})
	for _, c := range []struct{ scheduler, want Micros }{{599, 599}, {600, 600}, {601, 600}, {Never, 600}} {
		sched.deadline = c.scheduler
		wantEqual(t, "deadline", s.Deadline(), c.want)
	}
}
