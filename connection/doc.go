// Package connection is one connection between two ends (spec/CONNECTION.md): packets, channels
// and chunks under one envelope.
//
// [Conn] decides what a packet contains and when it is sent. It takes the datagrams of the other end
// apart and gives their records to the channels (package channel) and to the chunk machines
// (package lanes), over numbered packets (package packet), sealed by a session (package
// session). [Client] is a Conn with the handshake before it; [Server] is the handshake of many
// clients and a Conn for each.
//
// All of it is without clock, socket, goroutine or lock: datagrams and times go in, datagrams,
// messages and chunks come out. [Format] is the codec of the records that a connection adds to
// the records of the channels.
//
// Every record has one encoding. A decoder takes bytes if and only if encoding what it decoded
// gives the same bytes back; everything else is refused with an [*Error] that has the code, the
// byte and the sentence of the specification. Nothing panics, whatever the input, and what a
// peer can make an end hold is bounded.
package connection
