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
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/tools/simulate"
	"github.com/chunkwire/chunkwire/transport/file"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// With --json a failure is an object too.
func TestFailuresAsJSON(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, args := range []string{
		"send --to 127.0.0.1:9 " + filepath.Join(dir, "none"),
		"send --plain --to 127.0.0.1:9 --give-up 50ms " + inputFile(t, []byte("x")),
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
	addr, stderr, ended := watchRecv(t, t.Context(), "--plain", "--out", out)
	cfg := plain.Config{ProtocolID: defaultProtocolID}
	conn, err := plain.Dial(t.Context(), "udp", addr, cfg)
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
	eventually(t, "both are noted", func() bool { return strings.Count(stderr.String(), "is no file; waiting") == 2 })
	sent := runCommand(t, nil, "send", "--plain", "--to", addr, inputFile(t, want))
	received := <-ended
	if sent.code != exitOK || received.code != exitOK || !strings.Contains(received.stderr, "recv needs --raw") {
		t.Fatalf("send: %+v\nrecv: %+v", sent, received)
	}
	if got, err := os.ReadFile(out); err != nil || string(got) != string(want) {
		t.Errorf("%q arrived, %v", got, err)
	}
}

func TestRawNotesAPlainSend(t *testing.T) {
	t.Parallel()
	addr, ended := startRecv(t, "--plain", "--raw", "--linger", "50ms", "--out", filepath.Join(t.TempDir(), "out"))
	runCommand(t, nil, "send", "--plain", "--give-up", "100ms", "--to", addr, inputFile(t, []byte("x")))
	if r := <-ended; r.code != exitOK || !strings.Contains(r.stderr, "without --raw") {
		t.Errorf("%+v", r)
	}
}

// A peer that was there does not have another protocol id.
func TestAPeerThatFallsSilentIsToldWithWhatItHas(t *testing.T) {
	t.Parallel()
	pc, err := net.ListenPacket("udp", loopback)
	if err != nil {
		t.Fatal(err)
	}
	socket := &muteSocket{PacketConn: pc}
	peer, err := plain.New(socket, plain.Config{ProtocolID: defaultProtocolID})
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	go func() {
		conn, err := peer.Accept(t.Context())
		for n := 0; err == nil && n < 3; n++ { // the header, a chunk that is acked for sure, one more
			_, err = conn.Recv(t.Context())
		}
		socket.mute.Store(true)
	}()
	r := runCommand(t, nil, "send", "--plain", "--give-up", "1s", "--to", peer.Addr().String(), inputFile(t, make([]byte, 3<<20)))
	if r.code != exitTimeout || !strings.Contains(r.stderr, "stopped answering after ") || !strings.Contains(r.stderr, " of 3.0 MiB (waited 1s, --give-up)") {
		t.Errorf("%+v", r)
	}
}

// muteSocket stops sending.
type muteSocket struct {
	net.PacketConn
	mute atomic.Bool
}

func (s *muteSocket) WriteTo(b []byte, to net.Addr) (int, error) {
	if s.mute.Load() {
		return len(b), nil
	}
	return s.PacketConn.WriteTo(b, to)
}

func (s *muteSocket) Unwrap() net.PacketConn { return s.PacketConn }

func TestExplain(t *testing.T) {
	t.Parallel()
	protocol := plainProtocol{flags: &connectionFlags{giveUp: time.Second, sends: true}}
	peer := &net.UDPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 9}
	gaveUp := fmt.Errorf("sending: %w", plain.ErrGaveUp)
	refused := fmt.Errorf("sending: %w", plain.ErrRefused)
	answered := socketStats{datagramsOut: 9}
	unsent, partly := answered, answered
	unsent.writeErrors, unsent.lastWriteError = 9, syscall.ENETUNREACH
	partly.writeErrors, partly.lastWriteError = 1, syscall.ENETUNREACH
	for _, c := range []struct {
		err  error
		far  course
		st   socketStats
		want string
	}{
		{gaveUp, course{}, answered, "no answer from 192.0.2.7:9; is it running, reachable, and a recv --plain with the same --protocol-id, --lanes and --repair? (waited 1s, --give-up)"},
		{gaveUp, course{true, 1024, 2048}, answered, "192.0.2.7:9 stopped answering after 1.0 KiB of 2.0 KiB (waited 1s, --give-up)"},
		{plain.ErrIdle, course{true, 1024, 1024}, answered, "192.0.2.7:9 has all 1.0 KiB, but has not said whether it stored them; it can still be writing, or be another implementation, which needs --raw here (waited 3s, 3 times --give-up)"},
		{gaveUp, course{true, 0, 2048}, answered, "192.0.2.7:9 took the first chunk and nothing after it; is it a recv --raw, or another implementation? They need --raw here (waited 1s, --give-up)"},
		{gaveUp, course{}, unsent, "cannot send to 192.0.2.7:9: network is unreachable (waited 1s, --give-up)"},
		{gaveUp, course{true, 1024, 2048}, partly, "192.0.2.7:9 stopped answering after 1.0 KiB of 2.0 KiB; this system could not send 1 datagram: network is unreachable (waited 1s, --give-up)"},
		{refused, course{}, answered, "nobody listens at 192.0.2.7:9 (connection refused); start the receiver first, and check host and port"},
		{refused, course{true, 1024, 2048}, answered, "192.0.2.7:9 has gone after 1.0 KiB of 2.0 KiB (connection refused)"},
		{fmt.Errorf("sending: %w", file.ErrPeerRefused), course{}, answered, "sending: the peer did not store the file"},
	} {
		err := protocol.explain(c.err, peer, c.far, c.st)
		if got := sentence(err); got != c.want || isTimeout(err) != isTimeout(c.err) {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// The time to linger is no time of the transfer.
func TestSendDoesNotCountItsLingering(t *testing.T) {
	t.Parallel()
	addr, ended := startRecv(t, "--plain", "--out", "-")
	began := time.Now()
	sent := runCommand(t, nil, "send", "--plain", "--json", "--to", addr, inputFile(t, []byte("x")))
	took := time.Since(began)
	<-ended
	var report fileReport
	if err := json.Unmarshal([]byte(sent.stdout), &report); err != nil || took.Seconds()-report.Seconds < file.Linger.Seconds() {
		t.Errorf("%v: %v in all: %s", err, took, sent.stdout)
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
	r.Variant, r.SlicesResent, r.SlicesRepair, r.Dependent = simulate.VariantRepair, 0, 2, 1
	if got, want := sentLine(r), "sent "+essence+"258 slices sent, 2 of them for repair"; got != want {
		t.Errorf("got %s", got)
	}
	if got, want := receivedLine(r), "received "+essence+"1 slice received, 3 more than needed"; got != want {
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
