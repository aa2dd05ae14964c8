package statemachine_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
)

func newSender() *statemachine.Sender {
	return check.Must(statemachine.NewSender(statemachine.SenderConfig{Scheduler: check.Must(base.New(base.Burst()))}))
}

func newReceiver() *statemachine.Receiver {
	return check.Must(statemachine.NewReceiver(statemachine.ReceiverConfig{}))
}

// sending returns a sender of 256 slices, each of which has been sent, and the
// time; the first acked of them have arrived.
func sending(b *testing.B, acked int) (*statemachine.Sender, core.Micros) {
	s := newSender()
	if err := s.Submit(0, make([]byte, codec.MaxChunkSize)); err != nil {
		b.Fatal(err)
	}
	var now core.Micros
	for s.Vars().Sent.Count() < codec.MaxSlices {
		if now = max(now, s.Deadline()); now == core.Never {
			b.Fatal("the sender has nothing to do")
		}
		for _, ok := s.Poll(now); ok; _, ok = s.Poll(now) {
		}
		s.HandleAck(now, codec.Ack{NumSlices: codec.MaxSlices}) // a hold: somebody is there
	}
	if acked > 0 {
		s.HandleAck(now, codec.Ack{NumSlices: codec.MaxSlices, Acked: core.FirstN(acked)})
	}
	for _, ok := s.Poll(now); ok; _, ok = s.Poll(now) {
	}
	return s, now
}

func BenchmarkSender(b *testing.B) {
	const polls = 1000
	for _, acked := range []int{0, 255} {
		name := map[int]string{0: "poll, nothing due, 0 of 256 acked", 255: "poll, nothing due, 255 of 256 acked"}[acked]
		b.Run(name, func(b *testing.B) {
			s, now := sending(b, acked)
			check.Events(b, polls, func() func() {
				return func() {
					for range polls {
						if _, ok := s.Poll(now); ok {
							b.Fatal("a slice was due")
						}
					}
				}
			})
		})
	}
	b.Run("poll, a slice due", func(b *testing.B) {
		check.Events(b, 100, func() func() {
			s := newSender()
			if err := s.Submit(0, make([]byte, codec.MaxChunkSize)); err != nil {
				b.Fatal(err)
			}
			return func() {
				for range 100 {
					if _, ok := s.Poll(s.Deadline()); !ok {
						b.Fatal("no slice was due")
					}
				}
			}
		})
	})
	b.Run("ack in, of one slice more", func(b *testing.B) {
		check.Events(b, 255, func() func() {
			s, now := sending(b, 0)
			return func() {
				for n := 1; n < codec.MaxSlices; n++ {
					s.HandleAck(now, codec.Ack{NumSlices: codec.MaxSlices, Acked: core.FirstN(n)})
				}
			}
		})
	})
}

func BenchmarkReceiver(b *testing.B) {
	data := make([]byte, codec.SliceSize)
	fill := func(r *statemachine.Receiver, n int) {
		for id := range n {
			r.HandleSlice(0, codec.Slice{SliceID: id, NumSlices: codec.MaxSlices, Data: data})
		}
	}
	b.Run("slice in", func(b *testing.B) {
		check.Events(b, 256, func() func() {
			r := newReceiver()
			return func() { fill(r, 256) }
		})
	})
	b.Run("slice in, a duplicate", func(b *testing.B) {
		check.Events(b, 255, func() func() {
			r := newReceiver()
			fill(r, 255)
			return func() { fill(r, 255) }
		})
	})
	b.Run("poll, nothing due", func(b *testing.B) {
		r := newReceiver()
		fill(r, 255)
		for _, ok := r.Poll(0); ok; _, ok = r.Poll(0) {
		}
		check.Events(b, 1000, func() func() {
			return func() {
				for range 1000 {
					if _, ok := r.Poll(0); ok {
						b.Fatal("an ack was due")
					}
				}
			}
		})
	})
}
