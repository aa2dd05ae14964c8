package tcp

import (
	"math"

	"github.com/chunkwire/chunkwire/core"
)

// one is a datagram in the unit of windows, so that they can grow by fractions of one.
const one = 1 << 16

// leastThreshold is the smallest slow start threshold (RFC 5681, equation 4).
const leastThreshold = 2 * one

// news is what an ack tells a window.
type news struct {
	now       core.Micros
	n         int64       // datagrams that it acks
	rtt       core.Micros // its sample; 0: none
	smoothed  core.Micros // the estimate
	least     core.Micros // the smallest sample of all
	top, next int64       // the highest number that was acked, and the next that is sent
}

// window is a congestion window. A sender calls acked for acks outside of loss recovery
// that found it limited by the window, lost once for all that is lost in one recovery, and
// expired when the retransmission timer runs out: again if not for the first time in a row.
type window interface {
	size() int64 // in units of one
	inSlowStart() bool
	acked(n news)
	lost(flight int64)
	expired(flight int64, again bool)
}

// slowStart finds the end of slow start before something is lost.
type slowStart interface {
	// grows returns by how much the window grows, and whether slow start ends.
	grows(n news, window int64) (by int64, ends bool)
	// begins is called when slow start begins again.
	begins()
}

// loss is a window with the threshold of slow start, and what both windows do alike.
type loss struct {
	cwnd, threshold int64
	start           slowStart
	beta            Ratio
	least           int64 // the window is not cut below it
}

func newLoss(c Config) loss {
	return loss{int64(c.Window) * one, math.MaxInt64, c.start(), c.Beta, leastThreshold}
}

func (l *loss) size() int64       { return l.cwnd }
func (l *loss) inSlowStart() bool { return l.cwnd < l.threshold }

// grow is slow start: a datagram for each that was acked.
func (l *loss) grow(n news) {
	by, ends := l.start.grows(n, l.cwnd)
	l.cwnd = min(l.cwnd+by, l.threshold)
	if ends {
		l.threshold = l.cwnd
	}
}

// cut sets window and threshold to a part of what flies.
func (l *loss) cut(flight int64) {
	l.threshold = max(l.beta.of(min(flight, l.cwnd)), l.least)
	l.cwnd = l.threshold
}

// restart sets the threshold as cut does, unless it was for this loss, and the window to one
// datagram (RFC 5681, 3.1).
func (l *loss) restart(flight int64, again bool) {
	if !again {
		l.cut(flight)
	}
	l.cwnd = one
	l.start.begins()
}

// standard is slow start as RFC 5681 has it: it ends by loss only.
type standard struct{}

func (standard) grows(n news, _ int64) (int64, bool) { return n.n * one, false }
func (standard) begins()                             {}
