package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/chunkwire/chunkwire/transport/metrics"
)

// serveMetrics serves the metrics of a source at an address until it is stopped: /metrics for Prometheus, and
// /debug/vars as package expvar does. Nothing is served if the address is empty.
func serveMetrics(address string, source metrics.Source, stderr io.Writer) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--metrics: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics.Handler(source))
	variable := metrics.Var(source)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "/metrics is for Prometheus, /debug/vars is the same as JSON")
	})
	mux.HandleFunc("GET /debug/vars", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_ = json.NewEncoder(w).Encode(map[string]any{"chunkwire": variable()})
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			note{stderr}.printf("metrics are not served any more: %v", err)
		}
	}()
	fmt.Fprintf(stderr, "metrics at http://%v/metrics\n", listener.Addr())
	return func() {
		_ = server.Close()
		<-ended
	}, nil
}
