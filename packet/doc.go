// Package packet is the layer of numbered packets with acks (spec/PACKETS.md). It says
// which packets arrived and which were probably lost, measures the round trip, cuts what
// does not fit a datagram, and decides between a good and a bad mode of sending. It never
// sends anything again.
//
// [Endpoint] is one end of a connection, without clock, socket or goroutine: datagrams
// and times go in, datagrams, payloads and [Event] values come out. [Congestion] is the
// machine of the two modes. [Format] is the codec of the datagrams, whose bytes are those
// of the library reliable 1.4.0.
//
// Every value has one encoding. A decoder takes bytes if and only if encoding what it
// decoded gives the same bytes back; everything else is refused with an [*Error] that has
// the code, the byte and the sentence of the specification. Nothing panics, whatever the
// input, and what a peer can make an endpoint hold is bounded.
package packet
