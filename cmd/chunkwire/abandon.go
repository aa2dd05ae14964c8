package main

import (
	"context"
	"fmt"
	"time"
)

// orEnd runs a task that no context ends, such as reading standard input, and
// leaves it to itself when the context ends first.
func orEnd(ctx context.Context, task func() error) error {
	done := make(chan error, 1)
	go func() { done <- task() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ended(ctx)
	}
}

// ended returns why a context has ended.
func ended(ctx context.Context) error {
	return fmt.Errorf("%w: %w", ctx.Err(), context.Cause(ctx))
}

// withTimeout ends a context after d, unless that is 0, with a sentence that says
// so.
func withTimeout(ctx context.Context, d time.Duration, says string) (context.Context, context.CancelFunc) {
	if d == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, d, timeoutError(says))
}
