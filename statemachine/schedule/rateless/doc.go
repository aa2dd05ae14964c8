// Package rateless is the recommended scheduler of the chunk protocol with repair
// slices (spec/REPAIR.md): it sends the next id while less is in flight than the
// rest of the chunk needs, by the recent loss.
//
// A [Scheduler] is a field of the sender's configuration:
//
//	scheduler, err := rateless.New(rateless.Default())
//	sender, err := statemachine.NewSender(statemachine.SenderConfig{Kind: codec.Repair, Scheduler: scheduler})
//
// Everything is integers and virtual time; the same calls give the same
// transmissions. A Scheduler serves one sender and, like it, is not safe for
// concurrent use.
package rateless
