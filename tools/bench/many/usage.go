//go:build linux

package main

import (
	"syscall"
	"time"
)

// processorTime returns what the process has used so far, user and system.
func processorTime() (user, system time.Duration) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, 0
	}
	return time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano())
}
