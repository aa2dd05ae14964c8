package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/tools/simulate"
)

// The metrics of a recv are there while it runs, and it says what it does if it is asked to.
func TestRecvServesMetrics(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "out")
	addr, stderr, ended := watchRecv(t, t.Context(), "--out", out, "--metrics", loopback, "--verbose")
	_, rest, _ := strings.Cut(stderr.String(), "metrics at ")
	url, _, _ := strings.Cut(rest, "\n")
	get := func(url string) string {
		t.Helper()
		r, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		body, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != http.StatusOK {
			t.Fatalf("%s: %v, %v", url, r.Status, err)
		}
		return string(body)
	}
	text := get(url)
	if !strings.Contains(text, "\nchunkwire_connections 0\n") {
		t.Error(text)
	}
	var vars struct {
		Chunkwire map[string]any
	}
	if err := json.Unmarshal([]byte(get(strings.Replace(url, "/metrics", "/debug/vars", 1))), &vars); err != nil || vars.Chunkwire["chunkwire_connections"] != 0. {
		t.Errorf("%v: %v", err, vars)
	}
	want := simulate.Pattern(10_000, 1)
	sent := runCommand(t, nil, "send", "--to", addr, "--verbose", inputFile(t, want))
	received := <-ended
	wantStored(t, out, want, sent, received)
	for _, r := range []result{sent, received} {
		for _, says := range []string{"level=INFO msg=\"connection begun\" remote=127.0.0.1:", "level=INFO msg=\"connection ended\" remote=127.0.0.1:"} {
			if !strings.Contains(r.stderr, says) {
				t.Errorf("%q is not in:\n%s", says, r.stderr)
			}
		}
	}
	if _, err := http.Get(url); err == nil {
		t.Error("metrics are served after the end")
	}
}

func TestMetricsUsage(t *testing.T) {
	t.Parallel()
	for args, says := range map[string]string{
		"recv --listen :0 --out x --metrics here":       "--metrics wants HOST:PORT",
		"recv --listen :0 --out x --metrics :0 --plain": "--plain has none",
	} {
		if r := runCommand(t, nil, strings.Fields(args)...); r.code != exitUsage || !strings.Contains(r.stderr, says) {
			t.Errorf("%s: %+v", args, r)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := filepath.Join(t.TempDir(), "out")
	_, stderr, _ := watchRecv(t, ctx, "--out", out, "--metrics", loopback)
	_, rest, _ := strings.Cut(stderr.String(), "metrics at http://")
	taken, _, _ := strings.Cut(rest, "/")
	if r := runCommand(t, nil, "recv", "--listen", loopback, "--out", out, "--metrics", taken); r.code != exitFailed || !strings.Contains(r.stderr, "--metrics: listen tcp") {
		t.Errorf("%+v", r)
	}
}
