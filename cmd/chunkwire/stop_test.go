package main

import (
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// interrupted runs a command for a moment, and returns how it ends then.
func interrupted(t *testing.T, stdin io.Reader, args ...string) int {
	t.Helper()
	ctx, interrupt := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, interrupt)
	ended := make(chan int, 1)
	go func() {
		var drop lockedBuffer
		ended <- execute(ctx, stdin, &drop, &drop, args...)
	}()
	select {
	case code := <-ended:
		return code
	case <-time.After(20 * time.Second):
		t.Fatalf("%q does not end", args)
		return 0
	}
}

// silentAddr is the address of a socket that nobody reads.
func silentAddr(t *testing.T) string {
	t.Helper()
	pc, err := net.ListenPacket("udp", loopback)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pc.Close() })
	return pc.LocalAddr().String()
}

func TestEveryPhaseCanBeInterrupted(t *testing.T) {
	t.Parallel()
	silence, writer := io.Pipe()
	t.Cleanup(func() { _ = writer.Close() })
	cases := map[string][]string{
		"standard input":    {"send", "--to", "127.0.0.1:9", "-"},
		"sending":           {"send", "--to", silentAddr(t), inputFile(t, []byte("x"))},
		"waiting":           {"recv", "--listen", loopback, "--out", filepath.Join(t.TempDir(), "out")},
		"simulating":        {"simulate", "--seeds", "1000000", "--loss", "50"},
		"one simulation":    {"simulate", "--seeds", "1", "--loss", "100", "--limit", "50h"},
		"streams":           {"simulate", "--flows", "64", "--rate", "1000M", "--for", "1h"},
		"answering as port": {"port"},
		"demonstrating":     {"demo", "--loss", "100"},
	}
	for name, args := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if code := interrupted(t, silence, args...); code != exitSignal {
				t.Errorf("it ends with %d", code)
			}
		})
	}
}

func TestTimeoutCoversReading(t *testing.T) {
	t.Parallel()
	silence, writer := io.Pipe()
	t.Cleanup(func() { _ = writer.Close() })
	r := runCommand(t, silence, "send", "--timeout", "50ms", "--json", "--to", "127.0.0.1:9", "-")
	if r.code != exitTimeout || r.stderr != "chunkwire: not sent within 50ms; allow more with --timeout\n" || !strings.Contains(r.stdout, `{"ok":false,"error":"not sent`) {
		t.Errorf("%+v", r)
	}
}

func TestTogetherEndsWithTheFirstError(t *testing.T) {
	t.Parallel()
	first := errors.New("first")
	wait := func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	err := together(t.Context(), wait, func(context.Context) error { return first }, wait)
	if err != first {
		t.Error(err)
	}
}
