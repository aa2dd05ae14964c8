package plain

import (
	"os"

	"github.com/chunkwire/chunkwire/internal/driver"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Why a connection, or one call, has ended. Errors that wrap one of these add
// the peer and the operation. Once a connection has ended every call that
// it refuses returns the first cause.
var (
	// ErrClosed says that the connection or the endpoint was closed at this end.
	// It matches net.ErrClosed as well.
	ErrClosed = driver.ErrClosed

	// ErrGaveUp says that a chunk in flight, in either direction, was without
	// progress for Config.GiveUp. It matches statemachine.ErrGaveUp and
	// os.ErrDeadlineExceeded as well.
	ErrGaveUp = driver.NewError("gave up", statemachine.ErrGaveUp, os.ErrDeadlineExceeded)

	// ErrIdle says that nothing valid came from the peer for Config.IdleTimeout.
	// It matches os.ErrDeadlineExceeded as well.
	ErrIdle = driver.NewError("idle", os.ErrDeadlineExceeded)

	// ErrRefused says that nobody listens at the peer's port any more, or yet: its
	// system answered by an ICMP message. Only a connection over a connected socket
	// ends with it, as Dial and Over make. An error that wraps it matches the socket's error
	// as well.
	ErrRefused = driver.NewError("connection refused")

	// ErrEvicted says that the connection was silent when the endpoint had
	// Config.MaxPeers, and made room for another peer.
	ErrEvicted = driver.NewError("evicted")

	// ErrCanceled says that the caller's context ended first, or that a delivery was
	// canceled. An error that wraps it matches the context's error and its cause as well. It
	// is also the end of a connection whose chunk in flight was canceled; see
	// Conn.Send.
	ErrCanceled = driver.ErrCanceled

	// ErrSocket means that the socket failed permanently. An error that wraps it matches the
	// socket's error as well.
	ErrSocket = driver.ErrSocket
)

// Why no connection was made.
var (
	// ErrTooManyPeers says that the endpoint has Config.MaxPeers connections.
	ErrTooManyPeers = driver.NewError("too many peers")

	// ErrExists says that the endpoint has a connection with the peer.
	ErrExists = driver.NewError("there is a connection with this peer")
)
