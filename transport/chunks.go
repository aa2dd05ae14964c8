package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/driver"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Chunks is the service of a [Peer] for blocks of 1 byte to 256 KiB: each arrives
// whole, in order and once, or the connection ends with an error. For more bytes there
// is package transport/file.
type Chunks Peer

// Delivery is a chunk on its way to the peer.
type Delivery = driver.Delivery

func (c *Chunks) peer() *Peer { return (*Peer)(c) }

// deliverer is the service as its deliveries see it.
type deliverer Peer

func (d *deliverer) Cancel(delivery *Delivery, cause error) { (*Peer)(d).cancel(delivery, cause) }

// Send delivers a chunk and returns nil when the peer has all of it; whether its
// application has read it is not known. The chunk is not copied: it must not change
// until Send returns.
//
// Send fails with statemachine.ErrChunkSize or connection.ErrNoLanes, and then nothing
// has happened, or with the error that ended the connection. If ctx ends first it
// cancels the delivery and returns ErrCanceled, with the consequences that
// Delivery.Cancel describes; Enqueue and Delivery.Wait leave the chunk alone.
func (c *Chunks) Send(ctx context.Context, chunk []byte) error {
	return c.SendEncoded(ctx, erasure.EncodeForOne(chunk))
}

// SendEncoded is Send for a chunk that goes to many: each of its repair slices is made once
// for all connections that send the same Encoded, at the same time or not.
//
//	world := erasure.Encode(level)
//	for _, peer := range peers {
//		go peer.Chunks().SendEncoded(ctx, world)
//	}
func (c *Chunks) SendEncoded(ctx context.Context, e *erasure.Encoded) error {
	d, err := c.EnqueueEncoded(ctx, e)
	if err != nil {
		return err
	}
	return d.WaitOrCancel(ctx)
}

// Enqueue puts a chunk in line and does not wait for its delivery, but only while the
// queue is full. The chunk is not copied: it must not change until the delivery is
// done. Once Enqueue has returned, ctx has no effect any more. It fails like Send, and
// then the chunk was not and will not be sent.
func (c *Chunks) Enqueue(ctx context.Context, chunk []byte) (*Delivery, error) {
	return c.EnqueueEncoded(ctx, erasure.EncodeForOne(chunk))
}

// EnqueueEncoded is Enqueue for a chunk that goes to many, as SendEncoded is.
func (c *Chunks) EnqueueEncoded(ctx context.Context, e *erasure.Encoded) (*Delivery, error) {
	for {
		if ctx.Err() != nil {
			return nil, driver.Canceled(ctx)
		}
		d, room, err := c.peer().tryEnqueue(e)
		if room == nil {
			return d, err
		}
		select {
		case <-room:
		case <-ctx.Done():
		}
	}
}

// tryEnqueue puts a chunk in line, or returns what to wait for.
func (p *Peer) tryEnqueue(e *erasure.Encoded) (d *Delivery, room <-chan struct{}, err error) {
	p.driver.Lock()
	defer p.driver.Unlock()
	if p.err != nil {
		return nil, nil, p.err
	}
	now := p.driver.Now()
	number, err := p.conn.SendEncoded(now, e)
	switch {
	case errors.Is(err, lanes.ErrBusy):
		return nil, p.sending.Room(), nil
	case err != nil:
		return nil, nil, fmt.Errorf("transport: chunk of %d bytes for %v: %w", len(e.Bytes()), p.to, err)
	}
	d = p.sending.Add(number, now, (*deliverer)(p), e.Bytes())
	p.updateLocked(now, now)
	return d, nil, nil
}

// cancel ends a delivery that is not done.
func (p *Peer) cancel(d *Delivery, cause error) {
	p.driver.Lock()
	defer p.driver.Unlock()
	number, ok := p.sending.Number(d)
	if !ok {
		return
	}
	if p.conn.WithdrawChunk(number) {
		p.sending.Finish(number, cause)
		return
	}
	p.closeLocked(0, "canceled", fmt.Errorf("%w (a chunk to %v was in flight)", cause, p.to))
}

// deliverChunksLocked reports the chunks that the peer has, and takes those that came,
// while there is room for them.
func (p *Peer) deliverChunksLocked(now core.Micros) {
	for number, ok := p.conn.ChunkDone(); ok; number, ok = p.conn.ChunkDone() {
		if begun, ok := p.sending.Finish(number, nil); ok && p.shard != nil {
			p.shard.stats.chunkOut.note(now - begun)
		}
	}
	for len(p.chunks) < p.config().RecvQueue && p.takeChunkLocked(now) {
	}
}

// takeChunkLocked takes the next chunk, if it is complete.
func (p *Peer) takeChunkLocked(now core.Micros) bool {
	size := p.conn.ChunkSize()
	if size == 0 {
		return false
	}
	chunk, ok := p.conn.ReadChunk(now, p.buffersLocked().Get(size))
	if ok {
		if p.shard != nil {
			p.shard.stats.chunkIn.note(p.conn.ChunkReadTime())
		}
		p.chunks = append(p.chunks, chunk)
		p.arrived.Give()
	}
	return ok
}

// buffersLocked returns the pool of chunks that were copied.
func (p *Peer) buffersLocked() *driver.Buffers {
	if p.client != nil {
		return &p.client.buffers
	}
	return &p.shard.buffers
}

// endChunksLocked fails all that is not delivered, and leaves what is complete for Recv.
func (p *Peer) endChunksLocked() {
	p.sending.End(p.err)
	for p.conn != nil && p.takeChunkLocked(p.driver.Now()) {
	}
	p.arrived.Give()
}

// Recv returns the next chunk, which is then the caller's. It waits for one as long
// as the connection and ctx last. Chunks that were complete when the connection ended
// are returned first, then the error that ended it. If ctx ends first that ends the
// call with ErrCanceled, and nothing else.
func (c *Chunks) Recv(ctx context.Context) ([]byte, error) {
	for {
		if ctx.Err() != nil {
			return nil, driver.Canceled(ctx)
		}
		chunk, arrival, err := c.peer().tryRecv()
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
func (p *Peer) tryRecv() (chunk []byte, arrival <-chan struct{}, err error) {
	p.driver.Lock()
	defer p.driver.Unlock()
	switch {
	case len(p.chunks) > 0:
		chunk = p.chunks[0]
		p.chunks = slices.Delete(p.chunks, 0, 1)
	case p.err != nil:
		return nil, nil, p.err
	default:
		return nil, p.arrived.Wait(), nil
	}
	if p.err == nil { // there is room for another chunk
		now := p.driver.Now()
		p.updateLocked(now, now)
	}
	return chunk, nil, nil
}

// RecvAppend appends the next chunk to dst and returns the result, as append does.
// With room in dst a stream of chunks is received without allocating memory for each.
// It fails like Recv, and then returns dst as it was.
func (c *Chunks) RecvAppend(ctx context.Context, dst []byte) ([]byte, error) {
	chunk, err := c.Recv(ctx)
	if err != nil {
		return dst, err
	}
	dst = append(dst, chunk...)
	c.driver.Lock()
	defer c.driver.Unlock()
	c.peer().buffersLocked().Put(chunk)
	return dst, nil
}

// RecvReady returns a channel that is closed when there is a chunk to receive, or the
// connection has ended: when Recv would not wait. It is for a select.
func (c *Chunks) RecvReady() <-chan struct{} {
	c.driver.Lock()
	defer c.driver.Unlock()
	if len(c.chunks) > 0 || c.err != nil {
		return driver.Given
	}
	return c.arrived.Wait()
}

// Flush waits until the socket was given what is due now, acks of chunks among it. It
// fails with ErrCanceled, or with the error that ended the connection. Peer.Flush
// waits for the other end as well.
func (c *Chunks) Flush(ctx context.Context) error {
	p := c.peer()
	err := p.driver.Flush(ctx, p.Done(), func(now core.Micros) bool { return p.err == nil && p.ends.Deadline() <= now })
	if err != nil {
		return err
	}
	return p.Err()
}

// RemoteAddr returns the address of the other end.
func (c *Chunks) RemoteAddr() net.Addr { return c.peer().RemoteAddr() }

// Lanes returns how many chunks may be in flight at once, as the ends agreed.
func (c *Chunks) Lanes() int {
	c.driver.Lock()
	defer c.driver.Unlock()
	return c.conn.Link().Agreed().Lanes
}

// SenderStats returns what was done to send chunks.
func (c *Chunks) SenderStats() statemachine.SenderStats { return c.stats().Sender }

// ReceiverStats returns what was done to receive chunks.
func (c *Chunks) ReceiverStats() statemachine.ReceiverStats { return c.stats().Receiver }

// Receiving returns how far the chunk is that is received next.
func (c *Chunks) Receiving() lanes.Progress { return c.stats().Receiving }

func (c *Chunks) stats() lanes.Stats {
	c.driver.Lock()
	defer c.driver.Unlock()
	return c.conn.Stats().Chunks
}

// MaxChunkSize is the largest chunk in bytes.
const MaxChunkSize = codec.MaxChunkSize
