package check_test

import (
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
)

// recorder notes what a test says when it stops.
type recorder struct{ said string }

func (*recorder) Helper()                             {}
func (r *recorder) Fatalf(format string, args ...any) { r.said = fmt.Sprintf(format, args...) }

func TestChecksStopATestForAReason(t *testing.T) {
	one, other := errors.New("x"), errors.New("x")
	for _, c := range []struct {
		name  string
		check func(t check.T)
		want  string // part of what is said; nothing: the check passes
	}{
		{"equal", func(t check.T) { check.Equal(t, "list", []int{1, 2}, []int{1, 2}) }, ""},
		{"not equal", func(t check.T) { check.Equal(t, "list", []int{1, 2}, []int{1, 3}) }, "list (-want +got)"},
		{"same", func(t check.T) { check.Same(t, "error", one, one) }, ""},
		{"not the same", func(t check.T) { check.Same(t, "error", one, other) }, "error is x, want x"},
		{"same bytes", func(t check.T) { check.Bytes(t, "data", []byte{1}, []byte{1}) }, ""},
		{"other bytes", func(t check.T) { check.Bytes(t, "data", []byte{1}, nil) }, "data: 1 bytes are not the 0 wanted"},
		{"so", func(t check.T) { check.That(t, true, "so it is") }, ""},
		{"not so", func(t check.T) { check.That(t, false, "so it is") }, "not so: so it is"},
	} {
		var r recorder
		c.check(&r)
		if (r.said == "") != (c.want == "") || !strings.Contains(r.said, c.want) {
			t.Errorf("%s: %q", c.name, r.said)
		}
	}
}

func TestMust(t *testing.T) {
	if got := check.Must(7, nil); got != 7 {
		t.Errorf("got %d", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("an error passes")
		}
	}()
	check.Must(7, errors.New("x"))
}

func TestEventsAreMeasured(t *testing.T) {
	check.Same(t, "error", flag.Set("test.benchtime", "5x"), nil)
	made := 0
	var kept []byte
	result := testing.Benchmark(func(b *testing.B) {
		check.Events(b, 10, func() func() {
			return func() {
				for range 10 {
					made++
					kept = make([]byte, 64)
				}
			}
		})
	})
	if made < 10*result.N || result.Extra["ns/event"] <= 0 || result.Extra["allocs/event"] < 1 || len(kept) != 64 {
		t.Errorf("%d events: %v", made, result.Extra)
	}
}
