package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress returns a function that shows how far a transfer is, as a bar on w if
// that is a terminal and not at all otherwise, and one that ends the bar.
func progress(w io.Writer, verb string) (show func(done, total int64), end func()) {
	if !isTerminal(w) {
		return func(int64, int64) {}, func() {}
	}
	var bar *progressbar.ProgressBar
	show = func(done, total int64) {
		if bar == nil {
			bar = progressbar.NewOptions64(total,
				progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(verb),
				progressbar.OptionShowBytes(true), progressbar.OptionUseIECUnits(true),
				progressbar.OptionThrottle(50*time.Millisecond), progressbar.OptionClearOnFinish())
		}
		_ = bar.Set64(done)
	}
	return show, func() {
		if bar != nil {
			_ = bar.Finish()
		}
	}
}

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
