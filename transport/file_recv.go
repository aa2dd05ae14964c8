package transport

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
)

// FileSink is where RecvFile puts a file. It sees Write for each chunk, and then
// Commit if the content was complete and right: there the sink gives the file
// its final name (FIL-3). Without Commit what was written is to be thrown away.
// If either fails the peer is told that the file was not stored.
type FileSink interface {
	io.Writer
	Commit() error
}

// RecvFile receives the file that the peer sends with SendFile. It calls open
// once the header is here, then writes the content to the sink as it arrives, one
// chunk of at most 256 KiB at a time, verifies it, and commits it. Only then the
// peer gets its receipt. If that does not arrive within 3 s, RecvFile
// succeeds nevertheless: the file is stored, and only the peer does not know.
//
// If progress is not nil it is called with the bytes written and with the size:
// once after open, then after each chunk.
//
// RecvFile fails with ErrNotAFile if the first chunk is no header; with
// ErrMismatch; with the error of open or of the sink; or with the error of
// Conn.Recv. After an error close the connection: there may be more to come of
// the file. The FileInfo is the announced one as soon as there was a header.
//
// A header may announce any size: open should refuse what is too large, and
// ctx limits the time.
func RecvFile(ctx context.Context, c *Conn, open func(FileInfo) (FileSink, error), progress func(done, total int64)) (FileInfo, error) {
	info, err := recvHeader(ctx, c)
	if err == nil {
		r := &fileReceiver{conn: c, info: info, sum: sha256.New(), progress: progress}
		err = r.run(ctx, open)
	}
	if err != nil {
		err = fmt.Errorf("receiving a file from %v: %w", c.peer, err)
	}
	return info, err
}

func recvHeader(ctx context.Context, c *Conn) (FileInfo, error) {
	chunk, err := c.Recv(ctx)
	if err != nil {
		return FileInfo{}, err
	}
	return decodeHeader(chunk)
}

// fileReceiver is one call of RecvFile, once the header is here.
type fileReceiver struct {
	conn     *Conn
	info     FileInfo
	sum      hash.Hash
	progress func(done, total int64)
}

// run stores the file and answers the peer.
func (r *fileReceiver) run(ctx context.Context, open func(FileInfo) (FileSink, error)) error {
	answer, err := r.store(ctx, open)
	if answer != noReceipt {
		r.answer(ctx, answer)
	}
	return err
}

// store returns what to tell the peer: noReceipt if it cannot be told anything.
func (r *fileReceiver) store(ctx context.Context, open func(FileInfo) (FileSink, error)) (receipt, error) {
	sink, err := open(r.info)
	if err != nil {
		return receiptRefused, err
	}
	done := int64(0)
	for r.report(done); done < r.info.Size; r.report(done) {
		chunk, err := r.conn.Recv(ctx)
		if err != nil {
			return noReceipt, err
		}
		if want := r.info.nextChunk(done); len(chunk) != want {
			return receiptMismatch, fmt.Errorf("%w: a chunk of %d bytes instead of %d", ErrMismatch, len(chunk), want)
		}
		if _, err := sink.Write(chunk); err != nil {
			return receiptRefused, err
		}
		r.sum.Write(chunk)
		done += int64(len(chunk))
	}
	if err := r.info.check(done, r.sum.Sum(nil)); err != nil {
		return receiptMismatch, err
	}
	if err := sink.Commit(); err != nil {
		return receiptRefused, err
	}
	return receiptStored, nil
}

func (r *fileReceiver) report(done int64) {
	if r.progress != nil {
		r.progress(done, r.info.Size)
	}
}

// answer sends the receipt, for a limited time. It does not cancel the delivery,
// which would end the connection: the file's fate does not depend on it.
func (r *fileReceiver) answer(ctx context.Context, answer receipt) {
	limited, cancel := context.WithTimeout(ctx, receiptLimit)
	defer cancel()
	d, err := r.conn.Enqueue(limited, answer.encode())
	if err != nil {
		return
	}
	select {
	case <-d.Done():
	case <-limited.Done():
	}
}
