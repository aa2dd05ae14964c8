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
func watch(s screen, m *sliceMap) (stop func()) {
	v := view{screen: s, slices: m, began: time.Now()}
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
				v.end()
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
	screen
	slices  *sliceMap
	began   time.Time
	lines   int // drawn before, to be drawn over
	quarter int // printed before
}

func (v *view) refresh() {
	sums := v.slices.totals()
	if sums.Sent == 0 {
		v.began = time.Now() // the transfer has not begun
		return
	}
	if v.live {
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
	beyond := fmt.Sprintf("%d resent", s.Resent)
	if v.slices.repair {
		beyond = fmt.Sprintf("%d for repair", s.Repair)
	}
	return fmt.Sprintf("%6d ms  %3d/%d slices acked  %s  RTT %v  %s",
		elapsed.Milliseconds(), s.Acked, v.slices.numSlices, formatBits(rate), s.RTT.Round(time.Millisecond/10), beyond)
}

func (v *view) redraw(s sliceSums) {
	lines := append(v.slices.live(v.mapWidth(), v.colors), v.cut(v.slices.legend()), v.cut(v.status(s)))
	var b strings.Builder
	if v.lines == 0 {
		b.WriteString("\x1b[?25l") // the cursor would flicker
	} else {
		fmt.Fprintf(&b, "\x1b[%dA", v.lines)
	}
	for _, line := range lines {
		b.WriteString("\x1b[2K  " + line + "\n")
	}
	v.lines = len(lines)
	_, _ = io.WriteString(v.w, b.String())
}

// end shows the cursor again.
func (v *view) end() {
	if v.lines > 0 {
		_, _ = io.WriteString(v.w, "\x1b[?25h")
	}
}
