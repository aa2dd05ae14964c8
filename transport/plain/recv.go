package plain

import (
	"context"
	"slices"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/driver"
)

// RecvAppend appends the next chunk to dst and returns the result, as append does.
// With room in dst a stream of chunks is received without allocating memory for
// each. It fails like Recv, and then returns dst as it was.
func (c *Conn) RecvAppend(ctx context.Context, dst []byte) ([]byte, error) {
	chunk, err := c.Recv(ctx)
	if err != nil {
		return dst, err
	}
	dst = append(dst, chunk...)
	c.endpoint.driver.Lock()
	defer c.endpoint.driver.Unlock()
	c.endpoint.buffers.Put(chunk)
	return dst, nil
}

// RecvReady returns a channel that is closed when there is a chunk to receive, or
// the connection has ended: when Recv would not wait. It is for a select.
func (c *Conn) RecvReady() <-chan struct{} {
	c.endpoint.driver.Lock()
	defer c.endpoint.driver.Unlock()
	if len(c.chunks) > 0 || c.err != nil {
		return driver.Given
	}
	return c.arrived.Wait()
}

// Recv returns the next chunk, which is then the caller's. It waits for one as
// long as the connection and ctx last. Chunks that were complete when the
// connection ended are returned first, then the error that ended it. If ctx ends
// first that ends the call with ErrCanceled, and nothing else.
func (c *Conn) Recv(ctx context.Context) ([]byte, error) {
	for {
		if ctx.Err() != nil {
			return nil, driver.Canceled(ctx)
		}
		chunk, arrival, err := c.tryRecv()
		if arrival == nil {
			return chunk, err
		}
		select {
		case <-arrival:
		case <-ctx.Done():
		}
	}
}

// tryRecv takes the next chunk, or returns what to wait for.
func (c *Conn) tryRecv() (chunk []byte, arrival <-chan struct{}, err error) {
	c.endpoint.driver.Lock()
	defer c.endpoint.driver.Unlock()
	switch {
	case len(c.chunks) > 0:
		chunk = c.chunks[0]
		c.chunks = slices.Delete(c.chunks, 0, 1)
	case c.err != nil:
		return nil, nil, c.err
	default:
		return nil, c.arrived.Wait(), nil
	}
	if c.err == nil { // there is room for another chunk
		now := c.endpoint.driver.Now()
		c.advanceReceivingLocked(now)
		c.scheduleLocked(now)
	}
	return chunk, nil, nil
}

// advanceReceivingLocked takes complete chunks from the receivers, in turn, while
// there is room, so that the next ones can begin. If there is none a receiver
// keeps its chunk and asks the peer to wait, which is all the back-pressure that
// there is (CON-3); so does one whose turn has not come, which bounds what waits
// for a lane that is late (LAN-5).
func (c *Conn) advanceReceivingLocked(now core.Micros) {
	for len(c.chunks) < c.endpoint.cfg.RecvQueue && c.takeChunkLocked(now) {
	}
}

// takeChunkLocked takes the next chunk, if it is complete.
func (c *Conn) takeChunkLocked(now core.Micros) bool {
	size := c.lanes.ReadSize()
	if size == 0 {
		return false
	}
	chunk, ok := c.lanes.Read(now, c.endpoint.buffers.Get(size))
	if ok {
		c.chunks = append(c.chunks, chunk)
		c.arrived.Give()
	}
	return ok
}

// endReceivingLocked leaves what is complete for Recv, up to the first chunk that
// is not.
func (c *Conn) endReceivingLocked() {
	for c.takeChunkLocked(c.endpoint.driver.Now()) {
	}
	c.arrived.Give()
}
