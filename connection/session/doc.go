// Package session is the beginning and the envelope of a connection: sections 2 to 6 of
// spec/CONNECTION.md.
//
// A [Client] and a [Server] link: the server answers an address that it does not know with a
// challenge and keeps nothing, the client proves that it has the key and can read at its
// address, and both have a [Link] then. A Link seals datagrams and opens the datagrams of the peer, in
// one of three strengths. When the client's address changes it links again, and the Link goes on.
//
// Client and Server are sans-IO, with no clock, socket or goroutine; randomness is an input,
// too. [Message] is the codec.
//
// Every message has one encoding. A decoder takes bytes if and only if encoding what it
// decoded gives the same bytes back; everything else is refused with an [*Error] that has
// the code, the byte and the sentence of the specification. Nothing panics, whatever the
// input. A datagram of an address that answered no challenge makes a server keep nothing, and
// draws fewer bytes than it has.
package session
