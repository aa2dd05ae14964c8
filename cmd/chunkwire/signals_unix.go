//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// endingSignals are the signals that end a command in an orderly way. A SIGHUP
// that is ignored, as under nohup, stays so.
func endingSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// ignoreBackgroundReads makes a read of the terminal fail in the background, instead of stopping the
// process.
func ignoreBackgroundReads() { signal.Ignore(syscall.SIGTTIN) }

// ignoreBrokenPipe makes a reader that goes away an error of the write, to be
// reported to the peer, instead of the end of the process.
func ignoreBrokenPipe() { signal.Ignore(syscall.SIGPIPE) }
