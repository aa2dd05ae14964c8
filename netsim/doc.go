// Package netsim is a bad network that behaves the same way every time.
//
// It has three layers, each usable on its own.
//
// # Real sockets
//
// [Relay] stands between clients and a server that talk over real packet
// sockets, and makes a poor path out of a good one. It is meant for
// demonstrations, and for tests of any program: real time and real sockets are never quite repeatable.
//
// # Sockets in memory
//
// [Network] connects any number of [Conn], each a [net.PacketConn]. They run in
// real time, or in the virtual time of a
// [testing/synctest] bubble, where an hour of transfer takes no time and
// gives the same result in every run, as long as no two goroutines race to send
// on the same link at the same instant. Make the Network inside the bubble that
// uses it. A Conn has no goroutine of its own: the reader waits.
//
// # Virtual time
//
// [Link] is one direction of a path as plain arithmetic. [Link.Send] takes the
// time and the size of a datagram and answers when it arrives, if it does. It
// has no clock, no goroutine and does not touch the datagram ([Arrivals.Flipped]
// says what its owner must do), so a simulation can make millions of steps a
// second.
//
// A datagram crosses a Link in this order: the policer, the queue,
// which can mark it or drop it early ([AQM]), the bottleneck, delay and jitter, then loss, duplication,
// corruption, reordering and the tick. [Path] holds the figures of all of them; its zero
// value is a perfect wire.
//
// # Repeatable runs
//
// All chance comes from the seed given to [NewLink], [NewNetwork] or
// [NewRelay]. Every datagram uses up the same number of random draws, whatever
// happens to it. So a change to one probability leaves the other faults where
// they were, and two runs can be compared datagram by datagram.
package netsim
