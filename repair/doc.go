// Package repair is the variant of the chunk protocol in which a loss costs no round trip
// (spec/REPAIR.md): its two packets, [Slice] and [Ack], and its two ends, [Sender] and
// [Receiver].
//
// A chunk of k slices has the ids 0 to 8,191: its own slices, 0 to k-1, and repair slices,
// which package erasure makes. Each transmission carries the next id, nothing is sent
// again, and any k slices with independent rows rebuild the chunk. An ack says how many
// are here, and which is the highest transmission that arrived.
//
// What is the same as in the chunk protocol is that of its packages: the frame, the sizes
// and the codes of package codec; the states, the errors and the counters of package
// statemachine. The machines are driven in the same way, too: see there.
//
// Each machine is one page, sender.go and receiver.go, as in package statemachine. When
// the next slice goes is not in the table: the [Scheduler] decides it. Package
// statemachine/schedule/rateless has the recommended one.
//
// Encoders and decoders hold no state, and allocate nothing, as those of package codec.
// Once a machine is running no event allocates, but for memory that later chunks use again.
// A machine is not safe for concurrent use.
package repair
