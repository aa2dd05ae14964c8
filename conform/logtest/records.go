// Package logtest is for tests of what is logged: records of a logger (log/slog), and event logs (package eventlog).
package logtest

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Records is a handler that keeps records without their times: one line each.
type Records struct {
	mu  sync.Mutex
	all []string
}

// Logger returns a logger with this handler.
func (r *Records) Logger() *slog.Logger { return slog.New(r) }

// Enabled is of slog.Handler, as the methods below.
func (r *Records) Enabled(context.Context, slog.Level) bool { return true }

// WithAttrs is not used by the packages that are tested.
func (r *Records) WithAttrs([]slog.Attr) slog.Handler { return r }

// WithGroup is not used by the packages that are tested.
func (r *Records) WithGroup(string) slog.Handler { return r }

// Handle keeps a record.
func (r *Records) Handle(_ context.Context, record slog.Record) error {
	line := fmt.Sprintf("%v %s", record.Level, record.Message)
	record.Attrs(func(a slog.Attr) bool { line += " " + a.String(); return true })
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, line)
	return nil
}

// Take returns what there is, and forgets it.
func (r *Records) Take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.all
	r.all = nil
	return all
}

// Want checks that there are such records, in this order, and forgets them.
func (r *Records) Want(t *testing.T, when string, want ...string) {
	t.Helper()
	if got := r.Take(); !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant:\n%s", when, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
