// Package packet is the layer of numbered packets with acks (spec/PACKETS.md). It reports
// which packets arrived and which were probably lost, measures the round trip, cuts what
// does not fit a datagram, and decides between a good and a bad mode of sending. It never
// sends anything again.
//
// It is for state that a game sends 60 times a second, such as inputs and positions: the next
// packet has newer values, so nothing is resent. Each packet has a number, and acks of the last
// 32 packets that came the other way. From these an end knows which of its packets arrived, the
// round trip and its jitter, the share of packets that is lost, and whether the path is good for
// 30 packets a second or only for 10. A payload of up to 16 KiB is sent in fragments, and is lost
// if one of them is; 2 to 4 fragments are reasonable. Messages that must arrive are the work of
// package channel, whose payloads these packets carry.
//
// A driver has a socket and a clock, and does this for each end:
//
//	for each datagram that arrived: Receive, which gives the payload to a function
//	for each payload to send:       Send, and send the datagrams that it returns
//	then, until it returns none:    Poll, and send its datagram, which only acks
//	then:                           Events, which numbers were acked or lost
//	then sleep until Deadline, or until the next datagram
//
// Datagrams come before Poll when both are due at the same time, so that an ack precedes a timer.
// [Endpoint.Estimates] has the estimates of the path, and [Endpoint.NextAt] the time of the next
// packet for a program that keeps to the cadence of the mode. The example of [Endpoint] is a whole
// program.
//
// The layer has no encryption: an attacker that can forge a source address can forge numbers and
// acks (section 12). Below a connection (package connection) it is protected.
//
// [Endpoint] is one end of a connection, without clock, socket or goroutine: datagrams
// and times go in, datagrams, payloads and [Event] values come out. [Congestion] is the
// machine of the two modes. [Format] is the codec of the datagrams, whose bytes are those
// of the library reliable 1.4.0.
//
// Every value has one encoding. A decoder takes bytes if and only if encoding what it
// decoded gives the same bytes back; everything else is refused with an [*Error] that has
// the code, the byte and the sentence of the specification. Nothing panics, whatever the
// input, and the memory that a peer can make an endpoint hold is bounded.
package packet
