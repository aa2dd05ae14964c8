// Package channel is the layer of reliable and unreliable messages on numbered packets
// (spec/CHANNELS.md). The receiver of a reliable channel asks for missing messages; the
// sender keeps every message until the receiver has it, or until its lifetime ends, and
// then reports that. Nothing is dropped silently.
//
// A message has 1 byte to 64 KiB. A reliable channel delivers each message exactly once, in order
// ([Ordered]) or as messages arrive ([Unordered]); an [Unreliable] one sends each message once.
// The receiver reports missing messages, in a window of up to 16,384 sequences, and the sender
// sends them again: there can be many messages, and a loss delays only messages that must wait for
// it. A message can have a lifetime. If it ends before the message arrives, the receiver reports
// that the message was skipped. A full queue refuses a message, and a slow reader closes the window.
//
// The payloads of packets carry the records of all channels. A driver that has an endpoint of
// packets (package packet, or packets of its own) and a [Mux] with the same configuration as that
// of the other end does this:
//
//	for each message:                      Mux.Send; with ErrQueueFull, again later
//	at the tick and at Mux.Prompt, until the payload is empty:
//	                                       Mux.Compose, and send the payload in a packet
//	for each payload that was received:    Mux.Handle, with the number of its packet and its ack
//	after that:                            Mux.SetPath, with what the packets measured
//	for each channel, until there is none: Mux.Read
//
// [Mux.ChannelErr] has the reason why a channel failed: for 10 s nothing came back. The example of
// [Mux] is a whole program, with a packet that is lost.
//
// [Sender] and [Receiver] are the two machines of one reliable channel, without clock,
// socket or goroutine: records and times go in, records and messages come out. [Mux] is
// all channels of one end of a connection: it takes the payloads of packets apart and
// composes them. [Format] is the codec of the records.
//
// Every record has one encoding. A decoder takes bytes if and only if encoding what it
// decoded gives the same bytes back; everything else is refused with an [*Error] that has
// the code, the byte and the sentence of the specification. Nothing panics, whatever the
// input, and the memory that a peer can make a receiver hold is bounded.
package channel
