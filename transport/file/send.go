package file

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
)

// SendOptions say how to send. The zero value, and nil, is ready to use.
type SendOptions struct {
	// Info has the size of the content, if that is known; Send sets its SHA256 when all
	// has been read. If Info is nil a reader that cannot Seek is read into memory whole:
	// the header, which goes first, has the size.
	Info *Info

	// Progress, when not nil, is called with the bytes that the peer has and with the
	// size: once when the peer has the header, then after each chunk.
	Progress func(done, total int64)
}

// Send sends the content of r, from where it is to its end. It returns nil when the peer's
// receipt says that the content was verified and stored, and the ack of the receipt was
// sent. The peer must be in Receive. In memory is at most one chunk of 256 KiB more than
// there are lanes.
//
// Over a plain.Conn, Linger for 600 ms, the constant Linger, before closing: the ack can
// be lost. It only helps the peer to leave sooner.
//
// Send fails with the error of r; with ErrMismatch, if r has less than Info says; with
// ErrPeerMismatch or ErrPeerRefused, by the peer's receipt; with ErrConvention, if the answer
// is no receipt, or one that says "stored" before every slice was sent; or with the connection's
// error. If ctx ends first, which is noticed between two reads of r, that ends the
// connection unless nothing was in flight.
//
// While the peer stores the content, Send waits. A transport.Peer that vanishes then is
// noticed, as connections are kept alive; over a plain.Conn nothing is sent in that
// time, and Send waits as long as ctx and Config.IdleTimeout let it.
func Send(ctx context.Context, c Conn, r io.Reader, opts *SendOptions) error {
	if opts == nil {
		opts = &SendOptions{}
	}
	s := &sender{conn: c, progress: opts.Progress, sum: sha256.New(), first: firstTransmissions(c)}
	err := s.prepare(ctx, r, opts.Info)
	if err == nil {
		err = s.run(ctx)
	}
	if err != nil {
		return fmt.Errorf("sending to %v: %w", c.RemoteAddr(), err)
	}
	return nil
}

// prepare finds out how large the content is.
func (s *sender) prepare(ctx context.Context, r io.Reader, info *Info) error {
	s.source = r
	if s.info = info; info != nil {
		if info.Size < 0 {
			return fmt.Errorf("%w: a size of %d bytes", ErrMismatch, info.Size)
		}
		return nil
	}
	seeker, ok := r.(io.ReadSeeker)
	if !ok {
		content, err := io.ReadAll(contextReader{ctx, r})
		s.info, s.source = &Info{Size: int64(len(content))}, bytes.NewReader(content)
		return err
	}
	start, err := seeker.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	end, err := seeker.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	s.info = &Info{Size: max(0, end-start)}
	_, err = seeker.Seek(start, io.SeekStart)
	return err
}
