// Package channel is the layer of reliable and unreliable messages on numbered packets
// (spec/CHANNELS.md). The receiver of a reliable channel asks for what is missing; the
// sender keeps every message until the receiver has it, or until its lifetime ends, and
// then says so. Nothing is dropped in silence.
//
// [Sender] and [Receiver] are the two machines of one reliable channel, without clock,
// socket or goroutine: records and times go in, records and messages come out. [Mux] is
// all channels of one end of a connection: it takes the payloads of packets apart and
// composes them. [Format] is the codec of the records.
//
// Every record has one encoding. A decoder takes bytes if and only if encoding what it
// decoded gives the same bytes back; everything else is refused with an [*Error] that has
// the code, the byte and the sentence of the specification. Nothing panics, whatever the
// input, and what a peer can make a receiver hold is bounded.
package channel
