package statemachine

import (
	"iter"

	"github.com/chunkwire/chunkwire/codec"
)

// A machine that never says that it has nothing more to say would keep a test
// for ever: no more than this many packets come out at a time.
const mostAtOnce = 1000

// slicesOut yields what a sender sends at a time.
func slicesOut(s *Sender, now Micros) iter.Seq[codec.Slice] {
	return drain(func() (codec.Slice, bool) { return s.Poll(now) })
}

// acksOut yields what a receiver sends at a time.
func acksOut(r *Receiver, now Micros) iter.Seq[codec.Ack] {
	return drain(func() (codec.Ack, bool) { return r.Poll(now) })
}

func drain[T any](poll func() (T, bool)) iter.Seq[T] {
	return func(yield func(T) bool) {
		for range mostAtOnce {
			out, ok := poll()
			if !ok || !yield(out) {
				return
			}
		}
		panic("no end of packets")
	}
}

// count returns how many packets come out.
func count[T any](packets iter.Seq[T]) (n int) {
	for range packets {
		n++
	}
	return n
}
