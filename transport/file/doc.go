// Package file sends content of any size over the chunks of a connection, of package
// transport or of transport/plain, as the stream of chunks of appendix A of
// spec/PROTOCOL.md: a header with the size, the content, its SHA-256, and in the
// other direction a receipt.
//
//	err := file.Send(ctx, peer.Chunks(), bytes.NewReader(world), nil) // nil: the peer has verified it
//
//	var world bytes.Buffer
//	_, err := file.Receive(ctx, peer.Chunks(), &world, &file.ReceiveOptions{MaxSize: 64 << 20})
//
// A connection of package transport has 16 chunks in flight if the path has room for them, one of transport/plain has
// one, which leaves a round trip of silence between two; Config.Lanes changes that.
//
// Nothing else may use the connection during a call (FIL-8). After an error it is not
// known how far the other end is: close the connection.
package file
