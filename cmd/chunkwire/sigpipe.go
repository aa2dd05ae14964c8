//go:build !js && !wasip1 && !plan9

package main

import (
	"os/signal"
	"syscall"
)

// ignoreBrokenPipe makes a reader that goes away an error of the write, to be
// told to the peer, instead of the end of the process.
func ignoreBrokenPipe() { signal.Ignore(syscall.SIGPIPE) }
