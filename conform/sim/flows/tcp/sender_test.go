package tcp

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/core"
)

// talk is a conversation with a sender of TCP: the test is its receiver and its clock.
type talk struct {
	t   *testing.T
	s   *sender
	now core.Micros
}

func begin(t *testing.T, c Config) *talk { return &talk{t, newSender(c.withDefaults()), 0} }

// sends polls all that is due, and expects it to be these segments.
func (k *talk) sends(want ...int64) {
	k.t.Helper()
	var got []int64
	for d, ok := k.s.Poll(k.now); ok; d, ok = k.s.Poll(k.now) {
		got = append(got, d.Message.(*segment).piece)
	}
	check.Equal(k.t, "sent", got, want)
}

// from lists the segments from one to before another.
func from(a, b int64) (all []int64) {
	for ; a < b; a++ {
		all = append(all, a)
	}
	return all
}

func (k *talk) acks(next int64, blocks ...span) {
	k.s.Handle(k.now, flows.Datagram{Message: &acks{next, blocks}})
}

// window expects the congestion window, in datagrams.
func (k *talk) window(want float64) {
	k.t.Helper()
	check.Equal(k.t, "window", float64(k.s.window.size())/one, want)
}

func TestSlowStartDoublesTheWindow(t *testing.T) {
	k := begin(t, Config{})
	k.sends(from(0, 10)...)
	k.now = 50 * ms
	k.acks(10)
	k.window(20)
	k.sends(from(10, 30)...)
	k.now = 100 * ms
	for n := int64(12); n <= 30; n += 2 {
		k.acks(n)
	}
	k.window(40)
	k.sends(from(30, 70)...)
}

// RFC 5681, 3.1: the window grows while it limits the sender only.
func TestAWindowThatIsNotUsedStays(t *testing.T) {
	k := begin(t, Config{Total: 3})
	k.sends(0, 1, 2)
	k.acks(3)
	k.window(10)
	check.Equal(t, "timer", k.s.Deadline(), core.Never)
}

// RFC 6675: three segments above a hole show a loss; the window is cut once, holes are filled
// as pipe allows, and new data follow.
func TestFastRecovery(t *testing.T) {
	k := begin(t, Config{})
	k.sends(from(0, 10)...)
	k.now = 50 * ms
	k.acks(0, span{1, 2})
	k.sends(10) // limited transmit
	k.acks(0, span{1, 3})
	k.sends(11)
	k.window(10)
	k.acks(0, span{1, 4}) // 0 is lost; of twelve that fly, a window of ten counts
	k.window(5)
	k.sends() // 4 to 11 are under way
	k.acks(0, span{1, 6})
	k.sends()
	k.acks(0, span{1, 7})
	k.sends()
	k.acks(0, span{1, 8})
	k.sends(0) // 8 to 11 and this one
	k.acks(0, span{1, 9})
	k.sends(12)
	k.acks(0, span{1, 10})
	k.sends(13)
	k.now = 100 * ms
	k.acks(12) // 0 has filled the hole: all of when recovery began is there
	check.Equal(t, "phase", k.s.phase, open)
	k.sends(14, 15, 16)
}

// Several holes cost one cut (RFC 6582); what is sent after it may cost another.
func TestOneCutARecovery(t *testing.T) {
	k := begin(t, Config{Window: 20})
	k.sends(from(0, 20)...)
	k.now = 50 * ms
	k.acks(2, span{3, 5}, span{7, 8})
	k.window(9)                        // half of the 18 that are not acked
	k.acks(2, span{7, 20}, span{3, 5}) // 2, 5 and 6 are lost, and nothing else flies
	k.sends(2, 5, 6, 20, 21, 22, 23, 24, 25)
	k.now = 100 * ms
	k.acks(20)
	k.window(9)
	k.sends(26, 27, 28)
	k.acks(20, span{21, 24})
	k.window(4.5)
}

// RFC 6298 and 5681, 3.1: after a timeout the window is one, the timer doubles, and slow start
// goes up to half of what flew.
func TestTheTimerRunsOut(t *testing.T) {
	k := begin(t, Config{})
	k.sends(from(0, 10)...)
	k.now = 50 * ms
	k.acks(10)
	k.sends(from(10, 30)...)
	check.Equal(t, "timer", k.s.Deadline(), 50*ms+50*ms+200*ms)
	k.now = k.s.Deadline()
	k.sends(10)
	k.window(1)
	check.Equal(t, "second timer", k.s.Deadline(), k.now+2*250*ms)
	k.now = k.s.Deadline()
	k.sends(10)
	check.Equal(t, "third timer", k.s.Deadline(), k.now+4*250*ms)
	k.now += 50 * ms
	k.acks(11)
	k.window(2)
	k.sends(11, 12)
	check.Equal(t, "timer after news", k.s.Deadline(), k.now+250*ms)
	k.acks(13)
	k.sends(13, 14, 15, 16)
	k.acks(17)
	k.sends(from(17, 25)...)
	k.acks(25)
	k.window(10) // half of the 20 that flew; from here on one a round trip
	k.sends(from(25, 35)...)
	k.acks(35)
	k.window(11)
}

// A segment that was sent twice gives no sample (Karn).
func TestWhatWasSentTwiceIsNoSample(t *testing.T) {
	k := begin(t, Config{})
	k.sends(from(0, 10)...)
	k.now = second
	k.sends(0)
	k.now = second + 50*ms
	k.acks(1)
	check.That(t, !k.s.rtt.known(), "no sample of segment 0")
	k.acks(2)
	check.Equal(t, "the oldest that was sent once", k.s.rtt.smoothed, second+50*ms)
}

// The pacer lets ten go at once, then two windows a round trip.
func TestPacing(t *testing.T) {
	k := begin(t, Config{Paced: true, Window: 40})
	k.sends(from(0, 40)...) // no round trip is known
	k.now = 100 * ms
	k.acks(40)
	k.window(80)
	k.sends(from(40, 50)...)
	n := 0
	for k.now = k.s.Deadline(); k.now <= 110*ms; k.now = k.s.Deadline() {
		for _, ok := k.s.Poll(k.now); ok; _, ok = k.s.Poll(k.now) {
			n++
		}
	}
	check.That(t, n == 15 || n == 16, "16 go in 10 ms, of 160 in 100")
}
