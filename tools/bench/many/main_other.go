//go:build !linux

package main

import "log"

func main() { log.Fatal("many: measures what Linux does, and needs it") }
