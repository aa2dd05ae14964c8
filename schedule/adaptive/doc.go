// Package recovery is the recommended scheduler of the chunk protocol: it
// learns the path's round trip and rate, paces what it sends, finds losses, and
// sends the last slices more than once (spec/RECOVERY.md).
//
// A [Scheduler] takes its place behind the sender's seam:
//
//	statemachine.SenderConfig{Scheduler: recovery.New(recovery.Adaptive())}
//
// Everything is integers and virtual time; the same calls give the same slices.
// A Scheduler serves one sender and, like it, is not safe for concurrent use.
package adaptive
