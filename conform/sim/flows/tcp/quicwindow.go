package tcp

import (
	"math"

	"github.com/chunkwire/chunkwire/core"
)

// Figures of quic-go's internal/congestion.
const (
	quicWindowLeast = 2 * one
	quicWindowMost  = 10_000 * one
	quicBurst       = 3 * one // a window with so little room limits the sender
)

// quicWindow is cubicSender of quic-go in the mode that it uses, Reno.
type quicWindow struct {
	cwnd, threshold int64
	beta            Ratio
	counted         int64 // packets that were acked since the window last grew
	top             int64 // the highest number that was acked
	newest          int64 // that was sent
	cutAt           int64 // newest when the window was last cut; -1: it was not
	start           hybrid
}

func newQuicWindow(c Config) quicWindow {
	return quicWindow{cwnd: int64(c.Window) * one, threshold: math.MaxInt64, beta: c.Beta, top: -1, cutAt: -1}
}

func (w *quicWindow) inSlowStart() bool { return w.cwnd < w.threshold }

// sent is OnPacketSent.
func (w *quicWindow) sent(n int64) { w.newest = n }

// maybeExit is MaybeExitSlowStart.
func (w *quicWindow) maybeExit(r *quicRoundTrip) {
	if w.inSlowStart() && w.start.exits(r, w.newest, w.cwnd) {
		w.threshold = w.cwnd
	}
}

// acked is OnPacketAcked, with what flew before the ack.
func (w *quicWindow) acked(n, before int64) {
	w.top = max(w.top, n)
	if w.top <= w.cutAt {
		return // in recovery
	}
	w.grow(before * one)
	if w.inSlowStart() {
		w.start.acked(n)
	}
}

// grow is maybeIncreaseCwnd.
func (w *quicWindow) grow(flight int64) {
	switch {
	case !w.limits(flight) || w.cwnd >= quicWindowMost:
	case w.inSlowStart():
		w.cwnd += one
	default:
		if w.counted++; w.counted >= w.cwnd/one {
			w.cwnd, w.counted = w.cwnd+one, 0
		}
	}
}

// limits is isCwndLimited.
func (w *quicWindow) limits(flight int64) bool {
	return w.cwnd-flight <= quicBurst || w.inSlowStart() && flight > w.cwnd/2
}

// lost is OnCongestionEvent: one cut for all that was sent before the last.
func (w *quicWindow) lost(n int64) {
	if n <= w.cutAt {
		return
	}
	w.cwnd = max(w.beta.of(w.cwnd), quicWindowLeast)
	w.threshold, w.cutAt, w.counted = w.cwnd, w.newest, 0
}

// rate is pacingRate.
func (w *quicWindow) rate(r *quicRoundTrip) rate {
	in := r.smoothed
	if !r.known {
		in = paceUsual
	}
	if w.inSlowStart() {
		return rate{2 * w.cwnd, in}
	}
	return rate{5 * w.cwnd, 4 * in}
}

// hybridLeast is the smallest window at which hybrid slow start ends slow start.
const hybridLeast = 16 * one

// hybrid is HybridSlowStart of quic-go: it looks at the smallest of the first eight samples
// of a round.
type hybrid struct {
	started bool
	end     int64 // the round ends with an ack above it
	current core.Micros
	samples int
	found   bool
}

// exits is ShouldExitSlowStart.
func (h *hybrid) exits(r *quicRoundTrip, newest, cwnd int64) bool {
	if !h.started {
		*h = hybrid{started: true, end: newest, found: h.found}
	}
	if h.found {
		return true
	}
	if h.samples++; h.samples <= roundSamples && (h.current == 0 || r.latest < h.current) {
		h.current = r.latest
	}
	if h.samples == roundSamples && h.current > r.least+rise(r.least) {
		h.found = true
	}
	return h.found && cwnd >= hybridLeast
}

// acked is OnPacketAcked.
func (h *hybrid) acked(n int64) {
	if n > h.end {
		h.started = false
	}
}
