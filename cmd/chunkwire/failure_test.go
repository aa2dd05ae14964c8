package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/transport"
)

// With --json a failure is an object too.
func TestFailuresAsJSON(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, args := range []string{
		"send --to 127.0.0.1:9 " + filepath.Join(dir, "none"),
		"send --to 127.0.0.1:9 --give-up 50ms " + inputFile(t, []byte("x")),
		"send --to nowhere.invalid:9 " + inputFile(t, []byte("x")),
		"recv --listen 127.0.0.1:0 --out " + dir,
		"recv --listen 127.0.0.1:0 --wait 50ms --out " + filepath.Join(dir, "out"),
		"simulate --seeds 1 --limit 1ms",
	} {
		r := runCommand(t, nil, append(strings.Fields(args), "--json")...)
		var report struct {
			OK    *bool
			Error string
		}
		err := json.Unmarshal([]byte(r.stdout), &report)
		if err != nil || report.OK == nil || *report.OK || report.Error == "" || !strings.Contains(r.stderr, report.Error) {
			t.Errorf("%s: %v: %+v", args, err, r)
		}
	}
}

// What begins no file does not end a recv.
func TestStrayPeersAreLeft(t *testing.T) {
	t.Parallel()
	want := []byte("a file")
	out := filepath.Join(t.TempDir(), "out")
	addr, ended := startRecv(t, "--give-up", "500ms", "--out", out)
	cfg := transport.Config{ProtocolID: defaultProtocolID}
	conn, err := transport.Dial(t.Context(), "udp", addr, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Send(t.Context(), []byte("hello")); err != nil {
		t.Fatal(err)
	}
	half, err := codec.NewFramer(defaultProtocolID).AppendSlice(nil, codec.Slice{NumSlices: 2, Data: make([]byte, codec.SliceSize)})
	if err != nil {
		t.Fatal(err)
	}
	udp, err := net.Dial("udp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	if _, err := udp.Write(half); err != nil {
		t.Fatal(err)
	}
	sent := runCommand(t, nil, "send", "--to", addr, inputFile(t, want))
	received := <-ended
	if sent.code != exitOK || received.code != exitOK || strings.Count(received.stderr, "is no file; waiting") != 2 {
		t.Fatalf("send: %+v\nrecv: %+v", sent, received)
	}
	if got, err := os.ReadFile(out); err != nil || string(got) != string(want) {
		t.Errorf("%q arrived, %v", got, err)
	}
}

func TestRawNotesAPlainSend(t *testing.T) {
	t.Parallel()
	addr, ended := startRecv(t, "--raw", "--linger", "50ms", "--out", filepath.Join(t.TempDir(), "out"))
	runCommand(t, nil, "send", "--give-up", "100ms", "--to", addr, inputFile(t, []byte("x")))
	if r := <-ended; r.code != exitOK || !strings.Contains(r.stderr, "without --raw") {
		t.Errorf("%+v", r)
	}
}

// A peer that was there does not have another protocol id.
func TestAPeerThatFallsSilentIsToldWithWhatItHas(t *testing.T) {
	t.Parallel()
	peer, err := transport.Listen("udp", loopback, transport.Config{ProtocolID: defaultProtocolID})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		if conn, err := peer.Accept(t.Context()); err == nil {
			_, _ = conn.Recv(t.Context()) // the header
			_, _ = conn.Recv(t.Context())
		}
		_ = peer.Close()
	}()
	r := runCommand(t, nil, "send", "--give-up", "200ms", "--to", peer.Addr().String(), inputFile(t, make([]byte, 3<<20)))
	if r.code != exitTimeout || !strings.Contains(r.stderr, "stopped answering after ") || !strings.Contains(r.stderr, " of 3.0 MiB (waited 200ms, --give-up)") {
		t.Errorf("%+v", r)
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	flags := connectionFlags{giveUp: time.Second}
	peer := &net.UDPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 9}
	gaveUp := fmt.Errorf("transport: %w", transport.ErrGaveUp)
	for _, c := range []struct {
		err  error
		far  course
		want string
	}{
		{gaveUp, course{}, "no answer from 192.0.2.7:9; is it running, reachable, and using the same --protocol-id and --lanes? (waited 1s, --give-up)"},
		{gaveUp, course{true, 1024, 2048}, "192.0.2.7:9 stopped answering after 1.0 KiB of 2.0 KiB (waited 1s, --give-up)"},
		{transport.ErrIdle, course{true, 1024, 1024}, "192.0.2.7:9 has all 1.0 KiB, but did not say whether it stored them (waited 3s, 3 times --give-up)"},
		{fmt.Errorf("sending: %w", transport.ErrPeerRefused), course{}, "sending: the peer did not store the file"},
	} {
		err := flags.explain(c.err, peer, c.far)
		if got := sentence(err); got != c.want || isTimeout(err) != isTimeout(c.err) {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// The time to linger is not that of the transfer.
func TestSendDoesNotCountItsLingering(t *testing.T) {
	t.Parallel()
	addr, ended := startRecv(t, "--out", "-")
	sent := runCommand(t, nil, "send", "--json", "--to", addr, inputFile(t, []byte("x")))
	<-ended
	var report fileReport
	if err := json.Unmarshal([]byte(sent.stdout), &report); err != nil || report.Seconds >= transport.FileLinger.Seconds() {
		t.Errorf("%v: %s", err, sent.stdout)
	}
}

func TestReportLines(t *testing.T) {
	t.Parallel()
	r := fileReport{Bytes: 262145, Seconds: 0.5, BitsPerSecond: 1e6, SHA256: "0123456789abcdef0", SlicesSent: 258, SlicesResent: 1, SlicesReceived: 1, Duplicates: 2}
	essence := "262145 bytes (256 KiB) in 0.500 s, 1.0 Mbit/s, sha256 0123456789abcdef…, "
	if got, want := sentLine(r), "sent "+essence+"258 slices sent, 1 of them again"; got != want {
		t.Errorf("got %s", got)
	}
	if got, want := receivedLine(r), "received "+essence+"1 slice received, 2 duplicates"; got != want {
		t.Errorf("got %s", got)
	}
}

// A spool is gone after its end, also where an open file cannot be removed.
func TestSpoolsAreRemoved(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s, err := putAside(t.Context(), strings.NewReader("text"), "text")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(s); string(got) != "text" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if err := os.WriteFile(s.Name(), nil, 0o600); err != nil { // as if it had stayed
		t.Fatal(err)
	}
	s.named = true
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(s.Name()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	if r := runCommand(t, nil, "--version"); r.code != exitOK || !strings.HasPrefix(r.stdout, "chunkwire version ") {
		t.Errorf("%+v", r)
	}
}
