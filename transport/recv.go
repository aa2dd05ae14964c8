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
func (c *Conn) received(chunk *[]byte, ok bool) ([]byte, error) {
	c.endpoint.mu.Lock()
	defer c.endpoint.mu.Unlock()
	if !ok {
		return nil, c.err
	}
	if c.err == nil && c.turn().State() == statemachine.ReceiverReady {
		now := c.endpoint.clock.now()
		c.advanceReceiving(now)
		c.schedule(now)
	}
	return *chunk, nil
}

// advanceReceiving takes complete chunks from the receivers, in turn, while there
// is room, so that the next ones can begin. If there is none a receiver keeps its
// chunk and asks the peer to wait, which is all the back-pressure that there is
// (CON-3); so does one whose turn has not come, which bounds what waits for a
// lane that is late (LAN-5).
func (c *Conn) advanceReceiving(now statemachine.Micros) {
	for c.turn().State() == statemachine.ReceiverReady && len(c.recv) < c.endpoint.cfg.RecvQueue {
		c.takeChunk(now)
	}
}

func (c *Conn) takeChunk(now statemachine.Micros) {
	receiver := c.turn()
	chunk := make([]byte, 0, receiver.ReadSize())
	if chunk, err := receiver.Read(now, chunk); err == nil {
		c.recv <- &chunk // does not wait: only holders of the lock add, and they look first
		c.nextIn = c.after(c.nextIn)
	}
}

// endReceiving leaves what is complete for Recv, up to the first chunk that is not.
func (c *Conn) endReceiving() {
	for c.turn().State() == statemachine.ReceiverReady {
		c.takeChunk(c.endpoint.clock.now())
	}
	close(c.recv)
}
