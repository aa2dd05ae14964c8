//go:build unix

package main

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/tools/simulate"
)

func makeFIFO(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Skip(err)
	}
	return name
}

// What is no regular file is written to, and stays what it is.
func TestRecvWritesToANamedPipe(t *testing.T) {
	t.Parallel()
	for _, linked := range []bool{false, true} {
		fifo := makeFIFO(t)
		out := fifo
		if linked {
			out = filepath.Join(t.TempDir(), "link")
			if err := os.Symlink(fifo, out); err != nil {
				t.Skip(err)
			}
		}
		want := simulate.Pattern(600_000, 3)
		addr, ended := startRecv(t, "--out", out)
		read := make(chan []byte, 1)
		go func() {
			got, _ := os.ReadFile(fifo)
			read <- got
		}()
		sent := runCommand(t, nil, "send", "--to", addr, inputFile(t, want))
		received := <-ended
		if sent.code != exitOK || received.code != exitOK {
			t.Fatalf("send: %+v\nrecv: %+v", sent, received)
		}
		if got := <-read; !bytes.Equal(got, want) {
			t.Errorf("%d other bytes came through the pipe", len(got))
		}
		if info, err := os.Lstat(fifo); err != nil || info.Mode().Type() != fs.ModeNamedPipe {
			t.Errorf("the pipe is now %v, %v", info.Mode(), err)
		}
		if info, err := os.Lstat(out); linked && (err != nil || info.Mode().Type() != fs.ModeSymlink) {
			t.Errorf("the link is now %v, %v", info.Mode(), err)
		}
	}
}

func TestSendReadsANamedPipe(t *testing.T) {
	t.Parallel()
	fifo, want := makeFIFO(t), simulate.Pattern(300_000, 4)
	go func() { _ = os.WriteFile(fifo, want, 0) }()
	out := filepath.Join(t.TempDir(), "out")
	addr, ended := startRecv(t, "--out", out)
	sent := runCommand(t, nil, "send", "--to", addr, fifo)
	if received := <-ended; sent.code != exitOK || received.code != exitOK {
		t.Fatalf("send: %+v\nrecv: %+v", sent, received)
	}
	if got, err := os.ReadFile(out); err != nil || !bytes.Equal(got, want) {
		t.Errorf("other bytes arrived: %v", err)
	}
}

// A pipe that nobody writes to, or reads, can be left.
func TestInterruptsAtANamedPipe(t *testing.T) {
	t.Parallel()
	unwritten, fifo := makeFIFO(t), makeFIFO(t)
	if code := interrupted(t, nil, "send", "--to", "127.0.0.1:9", unwritten); code != exitSignal {
		t.Errorf("send ends with %d", code)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	addr, ended := startRecvUntil(t, ctx, "--out", fifo)
	go func() {
		var drop lockedBuffer
		execute(ctx, nil, &drop, &drop, "send", "--to", addr, inputFile(t, []byte("x")))
	}()
	time.Sleep(100 * time.Millisecond)
	interrupt()
	if r := <-ended; r.code != exitSignal {
		t.Errorf("recv ends with %d: %s", r.code, r.stderr)
	}
	// Release those that were left opening the pipe.
	for name, mode := range map[string]int{unwritten: os.O_WRONLY, fifo: os.O_RDONLY} {
		if f, err := os.OpenFile(name, mode|syscall.O_NONBLOCK, 0); err == nil {
			_ = f.Close()
		}
	}
}
