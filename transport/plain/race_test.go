//go:build race

package plain

// raced reports whether the race detector is on.
const raced = true
