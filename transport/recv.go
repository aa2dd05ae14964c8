package transport

import (
	"context"

	"github.com/chunkwire/chunkwire/statemachine"
)

// Recv returns the next chunk, which is then the caller's. It waits for one as
// long as the connection lives and ctx does. Chunks that were complete when the
// connection ended are returned first, then the error that ended it. If ctx ends
// first that ends the call with ErrCanceled, and nothing else.
func (c *Conn) Recv(ctx context.Context) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, canceled(ctx)
	}
	select {
	case chunk, ok := <-c.recv:
		return c.received(chunk, ok)
	case <-ctx.Done():
		return nil, canceled(ctx)
	}
}

// received completes an operation on c.recv: there is room for another chunk.
func (c *Conn) received(chunk []byte, ok bool) ([]byte, error) {
	c.endpoint.mu.Lock()
	defer c.endpoint.mu.Unlock()
	if !ok {
		return nil, c.err
	}
	if c.err == nil && c.receiver.State() == statemachine.ReceiverReady {
		now := c.endpoint.clock.now()
		c.advanceReceiving(now)
		c.schedule(now)
	}
	return chunk, nil
}

// advanceReceiving takes a complete chunk from the receiver if there is room,
// so that the next one can begin. If there is none the receiver keeps it and
// asks the peer to wait, which is all the back-pressure that there is.
func (c *Conn) advanceReceiving(now statemachine.Micros) {
	if c.receiver.State() == statemachine.ReceiverReady && len(c.recv) < c.endpoint.cfg.RecvQueue {
		c.takeChunk(now)
	}
}

func (c *Conn) takeChunk(now statemachine.Micros) {
	chunk := make([]byte, 0, c.receiver.ReadSize())
	if chunk, err := c.receiver.Read(now, chunk); err == nil {
		c.recv <- chunk // does not wait: only holders of the lock add, and they look first
	}
}

// endReceiving leaves what is complete for Recv.
func (c *Conn) endReceiving() {
	if c.receiver.State() == statemachine.ReceiverReady {
		c.takeChunk(c.endpoint.clock.now())
	}
	close(c.recv)
}
