package transport

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/internal/driver"
	"github.com/chunkwire/chunkwire/internal/udp"
)

// Why a connection has not begun or has ended, or why one call failed. Errors that
// wrap one of these add the peer and the operation. Once a connection has ended
// every call that it refuses returns the first cause.
var (
	// ErrClosed says that the peer or the server was closed at this end. It matches
	// net.ErrClosed as well.
	ErrClosed = driver.ErrClosed

	// ErrClosedRemotely says that the other end closed the connection. An error that wraps it
	// matches a *ClosedError by errors.As, with the code and the text.
	ErrClosedRemotely = driver.NewError("closed by the other end")

	// ErrRefused says that the server refused the connection. What wraps it matches a
	// *session.RefusedError by errors.As, with the reason.
	ErrRefused = driver.NewError("connection refused")

	// ErrReplaced says that another connection of the same identity took the place of
	// this one.
	ErrReplaced = driver.NewError("replaced by a newer connection of the same identity")

	// ErrTimeout says that nothing was heard of the other end for Config.Timeout, or that it acked nothing that
	// was sent meanwhile. It matches os.ErrDeadlineExceeded as well. If the system did not accept the datagrams sent
	// last, what wraps it matches that error, too.
	ErrTimeout = driver.NewError("timed out", os.ErrDeadlineExceeded)

	// ErrUnreachable says that nobody listens at the server's port: its system said so,
	// by an ICMP message, before the server answered.
	ErrUnreachable = driver.NewError("nobody listens")

	// ErrFailed says that a chunk was without progress for too long, which ends the connection, or a
	// channel was, which ends the channel alone.
	ErrFailed = driver.NewError("failed")

	// ErrCanceled says that the caller's context ended first, or that a delivery was
	// canceled. An error that wraps it matches the context's error and its cause as well.
	ErrCanceled = driver.ErrCanceled

	// ErrSocket means that the socket failed permanently. An error that wraps it matches the
	// socket's error as well.
	ErrSocket = driver.ErrSocket
)

// Why a message was not taken; nothing has changed then.
var (
	// ErrQueueFull says that as many messages wait as may: try again later.
	ErrQueueFull = channel.ErrQueueFull
	// ErrNoChannel says that Config.Channels has no such channel.
	ErrNoChannel = channel.ErrUnknownChannel
)

// ClosedError is why a connection ended that the other end closed.
type ClosedError = connection.ClosedError

// words is an error for users. The errors below it, with rows and sentences of the specifications, are printed by
// %+v only.
type words struct {
	text   string
	causes []error
}

func inWords(text string, causes ...error) error { return &words{text, causes} }

func (w *words) Error() string { return w.text }

func (w *words) Unwrap() []error { return w.causes }

func (w *words) Format(f fmt.State, verb rune) {
	text := w.text
	if verb == 'v' && f.Flag('+') {
		text = fmt.Sprintf("%s (%+v)", text, w.causes[len(w.causes)-1])
	}
	fmt.Fprintf(f, fmt.FormatString(f, verb), text)
}

// explain returns why a connection with a peer ended, as errors of this package. Of a
// timeout it shows if the system did not accept the last datagrams sent.
func explain(err error, peer udp.Addr, writing error) error {
	var closed *connection.ClosedError
	var refused *session.RefusedError
	switch {
	case errors.As(err, &closed) && closed.Remote:
		text := ""
		if closed.Text != "" {
			text = fmt.Sprintf(": %q", closed.Text) // the other end wrote it (CXA-7)
		}
		return driver.NewError(fmt.Sprintf("closed by the other end: connection with %v, code %d%s", peer, closed.Code, text), ErrClosedRemotely, err)
	case errors.As(err, &closed):
		return fmt.Errorf("%w: connection with %v", ErrClosed, peer)
	case errors.As(err, &refused) && refused.Reason == session.Replaced:
		return fmt.Errorf("%w: connection with %v", ErrReplaced, peer)
	case errors.As(err, &refused):
		return fmt.Errorf("%w by %v: %w", ErrRefused, peer, err)
	case errors.Is(err, session.ErrTimeout):
		text := fmt.Sprintf("nothing was heard of %v", peer)
		if errors.Is(err, connection.ErrUnacked) {
			text = fmt.Sprintf("%v is heard, but acked nothing that was sent", peer)
		}
		if writing != nil {
			return fmt.Errorf("%w: %s; sending fails: %w", ErrTimeout, text, writing)
		}
		return fmt.Errorf("%w: %s", ErrTimeout, text)
	case errors.Is(err, connection.ErrFailed):
		why := strings.TrimPrefix(err.Error(), connection.ErrFailed.Error()+": ")
		return driver.NewError(fmt.Sprintf("failed: connection with %v: %s", peer, why), ErrFailed, err)
	}
	return fmt.Errorf("transport: connection with %v: %w", peer, err)
}
