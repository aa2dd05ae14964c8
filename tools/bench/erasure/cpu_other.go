//go:build !linux

package main

import "time"

var start = time.Now()

func now() time.Duration { return time.Since(start) }
