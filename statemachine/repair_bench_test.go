package statemachine_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// counting is a scheduler that sends so many slices.
type counting struct {
	statemachine.NoPath
	due int
}

func (*counting) Begin(statemachine.Flight)                {}
func (*counting) Acked(core.Micros, statemachine.Progress) {}
func (*counting) Held(core.Micros)                         {}
func (*counting) Deadline() core.Micros                    { return core.Never }
func (*counting) Stats() statemachine.ScheduleStats        { return statemachine.ScheduleStats{} }
func (c *counting) Next(core.Micros) (number int, ok bool) {
	c.due--
	return 0, c.due >= 0
}

var (
	largest = make([]byte, codec.MaxChunkSize)
	encoded = erasure.Encode(largest)
)

// sending returns a sender of 256 slices that will send so many.
func repairSending(b *testing.B, due int) *statemachine.Sender {
	s := check.Must(statemachine.NewSender(statemachine.SenderConfig{Kind: codec.Repair, Scheduler: &counting{due: due}}))
	if err := s.SubmitEncoded(0, encoded); err != nil {
		b.Fatal(err)
	}
	return s
}

// all polls until nothing is due, and returns how often something was.
func all(s *statemachine.Sender) (n int) {
	for _, ok := s.Poll(0); ok; _, ok = s.Poll(0) {
		n++
	}
	return n
}

// What an event costs the sender, beside that of package statemachine: a scheduler that
// decides nothing is behind it.
func BenchmarkRepairSender(b *testing.B) {
	b.Run("poll, nothing due", func(b *testing.B) {
		check.Events(b, 1000, func() func() {
			s := repairSending(b, 0)
			return func() {
				for range 1000 {
					s.Poll(0)
				}
			}
		})
	})
	poll := func(b *testing.B, chunk *erasure.Encoded, n int) {
		check.Events(b, n, func() func() {
			s := check.Must(statemachine.NewSender(statemachine.SenderConfig{Kind: codec.Repair, Scheduler: &counting{due: n}}))
			if err := s.SubmitEncoded(0, chunk); err != nil {
				b.Fatal(err)
			}
			return func() {
				if all(s) != n {
					b.Fatal("not all were due")
				}
			}
		})
	}
	b.Run("poll, a source slice due", func(b *testing.B) { poll(b, encoded, 256) })
	b.Run("poll, source and repair slices, made before", func(b *testing.B) { poll(b, encoded, 512) })
	b.Run("ack in, of one slice more", func(b *testing.B) {
		check.Events(b, 255, func() func() {
			s := repairSending(b, 256)
			all(s)
			return func() {
				for n := 1; n < codec.MaxSlices; n++ {
					s.HandleAck(0, codec.Ack{NumSlices: codec.MaxSlices, Have: n, Top: n})
				}
			}
		})
	})
}

// received is slice id of the largest chunk.
func received(id int) codec.Slice {
	return codec.Slice{SliceID: id, NumSlices: codec.MaxSlices, LastBytes: codec.SliceSize, Data: encoded.Slice(id)}
}

// What an event costs the receiver. Slices in excess of 243 are repair slices where 5 % are
// lost, and of 128 where half are.
func BenchmarkRepairReceiver(b *testing.B) {
	newReceiver := func() *statemachine.Receiver {
		return check.Must(statemachine.NewReceiver(statemachine.ReceiverConfig{Kind: codec.Repair}))
	}
	fill := func(r *statemachine.Receiver, from, n int) {
		for id := from; id < from+n; id++ {
			r.HandleSlice(0, received(id))
		}
	}
	b.Run("slice in", func(b *testing.B) {
		check.Events(b, 255, func() func() {
			r := newReceiver()
			return func() { fill(r, 0, 255) }
		})
	})
	b.Run("slice in, a duplicate", func(b *testing.B) {
		check.Events(b, 255, func() func() {
			r := newReceiver()
			fill(r, 0, 255)
			return func() { fill(r, 0, 255) }
		})
	})
	for name, missing := range map[string]int{"repair slice in, 13 missing": 13, "repair slice in, 128 missing": 128} {
		b.Run(name, func(b *testing.B) {
			fill(newReceiver(), 256, 200) // makes the slices
			check.Events(b, missing-1, func() func() {
				r := newReceiver()
				fill(r, 0, 256-missing)
				return func() { fill(r, 256, missing-1) }
			})
		})
		b.Run("the one that completes, "+name, func(b *testing.B) {
			check.Events(b, 1, func() func() {
				r := newReceiver()
				fill(r, 0, 256-missing)
				fill(r, 256, missing-1)
				return func() {
					for id := 256 + missing - 1; r.State() != statemachine.ReceiverReady; id++ {
						r.HandleSlice(0, received(id))
					}
				}
			})
		})
	}
	b.Run("poll, nothing due", func(b *testing.B) {
		check.Events(b, 1000, func() func() {
			r := newReceiver()
			fill(r, 0, 255)
			for _, ok := r.Poll(0); ok; _, ok = r.Poll(0) {
			}
			return func() {
				for range 1000 {
					r.Poll(0)
				}
			}
		})
	})
}
