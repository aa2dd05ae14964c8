//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	ossignal "os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/tools/simulate"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// process starts the command as a process of its own.
func process(t *testing.T, stdout *os.File, args ...string) *killable {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &killable{cmd: exec.Command(binary, args...), ended: make(chan struct{})}
	p.stderr.wrote = make(chan struct{}, 1)
	p.cmd.Env = append(os.Environ(), asCommand+"=1")
	p.cmd.Stderr = &p.stderr
	if stdout != nil {
		p.cmd.Stdout = stdout
	}
	p.run(t)
	return p
}

// A closed terminal, and a quit from the keyboard, end a recv as an interrupt does:
// nothing half is left.
func TestSignalsThatEndARecv(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			if ossignal.Ignored(signal) {
				t.Skip("ignored where this test was started, by nohup for example: recv then ignores it, too")
			}
			dir := t.TempDir()
			recv := process(t, nil, "recv", "--plain", "--listen", loopback, "--out", filepath.Join(dir, "out"))
			addr := listening(t, &recv.stderr)
			conn := dialRecv(t, addr, plain.Config{})
			data := make([]byte, 300_000)
			for _, chunk := range [][]byte{headerOf(data), data[:codec.MaxChunkSize]} {
				if err := conn.Send(t.Context(), chunk); err != nil {
					t.Fatal(err)
				}
			}
			names := func() []string { names, _ := filepath.Glob(filepath.Join(dir, "*")); return names }
			eventually(t, "the part file is there", func() bool { return len(names()) == 1 })
			if err := recv.cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			recv.wait(t)
			if recv.code != exitSignal || !strings.Contains(recv.stderr.String(), "interrupted") || len(names()) != 0 {
				t.Errorf("exit %d, left behind %v: %s", recv.code, names(), recv.stderr.String())
			}
		})
	}
}

// A recv that is interrupted when the file is stored still sends the receipt, so
// that both ends say the same.
func TestSignalWhenTheFileIsStored(t *testing.T) {
	t.Parallel()
	for range 5 {
		out := filepath.Join(t.TempDir(), "out")
		want := simulate.Pattern(300_000, 1)
		recv := process(t, nil, "recv", "--listen", loopback, "--out", out)
		addr := listening(t, &recv.stderr)
		sent := make(chan result, 1)
		go func() { sent <- runCommand(t, nil, "send", "--to", addr, inputFile(t, want)) }()
		for {
			if _, err := os.Stat(out); err == nil {
				break
			}
			time.Sleep(100 * time.Microsecond)
		}
		if err := recv.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		recv.wait(t)
		if s := <-sent; s.code != exitOK || recv.code != exitOK {
			t.Fatalf("recv ended with %d: %s\nsend: %+v", recv.code, recv.stderr.String(), s)
		}
		if got, _ := os.ReadFile(out); !bytes.Equal(got, want) {
			t.Error("other bytes were stored")
		}
	}
}

// /dev/stdout is standard output, be that a pipe or a file: the report is not among
// the bytes.
func TestRecvToDevStdout(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/stdout"); err != nil {
		t.Skip(err)
	}
	want := simulate.Pattern(200_000, 1)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "out")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	piped := make(chan []byte, 1)
	go func() {
		var b bytes.Buffer
		_, _ = b.ReadFrom(r)
		piped <- b.Bytes()
	}()
	for _, stdout := range []*os.File{w, f} {
		recv := process(t, stdout, "recv", "--listen", loopback, "--out", "/dev/stdout")
		_ = stdout.Close()
		sent := runCommand(t, nil, "send", "--to", listening(t, &recv.stderr), inputFile(t, want))
		recv.wait(t)
		if sent.code != exitOK || recv.code != exitOK || !strings.Contains(recv.stderr.String(), "received 200000 bytes") {
			t.Errorf("send: %+v\nrecv: %d %s", sent, recv.code, recv.stderr.String())
		}
	}
	if got := <-piped; !bytes.Equal(got, want) {
		t.Errorf("%d other bytes came through the pipe", len(got))
	}
	if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d other bytes are in the file, %v", len(got), err)
	}
}

// A name may be as long as the file system takes. A file that may not be written
// is not replaced.
func TestNamesAndModes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	long := filepath.Join(dir, strings.Repeat("ä", 127)+"x") // 255 bytes
	addr, ended := startRecv(t, "--out", long)
	want := simulate.Pattern(3000, 1)
	wantStored(t, long, want, runCommand(t, nil, "send", "--to", addr, inputFile(t, want)), <-ended)
	if names, _ := filepath.Glob(filepath.Join(dir, "*")); len(names) != 1 {
		t.Errorf("left behind: %q", names)
	}
	if part := filepath.Base(partFileName(long)); len(part) > 255 || !strings.HasPrefix(part, strings.Repeat("ä", 120)) {
		t.Errorf("the part file is %q, %d bytes", part, len(part))
	}
	if os.Geteuid() == 0 {
		t.Log("root may write everything")
		return
	}
	locked := filepath.Join(dir, "locked")
	if err := os.WriteFile(locked, []byte("old"), 0o444); err != nil {
		t.Fatal(err)
	}
	r := runCommand(t, nil, "recv", "--listen", loopback, "--out", locked)
	if r.code != exitFailed || !strings.Contains(r.stderr, "permission denied") {
		t.Errorf("%+v", r)
	}
}

// Devices that end are files; those that may not are refused before anything is
// hashed.
func TestDevicesAsInput(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{os.DevNull: "", "/dev/zero": "is a device", "/dev/urandom": "is a device"} {
		f, err := os.Open(name)
		if err != nil {
			t.Skip(err)
		}
		err = checkInput(f, name)
		_ = f.Close()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	start := time.Now()
	if r := runCommand(t, nil, "send", "--to", "127.0.0.1:9", "/dev/zero"); r.code != exitFailed || time.Since(start) > 5*time.Second {
		t.Errorf("%+v", r)
	}
}
