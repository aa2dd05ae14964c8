package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/chunkwire/chunkwire/statemachine"
)

// sentinel is an error for errors.Is that matches others of the standard
// library or of the machines as well.
type sentinel struct {
	text string
	also []error
}

func (s *sentinel) Error() string   { return prefix + s.text }
func (s *sentinel) Unwrap() []error { return s.also }

// prefix begins the text of every error that is made here. What wraps one of
// them does not say it again.
const prefix = "transport: "

// Why a connection, or one call, has ended. Errors that wrap one of these add
// the peer and what was going on. Once a connection has ended every call that
// it refuses returns the first cause.
var (
	// ErrClosed says that the connection or the endpoint was closed at this end.
	// It matches net.ErrClosed as well.
	ErrClosed error = &sentinel{"closed", []error{net.ErrClosed}}

	// ErrGaveUp says that a chunk in flight, in either direction, was without
	// progress for Config.GiveUp. It matches statemachine.ErrGaveUp and
	// os.ErrDeadlineExceeded as well.
	ErrGaveUp error = &sentinel{"gave up", []error{statemachine.ErrGaveUp, os.ErrDeadlineExceeded}}

	// ErrIdle says that nothing valid came from the peer for Config.IdleTimeout.
	// It matches os.ErrDeadlineExceeded as well.
	ErrIdle error = &sentinel{"idle", []error{os.ErrDeadlineExceeded}}

	// ErrEvicted says that the connection was silent when the endpoint held
	// Config.MaxPeers, and made room for another peer.
	ErrEvicted error = &sentinel{"evicted", nil}

	// ErrCanceled says that the caller's context ended first. What wraps it
	// matches the context's error and its cause as well. It is also the end of a
	// connection whose chunk in flight was canceled; see Conn.Send.
	ErrCanceled error = &sentinel{"canceled", nil}

	// ErrSocket says that the socket failed for good. What wraps it matches the
	// socket's error as well.
	ErrSocket error = &sentinel{"the socket failed", nil}
)

// Why no connection or endpoint was made.
var (
	// ErrTooManyPeers says that the endpoint holds Config.MaxPeers connections.
	ErrTooManyPeers error = &sentinel{"too many peers", nil}

	// ErrExists says that the endpoint has a connection with the peer.
	ErrExists error = &sentinel{"there is a connection with this peer", nil}

	// ErrConfig says that a field of Config has a value that is not allowed.
	ErrConfig error = &sentinel{"bad config", nil}
)

// What SendFile and RecvFile report, besides the connection's errors.
var (
	// ErrMismatch says that the content at this end is not what its FileInfo
	// says, in size or in SHA-256.
	ErrMismatch error = &sentinel{"size or hash of the file differ", nil}

	// ErrNotAFile says that what the peer sent does not follow the file
	// convention: a first chunk that is no header, or an answer that is no receipt.
	ErrNotAFile error = &sentinel{"the peer does not speak the file convention", nil}

	// ErrPeerMismatch says that, by the receipt, what the peer received is not
	// what the header had announced.
	ErrPeerMismatch error = &sentinel{"the peer reports that size or hash differ", nil}

	// ErrPeerRefused says that, by the receipt, the peer did not store the file.
	ErrPeerRefused error = &sentinel{"the peer did not store the file", nil}
)

// both returns two errors of this package as one, on one line; either may be nil.
func both(a, b error) error {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return &sentinel{bare(a) + "; " + bare(b), []error{a, b}}
}

// bare returns the text of an error without the prefix.
func bare(err error) string { return strings.TrimPrefix(err.Error(), prefix) }

// canceled returns the error of a call whose context has ended.
func canceled(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return fmt.Errorf("%w: %w", ErrCanceled, cause)
	}
	return fmt.Errorf("%w: %w: %w", ErrCanceled, err, cause)
}
