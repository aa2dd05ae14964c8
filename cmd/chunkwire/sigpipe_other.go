//go:build js || wasip1 || plan9

package main

// ignoreBrokenPipe does nothing where there is no such signal.
func ignoreBrokenPipe() {}
