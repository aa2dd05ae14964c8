//go:build !unix

package main

import (
	"os"
	"syscall"
)

// endingSignals are the signals that end a command in an orderly way.
func endingSignals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

// ignoreBackgroundReads does nothing where there is no such signal.
func ignoreBackgroundReads() {}

// ignoreBrokenPipe does nothing where there is no such signal.
func ignoreBrokenPipe() {}
