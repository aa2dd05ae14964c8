// Package adaptive is the recommended scheduler of the chunk protocol: it
// limits what is in flight by delay and loss, paces what it sends, finds losses, and
// sends the last slices more than once (spec/RECOVERY.md).
//
// A [Scheduler] is a field of the sender's configuration:
//
//	scheduler, err := adaptive.New(adaptive.Adaptive())
//	sender, err := statemachine.NewSender(statemachine.SenderConfig{Scheduler: scheduler})
//
// Everything is integers and virtual time; the same calls give the same slices.
// A Scheduler serves one sender and, like it, is not safe for concurrent use.
package adaptive
