package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/chunkwire/chunkwire/codec"
)

// progress returns a function that shows how far a transfer is, as a bar on w if
// that is a terminal and not at all otherwise, and one that ends the bar.
func progress(w io.Writer, verb string) (show func(done, total int64), end func()) {
	return showBar(w, verb, progressbar.OptionShowBytes(true), progressbar.OptionUseIECUnits(true))
}

// showBar is progress with other options, of what need not be bytes.
func showBar(w io.Writer, verb string, options ...progressbar.Option) (show func(done, total int64), end func()) {
	if !isTerminal(w) {
		return func(int64, int64) {}, func() {}
	}
	var bar *progressbar.ProgressBar
	show = func(done, total int64) {
		if bar == nil {
			bar = progressbar.NewOptions64(total, append(options,
				progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(verb),
				progressbar.OptionThrottle(50*time.Millisecond), progressbar.OptionClearOnFinish())...)
		}
		_ = bar.Set64(done)
	}
	return show, func() {
		if bar != nil {
			_ = bar.Finish()
		}
	}
}

// course is how far a transfer has come.
type course struct {
	begun       bool // the peer has answered, or sent something
	done, total int64
}

func (c course) String() string {
	if c.total == 0 { // not known yet
		return formatBytes(float64(c.done))
	}
	return formatBytes(float64(c.done)) + " of " + formatBytes(float64(c.total))
}

// follow returns a function that notes how far a transfer is, and shows it.
func (c *course) follow(show func(done, total int64)) func(done, total int64) {
	return func(done, total int64) {
		*c = course{true, done, total}
		show(done, total)
	}
}

// watchSlices shows how many slices of the one chunk of --raw there are, until
// stop is called, which returns how many there were last.
func watchSlices(slices func() (have, all int), show func(done, total int64)) (stop func() (have, all int)) {
	done, ended := make(chan struct{}), make(chan struct{})
	most := 0 // of a chunk that failed the number is forgotten
	look := func() (have, all int) {
		have, all = slices()
		most = max(most, all)
		return have, most
	}
	go func() {
		defer close(ended)
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if have, all := look(); have > 0 {
					show(int64(have)*codec.SliceSize, int64(all)*codec.SliceSize)
				}
			case <-done:
				return
			}
		}
	}()
	return func() (have, all int) {
		close(done)
		<-ended
		return look()
	}
}

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// note prints a note for people, once each.
type note struct{ w io.Writer }

func (n note) printf(format string, args ...any) {
	fmt.Fprintf(n.w, "chunkwire: note: "+format+"\n", args...)
}
