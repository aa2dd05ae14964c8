package driver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"

	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// ChunkQueue is what an application sends and receives chunks by: transport.Chunks, and
// a part of each plain.Conn. All its methods are safe for concurrent use.
type ChunkQueue struct{ link *Link }

// NewChunkQueue returns the queue of a link.
func NewChunkQueue(l *Link) ChunkQueue { return ChunkQueue{l} }

// Send delivers a chunk of 1 byte to 256 KiB and returns nil when the peer has all of it;
// whether its application has read it is not known. The chunk is not copied: it must not
// change until Send returns.
//
// Send fails with statemachine.ErrChunkSize or connection.ErrNoLanes, and then nothing
// has happened, or with the error that ended the connection. If ctx ends first it
// cancels the delivery and returns ErrCanceled, with the consequences that
// Delivery.Cancel describes; Enqueue and Delivery.Wait leave the chunk alone.
func (q *ChunkQueue) Send(ctx context.Context, chunk []byte) error {
	return q.SendEncoded(ctx, erasure.EncodeForOne(chunk))
}

// SendEncoded is Send for a chunk that is sent to many: each of its repair slices is made
// once for all connections that send the same Encoded, at the same time or not.
//
//	world := erasure.Encode(level)
//	for _, peer := range peers {
//		go peer.Chunks().SendEncoded(ctx, world)
//	}
func (q *ChunkQueue) SendEncoded(ctx context.Context, e *erasure.Encoded) error {
	d, err := q.EnqueueEncoded(ctx, e)
	if err != nil {
		return err
	}
	return d.WaitOrCancel(ctx)
}

// Enqueue puts a chunk in line. It waits only while the queue is full, and not for the
// delivery. The chunk is not copied: it must not change until the delivery is
// done. Once Enqueue has returned, ctx has no effect any more. It fails like Send, and
// then the chunk was not and will not be sent.
func (q *ChunkQueue) Enqueue(ctx context.Context, chunk []byte) (*Delivery, error) {
	return q.EnqueueEncoded(ctx, erasure.EncodeForOne(chunk))
}

// EnqueueEncoded is Enqueue for a chunk that is sent to many, as SendEncoded is.
func (q *ChunkQueue) EnqueueEncoded(ctx context.Context, e *erasure.Encoded) (*Delivery, error) {
	for {
		if ctx.Err() != nil {
			return nil, Canceled(ctx)
		}
		d, room, err := q.link.tryEnqueue(e)
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
func (l *Link) tryEnqueue(e *erasure.Encoded) (d *Delivery, room <-chan struct{}, err error) {
	l.Driver.Lock()
	defer l.Driver.Unlock()
	if l.err != nil {
		return nil, nil, l.err
	}
	now := l.Driver.Now()
	number, err := l.Chunks.SendEncoded(now, e)
	switch {
	case errors.Is(err, lanes.ErrBusy):
		return nil, l.sending.Room(), nil
	case err != nil:
		return nil, nil, fmt.Errorf("transport: chunk of %d bytes for %v: %w", len(e.Bytes()), l.To, err)
	}
	d = l.sending.Add(number, now, l, e.Bytes())
	l.Owner.UpdateLocked(now, now)
	return d, nil, nil
}

// Cancel ends a delivery that is not done.
func (l *Link) Cancel(d *Delivery, cause error) {
	l.Driver.Lock()
	defer l.Driver.Unlock()
	number, ok := l.sending.Number(d)
	switch {
	case !ok:
	case l.Chunks.WithdrawChunk(number):
		l.sending.Finish(number, cause)
	default:
		l.Owner.AbandonLocked(fmt.Errorf("%w (a chunk to %v was in flight)", cause, l.To))
	}
}

// Recv returns the next chunk, which is then the caller's. It waits for one as long
// as the connection and ctx last. Chunks that were complete when the connection ended
// are returned first, then the error that ended it. If ctx ends first that ends the
// call with ErrCanceled, and nothing else.
func (q *ChunkQueue) Recv(ctx context.Context) ([]byte, error) {
	chunk, err := q.recv(ctx)
	if err != nil {
		return nil, err
	}
	return *chunk, nil
}

func (q *ChunkQueue) recv(ctx context.Context) (*[]byte, error) {
	for {
		if ctx.Err() != nil {
			return nil, Canceled(ctx)
		}
		chunk, arrival, err := q.link.tryRecv()
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
func (l *Link) tryRecv() (chunk *[]byte, arrival <-chan struct{}, err error) {
	l.Driver.Lock()
	defer l.Driver.Unlock()
	switch {
	case len(l.complete) > 0:
		chunk = l.complete[0]
		l.complete = slices.Delete(l.complete, 0, 1)
	case l.err != nil && !l.works:
		return nil, nil, l.err
	default:
		return nil, l.arrived.Wait(), nil
	}
	if l.err == nil { // there is room for another chunk
		now := l.Driver.Now()
		l.Owner.UpdateLocked(now, now)
	}
	return chunk, nil, nil
}

// RecvAppend appends the next chunk to dst and returns the result, as append does.
// With room in dst a stream of chunks is received without allocating memory for each.
// It fails like Recv, and then returns dst as it was.
func (q *ChunkQueue) RecvAppend(ctx context.Context, dst []byte) ([]byte, error) {
	chunk, err := q.recv(ctx)
	if err != nil {
		return dst, err
	}
	dst = append(dst, *chunk...)
	buffers.Put(chunk)
	return dst, nil
}

// RecvReady returns a channel that is closed when there is a chunk to receive, or the
// connection has ended: when Recv would not wait. It is for a select.
func (q *ChunkQueue) RecvReady() <-chan struct{} {
	q.link.Driver.Lock()
	defer q.link.Driver.Unlock()
	if len(q.link.complete) > 0 || q.link.err != nil && !q.link.works {
		return Given
	}
	return q.link.arrived.Wait()
}

// Flush waits until the socket was given what is due now, acks of chunks among it. They
// can be lost all the same. Flush fails with ErrCanceled, or with the error that ended the
// connection.
func (q *ChunkQueue) Flush(ctx context.Context) error {
	l := q.link
	err := l.Driver.Flush(ctx, l.Done(), func(now core.Micros) bool { return l.err == nil && l.End.Deadline() <= now })
	if err != nil {
		return err
	}
	return l.Err()
}

// Done returns a channel that is closed when the connection has ended. Chunks that were
// complete can still be received.
func (q *ChunkQueue) Done() <-chan struct{} { return q.link.Done() }

// Err returns why the connection has ended, or nil while it is active.
func (q *ChunkQueue) Err() error { return q.link.Err() }

// LocalAddr returns the address of the socket.
func (q *ChunkQueue) LocalAddr() net.Addr { return q.link.LocalAddr() }

// RemoteAddr returns the address of the other end.
func (q *ChunkQueue) RemoteAddr() net.Addr { return q.link.RemoteAddr() }

// Lanes returns how many chunks can be in flight at once.
func (q *ChunkQueue) Lanes() int {
	q.link.Driver.Lock()
	defer q.link.Driver.Unlock()
	return q.link.Chunks.Lanes()
}

// SenderStats returns the counts of sending chunks, on all lanes.
func (q *ChunkQueue) SenderStats() statemachine.SenderStats { return q.stats().Sender }

// ReceiverStats returns the counts of receiving chunks, on all lanes.
func (q *ChunkQueue) ReceiverStats() statemachine.ReceiverStats { return q.stats().Receiver }

// Receiving returns how far the chunk is that is received next.
func (q *ChunkQueue) Receiving() lanes.Progress { return q.stats().Receiving }

func (q *ChunkQueue) stats() lanes.Stats {
	q.link.Driver.Lock()
	defer q.link.Driver.Unlock()
	return q.link.Chunks.ChunkStats()
}
