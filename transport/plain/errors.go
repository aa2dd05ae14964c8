package plain

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/chunkwire/chunkwire/statemachine"
)

// sentinel is an error for errors.Is that matches others of the standard
// library or of the machines as well.
type sentinel struct {
	text string
	also []error
}

func (s *sentinel) Error() string   { return "transport: " + s.text }
func (s *sentinel) Unwrap() []error { return s.also }

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

	// ErrRefused says that nobody listens at the peer's port any more, or yet: its
	// system answered by an ICMP message. Only a connection over a connected socket
	// ends with it, as Dial and Over make. What wraps it matches the socket's error
	// as well.
	ErrRefused error = &sentinel{"connection refused", nil}

	// ErrEvicted says that the connection was silent when the endpoint had
	// Config.MaxPeers, and made room for another peer.
	ErrEvicted error = &sentinel{"evicted", nil}

	// ErrCanceled says that the caller's context ended first, or that a delivery was
	// canceled. What wraps it matches the context's error and its cause as well. It
	// is also the end of a connection whose chunk in flight was canceled; see
	// Conn.Send.
	ErrCanceled error = &sentinel{"canceled", nil}

	// ErrSocket says that the socket failed for good. What wraps it matches the
	// socket's error as well.
	ErrSocket error = &sentinel{"the socket failed", nil}
)

// Why no connection was made.
var (
	// ErrTooManyPeers says that the endpoint has Config.MaxPeers connections.
	ErrTooManyPeers error = &sentinel{"too many peers", nil}

	// ErrExists says that the endpoint has a connection with the peer.
	ErrExists error = &sentinel{"there is a connection with this peer", nil}
)

// canceled returns the error of a call whose context has ended.
func canceled(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return fmt.Errorf("%w: %w", ErrCanceled, cause)
	}
	return fmt.Errorf("%w: %w: %w", ErrCanceled, err, cause)
}
