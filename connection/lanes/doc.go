// Package lanes holds the pairs of chunk machines of one connection (appendix D of
// spec/PROTOCOL.md): the queue of chunks to send, the order of slices and of what is
// delivered, and what the pairs share of the path.
//
// [Lanes] does no I/O and reads no clock: slices, acks and times go in, slices, acks and
// chunks come out. How a slice or an ack names its lane on the wire is the caller's.
package lanes
