// Package file sends content of any size over a connection of package transport/plain,
// as the stream of chunks of appendix A of spec/PROTOCOL.md: a header with size
// and SHA-256, the content, and in the other direction a receipt.
//
//	err := file.Send(ctx, conn, bytes.NewReader(world), nil) // nil: the peer has verified it
//
//	var world bytes.Buffer
//	_, err := file.Receive(ctx, conn, &world, &file.ReceiveOptions{MaxSize: 64 << 20})
//
// One chunk is in flight at a time, which leaves a round trip of silence between
// two; plain.Config.Lanes allows more.
//
// Nothing else may use the connection during a call (FIL-8). After an error it is not
// known how far the other end is: close the connection.
package file
