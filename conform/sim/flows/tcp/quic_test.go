package tcp

import (
	"math"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/core"
)

// quicTalk is a conversation with a sender of QUIC, whose first packet has been acked 50 ms
// after it was sent.
type quicTalk struct {
	t   *testing.T
	s   *quicSender
	now core.Micros
}

func beginQuic(t *testing.T) *quicTalk {
	k := &quicTalk{t, newQuicSender(Config{Model: QuicGo}.withDefaults()), 0}
	check.Equal(t, "the first goes alone", k.sends(), []int64{0})
	k.now = 50 * ms
	k.acks(span{0, 1})
	return k
}

// sends polls all that is due, and returns which pieces go.
func (k *quicTalk) sends() (all []int64) {
	for d, ok := k.s.Poll(k.now); ok; d, ok = k.s.Poll(k.now) {
		all = append(all, d.Message.(*segment).piece)
	}
	return all
}

// sendsUntil does it over a time, as deadlines come.
func (k *quicTalk) sendsUntil(end core.Micros) (all []int64) {
	for ; k.now <= end; k.now = k.s.Deadline() {
		all = append(all, k.sends()...)
	}
	k.now = end
	return all
}

func (k *quicTalk) acks(ranges ...span) {
	k.s.Handle(k.now, flows.Datagram{Message: &quicAcks{ranges: ranges}})
}

func (k *quicTalk) window(want float64) {
	k.t.Helper()
	if got := float64(k.s.window.cwnd) / one; math.Abs(got-want) > 0.001 {
		k.t.Fatalf("window is %.3f, want %.3f", got, want)
	}
}

// Ten go at once, the rest of the first window in half a round trip.
func TestQuicPacesTheFirstWindow(t *testing.T) {
	k := beginQuic(t)
	check.Equal(t, "at once", k.sends(), from(1, 11))
	check.Equal(t, "half a round trip", k.sendsUntil(75*ms), from(11, 33))
	k.now = 100 * ms
	k.acks(span{1, 33})
	k.window(64)
}

// Three packets above one show that it is lost; its piece goes first, in a packet of a new
// number, and the loss of that one is noticed like any other.
func TestQuicSendsAgain(t *testing.T) {
	k := beginQuic(t)
	k.sendsUntil(90 * ms) // packets 1 to 32
	k.now = 100 * ms
	k.acks(span{2, 4}, span{0, 1})
	k.window(34)
	k.acks(span{2, 5}, span{0, 1}) // 1 is lost
	k.window(34 * 0.7)
	check.Equal(t, "flight", k.s.flight, 28)
	k.acks(span{2, 33})
	k.window(34 * 0.7) // no growth for what was sent before the cut
	check.Equal(t, "pieces", k.sendsUntil(103 * ms)[:3], []int64{1, 33, 34})
	k.now = 150 * ms
	k.acks(span{34, 37}, span{2, 33}) // packet 33, which carried piece 1
	check.That(t, k.s.window.cwnd < 17*one, "a second cut")
	check.Equal(t, "piece", k.sendsUntil(151 * ms)[:1], []int64{1})
}

// A packet below one that was acked is lost after 9/8 of a round trip, too.
func TestQuicLosesByTime(t *testing.T) {
	k := beginQuic(t)
	k.sendsUntil(90 * ms)
	k.now = 100 * ms
	k.acks(span{2, 33}, span{0, 1})
	k.window(22.4)
	check.Equal(t, "flight", k.s.flight, 0)
}

// The probe timeout sends two packets whatever the window says, doubles, and cuts nothing.
func TestQuicProbes(t *testing.T) {
	k := beginQuic(t)
	k.sendsUntil(90 * ms)
	at := k.s.lastSent + 50*ms + 4*25*ms + 25*ms
	check.Equal(t, "deadline", k.s.Deadline(), at)
	k.now = at
	check.Equal(t, "the oldest two", k.sends(), []int64{1, 2})
	check.Equal(t, "next", k.s.Deadline(), at+2*175*ms)
	k.now = at + 350*ms
	check.Equal(t, "two more", k.sends(), []int64{3, 4})
	k.window(32)
}

// Each second packet draws an ack; the first and what shows a gap does at once, with how long
// the newest has waited.
func TestQuicAcks(t *testing.T) {
	r := newQuicReceiver()
	arrives := func(now core.Micros, n int64) { r.Handle(now, flows.Datagram{Message: &segment{n, n}}) }
	expect := func(now core.Micros, delay core.Micros, ranges ...span) {
		t.Helper()
		d, ok := r.Poll(now)
		check.Equal(t, "an ack", ok, len(ranges) > 0)
		if ok {
			a := d.Message.(*quicAcks)
			check.Equal(t, "delay", a.delay, delay)
			check.Equal(t, "ranges", len(a.ranges), len(ranges))
			for i, s := range a.ranges {
				check.Same(t, "range", s, ranges[i])
			}
		}
	}
	arrives(0, 0)
	expect(0, 0, span{0, 1})
	arrives(ms, 1)
	expect(25*ms, 0)
	expect(26*ms, 25*ms, span{0, 2})
	arrives(30*ms, 2)
	arrives(31*ms, 3)
	expect(31*ms, 0, span{0, 4})
	arrives(32*ms, 6)
	expect(32*ms, 0, span{6, 7}, span{0, 4})
	arrives(33*ms, 4)
	expect(33*ms, ms, span{6, 7}, span{0, 5})
}
