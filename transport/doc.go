// Package transport is connections over UDP, or over any net.PacketConn that moves
// datagrams: it drives package connection (spec/CONNECTION.md).
//
// A [Server] is one address, and takes connections of many clients there; [Dial]
// makes one. A [Peer] is an end of a connection, and has three services beside each
// other on one port: [Chunks], blocks of up to 256 KiB that must arrive; channels of
// messages that must arrive, each [Channel] in order or not; and messages that may be
// lost.
//
//	server, err := transport.Listen("udp", ":9000", transport.Config{Keys: keys})
//	peer, err := server.Accept(ctx)                // after the handshake
//	err = peer.Chunks().Send(ctx, world)           // nil: the peer has all of it
//	err = peer.Channel(1).Send([]byte("welcome"))  // ordered; goes with the next packet
//	err = peer.Unreliable().Send(positions)
//	message, err := peer.Channel(1).Recv(ctx)
//
// In the tick of a game, [Channel.TryRecv] reads without waiting, [Server.Broadcast] sends to all
// clients, and SendNow at the end sends at once what waits. A channel of kind channel.Latest keeps
// only the newest message. [Peer.RTT] is the ping, and [Peer.RemoteTime] what the server's clock
// shows. The command in examples/game is a whole game to copy.
//
// A connection begins with a handshake: no address gets more bytes than it sent
// before it has answered a challenge, and with Config.Keys none gets in without its
// key. Everything is encrypted (session.AEAD), or authenticated, by keys that both ends
// make for the connection and then forget. Without Config.Keys clients are anonymous:
// whoever only listens reads nothing, and whoever stands between the two ends from the
// beginning can read and forge, unless the clients have Config.ServerKey.
//
// Keys must be random, not passwords: 32 bytes for each identity, or for each session, as
// a lobby can give them over TLS. The example "noise" gets them by a Noise handshake.
//
// Chunks go as repair slices (spec/REPAIR.md) where both ends have them: any that are
// enough make the chunk, so that a loss costs no round trip. A chunk that goes to many
// should be encoded once for all: see [Chunks.SendEncoded]. An end without repair slices
// is sent slices that have names, which are sent again when they are lost.
//
// Where both ends' sockets read and set the field ECN of IP headers, which UDP sockets of
// Linux do, slices go with it: a router whose queue becomes long marks them instead of
// dropping some, and the sender is notified. [Config].NoECN turns that off; any other
// net.PacketConn has it if it is an [ECNConn].
//
// A connection ends by Close at either end, which notifies the other end, or when
// nothing was heard or acked for Config.Timeout. It survives a change of the client's address:
// the client notices silence, and resumes by itself, or at once by [Peer.Rebind].
//
// Package transport/plain is the chunk protocol without all that, for private
// networks and other implementations.
//
// # How it works
//
// A socket has a goroutine that reads and one that writes, however many connections
// there are (package internal/driver), and a mutex that guards them. Config.Sockets
// gives a server several sockets at one address, each with goroutines, a mutex and
// connections of its own; a datagram that arrives at another socket than its
// connection's is handled all the same.
//
// Answers to addresses without a connection are sent after data of connections, few
// at a time, and are dropped where they are too many.
package transport
