package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/tools/simulate"
)

// A link stays one, and what it leads to keeps its mode.
func TestRecvFollowsLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(t.TempDir(), "link")
	if err := os.WriteFile(target, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(target, 0o646); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Skip(err)
	}
	addr, ended := startRecv(t, "--out", link)
	want := simulate.Pattern(3000, 8)
	sent := runCommand(t, nil, "send", "--to", addr, inputFile(t, want))
	if received := <-ended; sent.code != exitOK || received.code != exitOK {
		t.Fatalf("send: %+v\nrecv: %+v", sent, received)
	}
	if got, err := os.ReadFile(target); err != nil || !bytes.Equal(got, want) {
		t.Errorf("other bytes arrived: %v", err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode().Type() != fs.ModeSymlink {
		t.Errorf("the link is now %v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(target); err != nil || info.Mode().Perm() != 0o646 {
		t.Errorf("the mode is now %v, %v", info.Mode(), err)
	}
	if names, _ := filepath.Glob(filepath.Join(dir, "*")); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
}

func TestRecvRefusesEarly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "none"), link); err != nil {
		t.Skip(err)
	}
	for out, says := range map[string]string{
		link: "does not exist",
		filepath.Join(dir, strings.Repeat("x", 256)): "name too long",
	} {
		r := runCommand(t, nil, "recv", "--listen", loopback, "--out", out)
		if r.code != exitFailed || !strings.Contains(r.stderr, says) || strings.Contains(r.stderr, "listening") {
			t.Errorf("exit %d: %s", r.code, r.stderr)
		}
	}
	if names, _ := filepath.Glob(filepath.Join(dir, "*")); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
}

// The peer of a recv whose reader has gone gets an error.
func TestRecvIntoAClosedPipe(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
	defer w.Close()
	stderr := lockedBuffer{wrote: make(chan struct{}, 1)}
	ended := make(chan int, 1)
	go func() { ended <- execute(t.Context(), nil, w, &stderr, "recv", "--listen", loopback, "--out", "-") }()
	sent := runCommand(t, nil, "send", "--to", listening(t, &stderr), inputFile(t, []byte("x")))
	if sent.code != exitFailed || !strings.Contains(sent.stderr, "did not store") || strings.Contains(sent.stderr, "transport:") {
		t.Errorf("send: %+v", sent)
	}
	if code := <-ended; code != exitFailed || !strings.Contains(stderr.String(), "pipe") {
		t.Errorf("recv ends with %d: %s", code, stderr.String())
	}
}
