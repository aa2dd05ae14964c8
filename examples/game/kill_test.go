package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/transport"
)

const serveAt = "GAME_TEST_SERVES_AT"

// TestMain is a server if the test that needs one says so.
func TestMain(m *testing.M) {
	if at := os.Getenv(serveAt); at != "" {
		serveForTest(at)
		return
	}
	os.Exit(m.Run())
}

func serveForTest(at string) {
	names := map[uint64]string{identity("ann"): "ann"}
	cfg := config()
	cfg.Keys = func(_ context.Context, id uint64) (session.Key, error) { return keyOf(id), nil }
	cfg.Admit = admit(names)
	server, err := transport.Listen("udp", at, cfg)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("listens at", server.Addr())
	level := bytes.Repeat([]byte("level"), 1<<20/5)
	NewGame(server, level, names, func(string, ...any) {}).Run(context.Background(), "")
}

// startServer starts a server as a process of its own, and returns how to kill it, as kill -9 does, and its address.
func startServer(t *testing.T, at string) (kill func(), address string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serveAt+"="+at)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it is dead: it has failed
	}
	t.Cleanup(kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "listens at ")
	if !ok {
		t.Fatal(line, err)
	}
	return kill, address
}

// A server is killed and started again: its player is told, and joins anew.
func TestTheServerIsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes the silence of the connection")
	}
	kill, address := startServer(t, "127.0.0.1:0")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	join := func() *Client {
		cfg := config()
		cfg.Identity = identity("ann")
		cfg.Key = keyOf(cfg.Identity)
		peer, err := transport.Dial(ctx, "udp", address, cfg)
		if err != nil {
			t.Fatal(err)
		}
		c, err := NewClient(ctx, peer, nil)
		if err != nil || len(c.Level) < 1<<20-5 {
			t.Fatal(err)
		}
		return c
	}
	c := join()
	if err := c.Tick(); err != nil {
		t.Fatal(err)
	}
	kill()
	startServer(t, address)
	var err error
	for err == nil && ctx.Err() == nil {
		time.Sleep(Tick)
		err = c.Tick()
	}
	var refused *session.RefusedError
	if !errors.As(err, &refused) || refused.Reason != session.ConnectionClosed {
		t.Errorf("the end: %v", err)
	}
	again := join()
	if err := again.Tick(); err != nil {
		t.Error(err)
	}
	_ = again.peer.Close(CodeBye, "bye")
}
