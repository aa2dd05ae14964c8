package transport

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
)

// SendFile sends the content of r, which must be what info says, and returns nil
// when the peer reports that it has verified and stored it, and the ack of that
// report, the receipt, was sent. The peer must be in RecvFile, and nothing else
// may use the connection meanwhile. At most Config.Lanes+2 chunks of 256 KiB are in
// memory at a time.
//
// Linger for FileLinger, 600 ms, before closing: the ack may be lost. It only
// helps the peer to leave sooner.
//
// If progress is not nil it is called with the bytes that the peer has and with
// info.Size: once when the peer has the header, then after each chunk.
//
// SendFile fails with the error of r; with ErrMismatch, if r holds less than
// info says, or something else; with ErrPeerMismatch or ErrPeerRefused, by the
// peer's receipt; with ErrNotAFile, if there comes something else than a
// receipt; or with the connection's error. If ctx ends first, which is noticed
// between two reads of r, that ends the connection unless nothing was in flight.
// After an error it is not known how
// far the peer is: close the connection.
//
// While the peer stores the file nothing is sent, and if it vanishes then,
// SendFile waits as long as ctx and Config.IdleTimeout let it.
func SendFile(ctx context.Context, c *Conn, info FileInfo, r io.Reader, progress func(done, total int64)) error {
	if info.Size < 0 {
		return fmt.Errorf("%w: a size of %d bytes", ErrMismatch, info.Size)
	}
	s := &fileSender{conn: c, info: info, source: r, sum: sha256.New(), progress: progress}
	if err := s.run(ctx); err != nil {
		return fmt.Errorf("sending a file to %v: %w", c.peer, err)
	}
	return nil
}

// chunksAhead is how many chunks of a file are in memory besides those in flight,
// so that reading and the network overlap.
const chunksAhead = 2

// fileSender is one call of SendFile.
type fileSender struct {
	conn     *Conn
	info     FileInfo
	source   io.Reader
	progress func(done, total int64)

	sum    hash.Hash // of what was read
	read   int64     // bytes read
	done   int64     // bytes that the peer has
	flying []flyingChunk
	spare  [][]byte // buffers of chunks that are done

	sourceErr error   // why there is no more content
	receipt   receipt // once answered
	answered  bool
}

// flyingChunk is a chunk that the peer does not have yet.
type flyingChunk struct {
	delivery *Delivery
	content  []byte // nil if it is none of the file
}

// run goes through the convention. The methods below return errors of the
// connection and of ctx only; those end everything at once.
func (s *fileSender) run(ctx context.Context) error {
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
	if s.receipt == receiptStored && len(s.flying) > 0 {
		s.report(s.read) // the receipt has overtaken the last acks
	}
	s.conn.flush(ctx)
	return s.verdict()
}

// cancel ends what is in flight.
func (s *fileSender) cancel(ctx context.Context) {
	for _, f := range s.flying {
		f.delivery.Wait(ctx)
	}
}

// hasMore reports whether content is to be read. A peer that answers before it
// has everything wants no more.
func (s *fileSender) hasMore() bool {
	return !s.answered && s.sourceErr == nil && s.read < s.info.Size
}

// putNext reads a chunk of the content and puts it in line.
func (s *fileSender) putNext(ctx context.Context) error {
	if err := s.makeRoom(ctx); err != nil || s.answered {
		return err
	}
	content := s.buffer(s.info.nextChunk(s.read))
	n, err := io.ReadFull(contextReader{ctx, s.source}, content)
	if err != nil {
		return s.abort(ctx, len(content), s.read+int64(n), err)
	}
	s.sum.Write(content)
	s.read += int64(n)
	return s.put(ctx, content, content)
}

// buffer returns memory for n bytes. The chunks of a file differ in size only at
// its end.
func (s *fileSender) buffer(n int) []byte {
	if last := len(s.spare) - 1; last >= 0 {
		buf := s.spare[last]
		s.spare = s.spare[:last]
		return buf[:n]
	}
	return make([]byte, n)
}

// abort ends a file whose content cannot be read. The convention has no word for
// that, but a chunk of a wrong length makes the peer report a mismatch at once
// instead of waiting for the rest.
func (s *fileSender) abort(ctx context.Context, expected int, read int64, err error) error {
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

// put puts a chunk in line.
func (s *fileSender) put(ctx context.Context, chunk, content []byte) error {
	d, err := s.conn.Enqueue(ctx, chunk)
	if err == nil {
		s.flying = append(s.flying, flyingChunk{d, content})
	}
	return err
}

// makeRoom waits until another chunk may be read, and until Enqueue does not
// wait, since that would not notice an early receipt.
func (s *fileSender) makeRoom(ctx context.Context) error {
	for len(s.flying) >= min(len(s.conn.lanes)+chunksAhead, s.conn.mostAhead()) && !s.answered {
		if err := s.await(ctx); err != nil {
			return err
		}
	}
	return nil
}

// await waits for the oldest chunk in flight, if any, or for the receipt.
func (s *fileSender) await(ctx context.Context) error {
	var arrived <-chan struct{}
	if len(s.flying) > 0 {
		arrived = s.flying[0].delivery.Done()
	}
	select {
	case <-arrived:
		return s.delivered()
	case chunk, ok := <-s.conn.recv:
		answer, err := s.conn.received(chunk, ok)
		if err == nil {
			s.receipt, err = decodeReceipt(answer)
			s.answered = true
		}
		return err
	case <-ctx.Done():
		return canceled(ctx)
	}
}

// delivered takes the oldest chunk out of flight.
func (s *fileSender) delivered() error {
	f := s.flying[0]
	if err := f.delivery.Err(); err != nil {
		return err
	}
	s.flying = slices.Delete(s.flying, 0, 1)
	if f.content != nil {
		s.spare = append(s.spare, f.content)
	}
	s.report(s.done + int64(len(f.content)))
	return nil
}

func (s *fileSender) report(done int64) {
	s.done = done
	if s.progress != nil {
		s.progress(done, s.info.Size)
	}
}

// verdict returns what came of the file once the peer has answered.
func (s *fileSender) verdict() error {
	switch {
	case s.sourceErr != nil:
		return s.sourceErr
	case s.read == s.info.Size:
		return both(s.info.check(s.read, s.sum.Sum(nil)), s.receipt.err())
	case s.receipt == receiptStored:
		return fmt.Errorf("%w: a receipt after %d bytes of %d", ErrNotAFile, s.read, s.info.Size)
	}
	return s.receipt.err()
}
