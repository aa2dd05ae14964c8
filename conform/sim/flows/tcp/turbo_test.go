package tcp

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/core"
)

// Two acks that skip a segment send it again, one does if nothing new goes; a timer adds half
// a timeout to itself each time it runs out.
func TestTurboSendsAgain(t *testing.T) {
	s := newTurboSender(Config{Model: Turbo, Total: 8}.withDefaults())
	polls := func(now core.Micros) (all []int64) {
		for d, ok := s.Poll(now); ok; d, ok = s.Poll(now) {
			all = append(all, d.Message.(*turboData).number)
		}
		return all
	}
	acks := func(now core.Micros, next int64, list ...turboAck) {
		s.Handle(now, flows.Datagram{Message: &turboAcks{next, list}})
	}
	check.Equal(t, "the window", polls(0), from(0, 8))
	acks(50*ms, 1, turboAck{0, 0})
	check.Equal(t, "nothing is skipped", polls(50*ms), nil)
	acks(51*ms, 1, turboAck{2, 0}, turboAck{3, 0})
	check.Equal(t, "1 is skipped twice", polls(51*ms), []int64{1})
	acks(101*ms, 4, turboAck{1, 51})
	check.Equal(t, "nothing is skipped", polls(101*ms), nil)
	acks(102*ms, 4, turboAck{5, 0})
	check.Equal(t, "4 is skipped once, and nothing is new", polls(112*ms), []int64{4})
	check.Equal(t, "the timeout, ms", s.rto, 148)
	check.Equal(t, "the first timers, of 200 ms", polls(200*ms), []int64{6, 7})
	check.Equal(t, "4, after a timeout", polls(112*ms+148*ms), []int64{4})
	check.Equal(t, "6 and 7, after half a timeout more", polls(200*ms+274*ms), []int64{6, 7})
}

// Acks wait for a tick of 10 ms, or until they fill a datagram; those that the first number
// that is missing covers are left out.
func TestTurboAcks(t *testing.T) {
	r := newTurboReceiver()
	arrives := func(now core.Micros, n int64) bool {
		return r.Handle(now, flows.Datagram{Message: &turboData{n, 0}})
	}
	acks := func(now core.Micros) (next int64, numbers []int64) {
		for d, ok := r.Poll(now); ok; d, ok = r.Poll(now) {
			next = d.Message.(*turboAcks).next
			for _, a := range d.Message.(*turboAcks).list {
				numbers = append(numbers, a.number)
			}
		}
		return next, numbers
	}
	check.That(t, arrives(13*ms, 0) && arrives(14*ms, 1) && arrives(14*ms, 3), "they are new")
	check.That(t, !arrives(15*ms, 1), "it is not new")
	check.Equal(t, "the tick", r.Deadline(), 20*ms)
	next, numbers := acks(20 * ms)
	check.Equal(t, "next", next, 2)
	check.Equal(t, "those above, and the last", numbers, []int64{3, 1})
	for n := int64(10); n < 10+turboMTU/turboAckSize; n++ {
		_, numbers = acks(21 * ms)
		check.Equal(t, "before the datagram is full", numbers, nil)
		arrives(21*ms, n)
	}
	_, numbers = acks(21 * ms)
	check.Equal(t, "a full datagram", len(numbers), turboMTU/turboAckSize)
	check.Equal(t, "nothing waits", r.Deadline(), core.Never)
}
