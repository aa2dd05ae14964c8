package file

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
)

// ReceiveOptions say how to receive. The zero value, and nil, is ready to use.
type ReceiveOptions struct {
	// MaxSize is the largest size in bytes that is received; larger content is
	// refused with ErrTooLarge. 0 means any: a header can announce up to 2^63-1.
	MaxSize int64

	// Commit, when not nil, is called when the content is complete and verified, before
	// the receipt is sent: there a file gets its final name (FIL-3). If it fails, the
	// receipt says that the content was not stored.
	Commit func() error

	// Progress, when not nil, is called with the bytes written and with the size: once
	// at the beginning, then after each chunk.
	Progress func(done, total int64)
}

// Receive receives the content that the peer sends with Send and writes it to w
// as it arrives, one chunk of at most 256 KiB at a time. It then verifies it,
// commits it, and sends the receipt. After an error the bytes that were written are to
// be discarded.
//
// Receive fails with ErrConvention if the first chunk is no header; with
// ErrTooLarge; with ErrMismatch; with the error of w or of Commit; or with the
// error of Conn.Recv. The Info has the announced size as soon as there was a header, and
// the SHA-256 when the content was complete and verified.
//
// If the receipt does not arrive within 10 s, Receive succeeds nevertheless: the
// content is stored, and only the peer does not know. Then Conn.SenderStats has no
// chunk that was sent.
func Receive(ctx context.Context, c Conn, w io.Writer, opts *ReceiveOptions) (Info, error) {
	info, err := ReceiveHeader(ctx, c)
	if err != nil {
		return info, err
	}
	return ReceiveContent(ctx, c, info, w, opts)
}

// ReceiveHeader receives what announces the content. After it comes
// ReceiveContent, or Refuse. It fails as Receive does.
func ReceiveHeader(ctx context.Context, c Conn) (Info, error) {
	chunk, err := c.Recv(ctx)
	if err != nil {
		return Info{}, fmt.Errorf("receiving from %v: %w", c.RemoteAddr(), err)
	}
	info, err := decodeHeader(chunk)
	if err != nil {
		return info, fmt.Errorf("receiving from %v: %w", c.RemoteAddr(), err)
	}
	return info, nil
}

// Refuse sends the receipt which says that the content of the header that was
// received is not stored. It waits until the peer has that answer, at most 10 s.
func Refuse(ctx context.Context, c Conn) { sendReceipt(ctx, c, receiptRefused) }

// ReceiveContent receives the content that the header has announced, as Receive does.
func ReceiveContent(ctx context.Context, c Conn, info Info, w io.Writer, opts *ReceiveOptions) (Info, error) {
	if opts == nil {
		opts = &ReceiveOptions{}
	}
	r := &receiver{conn: c, info: info, w: w, opts: opts, sum: sha256.New()}
	answer, err := r.store(ctx)
	if answer != noReceipt {
		sendReceipt(ctx, c, answer)
	}
	if err != nil {
		err = fmt.Errorf("receiving from %v: %w", c.RemoteAddr(), err)
	}
	return r.info, err
}

// receiver is one call of ReceiveContent.
type receiver struct {
	conn Conn
	info Info
	w    io.Writer
	opts *ReceiveOptions
	sum  hash.Hash
	done int64 // bytes written
}

// store returns the receipt to send: noReceipt if none can be sent. A chunk of
// another length than the file asks for ends it (FIL-6). The hash comes last, and is
// compared (FIL-3, SEC-1, RPH-1).
func (r *receiver) store(ctx context.Context) (receipt, error) {
	if r.opts.MaxSize > 0 && r.info.Size > r.opts.MaxSize {
		return receiptRefused, fmt.Errorf("%w: %d bytes, at most %d are taken", ErrTooLarge, r.info.Size, r.opts.MaxSize)
	}
	var chunk, want []byte
	for r.report(); ; r.report() {
		size := r.info.nextChunk(r.done + int64(len(want)))
		if size == 0 {
			break
		}
		var err error
		if chunk, err = r.conn.RecvAppend(ctx, chunk[:0]); err != nil {
			return noReceipt, err
		}
		if len(chunk) != size {
			return receiptMismatch, fmt.Errorf("%w: a chunk of %d bytes instead of %d", ErrMismatch, len(chunk), size)
		}
		content := chunk[:min(int64(size), r.info.Size-r.done)]
		if _, err := r.w.Write(content); err != nil {
			return receiptRefused, err
		}
		r.sum.Write(content)
		r.done += int64(len(content))
		want = append(want, chunk[len(content):]...)
	}
	if sum := r.sum.Sum(nil); !bytes.Equal(sum, want) {
		return receiptMismatch, fmt.Errorf("%w: SHA-256 is %x, not %x", ErrMismatch, sum, want)
	}
	r.info.SHA256 = [sha256.Size]byte(want)
	if r.opts.Commit != nil {
		if err := r.opts.Commit(); err != nil {
			return receiptRefused, err
		}
	}
	return receiptStored, nil
}

func (r *receiver) report() {
	if r.opts.Progress != nil {
		r.opts.Progress(r.done, r.info.Size)
	}
}

// sendReceipt sends the answer, for a limited time, also if ctx has ended: what
// came of the content is known by then, and its sender waits for it. It does not
// cancel the delivery, which would end the connection.
func sendReceipt(ctx context.Context, c Conn, answer receipt) {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), receiptLimit)
	defer cancel()
	if d, err := c.Enqueue(limited, answer.encode()); err == nil {
		_ = d.Wait(limited)
	}
}
