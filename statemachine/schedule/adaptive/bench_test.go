package adaptive_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/adaptive"
)

// roundTrip is that of the path of the benchmarks, which loses nothing and holds
// more than a chunk.
const roundTrip = 100 * core.Millisecond

// begun returns a sender that has delivered a chunk, so that it knows the path, and
// has submitted another of 256 slices; and the time.
func begun(b *testing.B) (*statemachine.Sender, core.Micros) {
	s := check.Must(statemachine.NewSender(statemachine.SenderConfig{Scheduler: check.Must(adaptive.New(adaptive.Adaptive()))}))
	chunk := make([]byte, codec.MaxChunkSize)
	var now core.Micros
	submit := func() {
		if err := s.Submit(now, chunk); err != nil {
			b.Fatal(err)
		}
	}
	submit()
	var acked core.Set
	var onTheWay []arrival
	for s.Vars().State == statemachine.SenderSending {
		now = s.Deadline()
		if len(onTheWay) > 0 && onTheWay[0].at <= now {
			now = onTheWay[0].at
			acked.Add(onTheWay[0].id)
			onTheWay = onTheWay[1:]
			s.HandleAck(now, codec.Ack{NumSlices: codec.MaxSlices, Acked: acked})
		}
		for sl, ok := s.Poll(now); ok; sl, ok = s.Poll(now) {
			onTheWay = append(onTheWay, arrival{now + roundTrip, sl.SliceID})
		}
	}
	submit()
	return s, now
}

// arrival is an ack on the way.
type arrival struct {
	at core.Micros
	id int
}

// flying returns a sender each of whose 256 slices has been sent, once, and the time.
func flying(b *testing.B) (*statemachine.Sender, core.Micros) {
	s, now := begun(b)
	for s.Vars().Sent.Count() < codec.MaxSlices {
		now = max(now, s.Deadline())
		if _, ok := s.Poll(now); !ok {
			b.Fatal("the path does not hold a chunk")
		}
	}
	if st := s.Stats(); st.SlicesResent > 0 || st.Schedule.SmoothedRTT != roundTrip {
		b.Fatalf("not as it should be: %+v", st)
	}
	return s, now
}

func ackOf(n int) codec.Ack {
	return codec.Ack{ChunkID: 1, NumSlices: codec.MaxSlices, Acked: core.FirstN(n)}
}

func pollInVain(b *testing.B, s *statemachine.Sender, now core.Micros) {
	if _, ok := s.Poll(now); ok || s.Deadline() <= now {
		b.Fatal("a slice was due")
	}
}

// The adaptive scheduler behind its sender, which knows the path.
func BenchmarkAdaptive(b *testing.B) {
	const polls = 1000
	nothingDue := func(acked int) func(b *testing.B) {
		return func(b *testing.B) {
			s, now := flying(b)
			s.HandleAck(now, ackOf(acked))
			pollInVain(b, s, now)
			check.Events(b, polls, func() func() {
				return func() {
					for range polls {
						pollInVain(b, s, now)
					}
				}
			})
		}
	}
	b.Run("poll and deadline, nothing due, 0 of 256 acked", nothingDue(0))
	// The most that are left while there may be copies (CPY-2).
	b.Run("poll and deadline, nothing due, 224 of 256 acked", nothingDue(224))
	b.Run("poll and deadline, nothing due, 255 of 256 acked", nothingDue(255))
	b.Run("poll and deadline, a slice due", func(b *testing.B) {
		check.Events(b, 200, func() func() {
			s, now := begun(b)
			return func() {
				for range 200 {
					now = max(now, s.Deadline())
					if _, ok := s.Poll(now); !ok {
						b.Fatal("no slice was due")
					}
				}
			}
		})
	})
	b.Run("ack in, of one slice more", func(b *testing.B) {
		check.Events(b, 255, func() func() {
			s, now := flying(b)
			return func() {
				for n := 1; n < codec.MaxSlices; n++ {
					s.HandleAck(now, ackOf(n))
				}
			}
		})
	})
}
