// Package plain carries chunks of up to 256 KiB over UDP, or over any
// net.PacketConn or net.Conn that moves datagrams: it drives the machines of
// package statemachine with the packets of package codec.
//
// An [Endpoint] is one socket and its connections. A [Conn] is a connection
// with one peer and carries chunks both ways: each chunk arrives whole, in
// order and once, or the connection ends with an error at the end that sends. It
// ends with one at the other end too if a part of the chunk has arrived; if
// nothing has, that end goes on waiting for a first slice, unless
// Config.IdleTimeout is set.
//
// There is no handshake: a connection begins with its first slice. So Dial does
// not fail because nobody is there, and Accept does not return before the peer
// sends a chunk.
//
//	peer, err := plain.Dial(ctx, "udp", "192.0.2.1:9000", cfg)
//	...
//	err = peer.Send(ctx, chunk) // nil: the peer has it
//
// Package transport/file carries content of any size as a stream of chunks
// (appendix A of spec/PROTOCOL.md). One chunk is in flight at a time, which leaves
// a round trip of silence between two; Config.Lanes allows more (appendix D).
//
// [Over] makes a connection over a net.Conn: a UDP socket, a DTLS
// association, the datagrams of a QUIC connection. To encrypt datagrams on a
// socket with many peers, wrap its net.PacketConn; see [New] and the example.
//
// # How it works
//
// An Endpoint has two goroutines, however many connections it has. The reader
// takes datagrams from the socket, decodes them and gives them to the machines.
// The driver sleeps until a machine has something to send, encodes it and is
// the only one that writes to the socket. Everything else happens in the
// caller's goroutine. While a write blocks a timer ends connections whose time is
// over.
//
// The driver collects up to 63 datagrams. Consecutive ones for one peer go
// to the system in one call where it can cut them up itself (on Linux, by UDP
// segmentation offload, on sockets of type *net.UDPConn); docs/FLEET.md has the
// figures. The reader takes what has arrived in as few calls. The environment
// variable CHUNKWIRE_NO_OFFLOAD=1 turns both off.
//
// An idle connection costs about 2 KiB: the memory of a chunk is allocated when
// it begins and released when it is done. Chunks that are sent are not copied, so
// one that goes to thousands is in memory once; with Config.Repair send it by
// [Conn.SendEncoded], so that its repair slices are, too.
//
// One mutex guards all machines of an endpoint; methods of Endpoint and Conn that
// need it end in Locked. An event takes the machines some hundred nanoseconds and a datagram
// costs the system several microseconds, so there is nothing to win from more
// locks as long as one goroutine reads and one writes. With Config.Repair a repair slice
// takes some 10 us to make, 24 us to store, and a chunk that comes as repair slices only 12 ms
// to rebuild, for which the other connections wait (section 10.3 of spec/REPAIR.md).
//
// # Limits
//
// The protocol is neither encrypted nor authenticated; see section 12 of the
// specification. A server that answers a peer's first chunk with a large one sends
// it to whatever source address the peer has, or forges: Config.LimitUnvalidated
// bounds that, and Config.Admit can ask for more.
//
// The protocol has no connection id either (CON-5). A peer that restarts at
// the same address while its old connection is active is ignored until that ends;
// worse, if exactly one chunk had arrived before, its new first chunk looks like
// a late duplicate of that one, and is acked unread; and if one had arrived in
// part, slices of both are joined. A new port or protocol id for each start avoids
// all of that. And slices of chunk 0 that come late, after their connection was
// closed, look like a new connection: [Conn.Linger] before Close avoids that.
package plain
