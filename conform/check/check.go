// Package check has the comparisons that tests of all packages use. Each stops the
// test at the first difference.
package check

import (
	"bytes"

	"github.com/google/go-cmp/cmp"
)

// T is what *testing.T and *rapid.T have in common.
type T interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Equal compares what is with what should be.
func Equal[V any](t T, what string, got, want V, opts ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, opts...); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

// Same compares values that == can compare, such as errors.
func Same[V comparable](t T, what string, got, want V) {
	t.Helper()
	if got != want {
		t.Fatalf("%s is %v, want %v", what, got, want)
	}
}

// Bytes compares long byte strings, of which a difference would not be readable.
func Bytes(t T, what string, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Fatalf("%s: %d bytes are not the %d wanted", what, len(got), len(want))
	}
}

// That makes sure of what it says.
func That(t T, ok bool, what string) {
	t.Helper()
	if !ok {
		t.Fatalf("not so: %s", what)
	}
}

// Must returns a value of which the test knows that there is no error.
func Must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}
