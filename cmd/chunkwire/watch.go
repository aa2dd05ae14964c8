package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/chunkwire/chunkwire/codec"
)

// watch shows a transfer while it runs: a picture that redraws itself on a
// terminal, a line for each quarter in a pipe. The returned function draws the
// last state and ends it.
func watch(w io.Writer, m *sliceMap) (stop func()) {
	v := view{w: w, slices: m, began: time.Now(), terminal: isTerminal(w)}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				v.refresh()
			case <-done:
				v.refresh()
				return
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// view is what is on the screen.
type view struct {
	w        io.Writer
	slices   *sliceMap
	began    time.Time
	terminal bool
	lines    int // drawn before, to be drawn over
	quarter  int // told before
}

func (v *view) refresh() {
	sums := v.slices.totals()
	if sums.Sent == 0 {
		v.began = time.Now() // the transfer has not begun
		return
	}
	if v.terminal {
		v.redraw(sums)
		return
	}
	if q := 4 * sums.Acked / v.slices.numSlices; q > v.quarter {
		v.quarter = q
		fmt.Fprintln(v.w, v.status(sums))
	}
}

func (v *view) status(s sliceSums) string {
	elapsed := time.Since(v.began)
	rate := 8 * codec.SliceSize * float64(s.Acked) / elapsed.Seconds()
	return fmt.Sprintf("%6d ms  %3d/%d slices acked  %s  RTT %v  %d resent",
		elapsed.Milliseconds(), s.Acked, v.slices.numSlices, formatBits(rate), s.RTT.Round(time.Millisecond/10), s.Resent)
}

func (v *view) redraw(s sliceSums) {
	lines := append(v.slices.live(), v.status(s))
	var b strings.Builder
	if v.lines > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", v.lines)
	}
	for _, line := range lines {
		b.WriteString("\x1b[2K  " + line + "\n")
	}
	v.lines = len(lines)
	_, _ = io.WriteString(v.w, b.String())
}
