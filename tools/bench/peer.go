package bench

import (
	"context"
	"io"

	"github.com/chunkwire/chunkwire/eventlog"
)

// Peer is a protocol that moves a block from a server to a client.
type Peer struct {
	Name string
	Note string // how it is set up
	// Connect makes a connection over the path.
	Connect func(ctx context.Context, p *path) (*pipe, error)

	// observed returns the same peer with an observer of its slices; nil but for
	// ours.
	observed func(eventlog.Log) Peer
}

// pipe is a connection that is ready to push blocks.
type pipe struct {
	push  func(block []byte) error    // at the server; may return early
	fetch func(n int) ([]byte, error) // at the client; returns with all of it
	close func()
	back  *pipe // the other way; nil where nothing measures it
}

// readBlock reads n bytes as they come.
func readBlock(r io.Reader, n int) ([]byte, error) {
	block := make([]byte, n)
	_, err := io.ReadFull(r, block)
	return block, err
}

// streamPipe pushes blocks into one end of a stream, and fetches them from the other.
func streamPipe(out io.Writer, in io.Reader) *pipe {
	return &pipe{
		push: func(block []byte) error {
			_, err := out.Write(block)
			return err
		},
		fetch: func(n int) ([]byte, error) { return readBlock(in, n) },
	}
}
