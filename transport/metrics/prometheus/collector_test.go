package prometheus_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	client "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/chunkwire/chunkwire/transport"
	"github.com/chunkwire/chunkwire/transport/metrics"
	"github.com/chunkwire/chunkwire/transport/metrics/prometheus"
)

// moment is a source that always says the same.
type moment struct{ st transport.ServerStats }

func (m moment) Stats() transport.ServerStats { return m.st }

// used returns the statistics of a server over which something went.
func used(t *testing.T) moment {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	server, err := transport.Listen("udp", "127.0.0.1:0", transport.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	c, err := transport.Dial(ctx, "udp", server.Addr().String(), transport.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(0, "")
	s, err := server.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := c.Chunks().Send(ctx, make([]byte, 100_000)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Chunks().Recv(ctx); err != nil {
			t.Fatal(err)
		}
	}
	st := server.Stats()
	if st.Receiver.Chunks != 3 || st.ChunkIn.Count() != 3 {
		t.Fatalf("%+v", st)
	}
	return moment{st}
}

// What the client library gathers, and what package metrics writes, is the same, and Prometheus' linter finds
// nothing.
func TestCollector(t *testing.T) {
	source := used(t)
	registry := client.NewPedanticRegistry()
	if err := registry.Register(prometheus.NewCollector(source, nil)); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := metrics.WriteText(&text, &source.st); err != nil {
		t.Fatal(err)
	}
	if err := testutil.GatherAndCompare(registry, &text); err != nil {
		t.Error(err)
	}
	problems, err := testutil.GatherAndLint(registry)
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	if n, err := testutil.GatherAndCount(registry); err != nil || n < len(metrics.Table) {
		t.Errorf("%d metrics, %v", n, err)
	}
}

// Two servers can be registered if their labels differ.
func TestTwoServers(t *testing.T) {
	registry := client.NewPedanticRegistry()
	for _, name := range []string{"one", "two"} {
		if err := registry.Register(prometheus.NewCollector(moment{}, client.Labels{"server": name})); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := testutil.GatherAndCount(registry, "chunkwire_connections"); n != 2 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}
