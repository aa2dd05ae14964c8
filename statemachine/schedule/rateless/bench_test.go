package rateless_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/rateless"
)

// roundTrip is that of the path of the benchmarks, which loses nothing and holds more than
// a chunk.
const roundTrip = 100 * core.Millisecond

// arrival is an ack on the way.
type arrival struct {
	at   core.Micros
	have int
}

// begun returns a sender that has delivered a chunk, so that it knows the path, and has
// submitted another of 256 slices; and the time.
func begun(b *testing.B) (*statemachine.Sender, core.Micros) {
	s := check.Must(statemachine.NewSender(statemachine.SenderConfig{Kind: codec.Repair, Scheduler: check.Must(rateless.New(rateless.Default()))}))
	chunk := erasure.Encode(make([]byte, codec.MaxChunkSize))
	var now core.Micros
	if err := s.SubmitEncoded(now, chunk); err != nil {
		b.Fatal(err)
	}
	var onTheWay []arrival
	for have := 0; have < codec.MaxSlices; {
		now = s.Deadline()
		if len(onTheWay) > 0 && onTheWay[0].at <= now {
			now, have = onTheWay[0].at, onTheWay[0].have
			onTheWay = onTheWay[1:]
			s.HandleAck(now, codec.Ack{NumSlices: codec.MaxSlices, Have: have, Top: have})
		}
		for sl, ok := s.Poll(now); ok; sl, ok = s.Poll(now) {
			onTheWay = append(onTheWay, arrival{now + roundTrip, min(sl.SliceID+1, codec.MaxSlices)})
		}
	}
	if err := s.SubmitEncoded(now, chunk); err != nil {
		b.Fatal(err)
	}
	return s, now
}

// flying returns a sender that has sent what it wants, and the time.
func flying(b *testing.B) (*statemachine.Sender, core.Micros) {
	s, now := begun(b)
	for s.Vars().Transmissions < codec.MaxSlices {
		now = max(now, s.Deadline())
		if _, ok := s.Poll(now); !ok {
			b.Fatal("the path does not hold a chunk")
		}
	}
	for s.Deadline() < now+roundTrip/2 { // repair slices
		now = s.Deadline()
		s.Poll(now)
	}
	return s, now
}

// The scheduler behind its sender, which knows the path.
func BenchmarkRateless(b *testing.B) {
	b.Run("poll and deadline, nothing due", func(b *testing.B) {
		s, now := flying(b)
		check.Events(b, 1000, func() func() {
			return func() {
				for range 1000 {
					if _, ok := s.Poll(now); ok || s.Deadline() <= now {
						b.Fatal("a slice was due")
					}
				}
			}
		})
	})
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
					s.HandleAck(now, codec.Ack{ChunkID: 1, NumSlices: codec.MaxSlices, Have: n, Top: n})
				}
			}
		})
	})
}
