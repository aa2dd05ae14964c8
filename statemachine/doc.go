// Package statemachine holds the two ends of the chunk protocol as explicit,
// deterministic state machines: [Sender] and [Receiver] (sections 7 and 8 of
// spec/PROTOCOL.md, sections 5 and 6 of spec/REPAIR.md).
//
// A machine does no I/O, reads no clock, starts no goroutine, draws no random
// number and shares nothing. Packets and the time go in; packets and the next
// deadline come out:
//
//	for each packet that arrived: HandleAck, or HandleSlice
//	then, until it returns false: Poll, and send what it returns
//	then sleep until Deadline, or until the next packet
//
// Packets come before Poll when both are due at the same time, so that an ack
// always precedes a timer. Times are [core.Micros] of any clock that does not run
// backward, from 0 on; a time before the one that was passed last counts as that one.
//
// A sender and a receiver need the same [codec.Kind] and the same first chunk id. What is
// sent between them is encoded by a [codec.Framer] of that kind; the example shows the loop.
//
// Each machine is one page, sender.go and receiver.go: its states, its guards, its
// table of transitions with the actions of each row, the actions. The rows have the
// ids of the two documents. Which slices there are is kept in a ledger, one for each
// [codec.Kind]: of named slices a set, of repair slices counts.
//
// Which slice is sent next, and when, is not in the table: the [Scheduler] decides it.
// Package statemachine/schedule/adaptive has the recommended one for named slices,
// package statemachine/schedule/rateless the one for repair slices, and package
// statemachine/schedule/base the one of appendix G.
//
// Once a machine is running no event allocates, except memory that later chunks
// use again: a receiver's 1 KiB for each slice that arrives, a scheduler's record
// of each slice of the largest chunk so far. A machine is not safe for
// concurrent use.
package statemachine
