package driver

import (
	"context"
	"errors"
	"fmt"
	"net"
)

// sentinel is an error for errors.Is that matches others of the standard
// library or of the machines as well.
type sentinel struct {
	text string
	also []error
}

func (s *sentinel) Error() string   { return "transport: " + s.text }
func (s *sentinel) Unwrap() []error { return s.also }

// NewError returns an error for errors.Is that matches the others as well.
func NewError(text string, also ...error) error { return &sentinel{text, also} }

// The errors that both kinds of connection have, and explain.
var (
	ErrClosed   = NewError("closed", net.ErrClosed)
	ErrCanceled = NewError("canceled")
	ErrSocket   = NewError("the socket failed")
)

// Canceled returns the error of a call whose context has ended.
func Canceled(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return fmt.Errorf("%w: %w", ErrCanceled, cause)
	}
	return fmt.Errorf("%w: %w: %w", ErrCanceled, err, cause)
}
