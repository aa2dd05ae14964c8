package file

import (
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/internal/driver"
)

// sender is one call of Send.
type sender struct {
	conn     Conn
	info     *Info
	source   io.Reader
	progress func(done, total int64)

	sum    hash.Hash // of the bytes read
	read   int64     // bytes read
	done   int64     // bytes that the peer has
	flying []flyingChunk
	spare  [][]byte // buffers of chunks that are done
	first  int64    // slices that the connection had sent before, not counting resends and repair slices
	slices int64    // slices of all chunks that were put in line
	line   int64    // bytes of content and hash that were

	sourceErr error   // why there is no more content
	receipt   receipt // once answered
	answered  bool
}

// firstTransmissions returns how many slices of chunks a connection has sent, each
// counted once.
func firstTransmissions(c Conn) int64 {
	st := c.SenderStats()
	return st.SlicesSent - st.SlicesResent - st.SlicesRepair
}

// flyingChunk is a chunk that the peer does not have yet.
type flyingChunk struct {
	delivery *driver.Delivery
	content  []byte // of which the end can be the hash; nil if it is no content
}

// run goes through the convention. The methods below return errors of the
// connection and of ctx only; those end everything at once.
func (s *sender) run(ctx context.Context) error {
	err := s.put(ctx, s.info.encode(), nil)
	for err == nil && s.hasMore() {
		err = s.putNext(ctx)
	}
	for err == nil && !s.answered {
		err = s.await(ctx)
	}
	if err != nil {
		if ctx.Err() != nil {
			s.cancel(ctx)
		}
		return err
	}
	err = s.verdict()
	if err == nil && len(s.flying) > 0 {
		s.report(s.read) // the receipt has overtaken the last acks
	}
	_ = s.conn.Flush(ctx) // the ack of the receipt; the answer itself is here
	return err
}

// cancel ends what is in flight.
func (s *sender) cancel(ctx context.Context) {
	for _, f := range s.flying {
		f.delivery.Cancel(context.Cause(ctx))
	}
}

// hasMore reports whether content is to be read. A peer that answers before it
// has everything wants no more.
func (s *sender) hasMore() bool {
	return !s.answered && s.sourceErr == nil && s.info.nextChunk(s.line) > 0
}

// putNext reads a chunk of the content and puts it in line, with the hash behind the last byte.
func (s *sender) putNext(ctx context.Context) error {
	if err := s.makeRoom(ctx); err != nil || s.answered {
		return err
	}
	chunk := s.buffer(s.info.nextChunk(s.line))
	content := chunk[:min(int64(len(chunk)), s.info.Size-s.read)]
	n, err := io.ReadFull(contextReader{ctx, s.source}, content)
	if err != nil {
		return s.abort(ctx, len(chunk), s.read+int64(n), err)
	}
	s.sum.Write(content)
	if s.read += int64(n); s.read == s.info.Size {
		s.sum.Sum(s.info.SHA256[:0])
		copy(chunk[n:], s.info.SHA256[s.line+int64(n)-s.read:])
	}
	s.line += int64(len(chunk))
	return s.put(ctx, chunk, chunk)
}

// buffer returns memory for n bytes. The chunks of content differ in size only at
// its end.
func (s *sender) buffer(n int) []byte {
	if last := len(s.spare) - 1; last >= 0 {
		buf := s.spare[last]
		s.spare = s.spare[:last]
		return buf[:n]
	}
	return make([]byte, n)
}

// abort ends content that cannot be read. The convention has no message for that,
// but a chunk of a wrong length makes the peer report a mismatch at once instead
// of waiting for the rest.
func (s *sender) abort(ctx context.Context, expected int, read int64, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("%w: it ends after %d bytes of %d", ErrMismatch, read, s.info.Size)
	}
	s.sourceErr = err
	wrong := make([]byte, 1)
	if expected == len(wrong) {
		wrong = make([]byte, 2)
	}
	return s.put(ctx, wrong, nil)
}

// put puts a chunk in line. If that fails because the connection has ended, the receipt can be here all the same.
func (s *sender) put(ctx context.Context, chunk, content []byte) error {
	d, err := s.conn.Enqueue(ctx, chunk)
	switch {
	case err == nil:
		s.flying = append(s.flying, flyingChunk{d, content})
		s.slices += int64(codec.NumSlices(len(chunk)))
	case ctx.Err() == nil:
		return s.takeReceipt(ctx)
	}
	return err
}

// makeRoom waits until another chunk can be read: one can wait behind those in flight,
// so that reading and the network overlap. The queue of a connection has room for that,
// so Enqueue does not wait, which would not notice an early receipt.
func (s *sender) makeRoom(ctx context.Context) error {
	for len(s.flying) > s.conn.Lanes() && !s.answered {
		if err := s.await(ctx); err != nil {
			return err
		}
	}
	return nil
}

// await waits for the oldest chunk in flight, if any, or for the receipt.
func (s *sender) await(ctx context.Context) error {
	var arrived <-chan struct{}
	if len(s.flying) > 0 {
		arrived = s.flying[0].delivery.Done()
	}
	select { // first the deliveries, so that progress is complete when the connection has ended
	case <-arrived:
		return s.delivered(ctx)
	default:
	}
	select {
	case <-arrived:
		return s.delivered(ctx)
	case <-s.conn.RecvReady():
		return s.takeReceipt(ctx)
	case <-ctx.Done():
		return driver.Canceled(ctx)
	}
}

func (s *sender) takeReceipt(ctx context.Context) error {
	answer, err := s.conn.Recv(ctx)
	if err == nil {
		s.receipt, err = decodeReceipt(answer)
		s.answered = true
	}
	return err
}

// delivered takes the oldest chunk out of flight. If it failed because the
// connection has ended, the receipt can be here all the same.
func (s *sender) delivered(ctx context.Context) error {
	f := s.flying[0]
	if err := f.delivery.Err(); err != nil {
		return s.takeReceipt(ctx)
	}
	s.flying = slices.Delete(s.flying, 0, 1)
	if f.content != nil {
		s.spare = append(s.spare, f.content)
	}
	s.report(min(s.done+int64(len(f.content)), s.info.Size))
	return nil
}

func (s *sender) report(done int64) {
	s.done = done
	if s.progress != nil {
		s.progress(done, s.info.Size)
	}
}

// verdict returns the result of the content once the peer has answered. A receipt
// that says "stored" cannot be true while there are slices that were never sent (FIL-7).
func (s *sender) verdict() error {
	switch {
	case s.sourceErr != nil:
		return s.sourceErr
	case s.receipt == receiptStored && (s.info.nextChunk(s.line) > 0 || firstTransmissions(s.conn)-s.first < s.slices):
		return fmt.Errorf("%w: a receipt after %d bytes of %d", ErrConvention, s.done, s.info.Size)
	}
	return s.receipt.err()
}
