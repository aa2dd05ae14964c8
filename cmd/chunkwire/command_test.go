package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/tools/simulate"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// The tests wait far more than they compute, so more of them run at once than
// there are processors, unless -parallel says otherwise.
func init() {
	testing.Init()
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
}

// result is how a command ended.
type result struct {
	code           int
	stdout, stderr string
}

// runCommand runs a command in this process, as main does.
func runCommand(t *testing.T, stdin io.Reader, args ...string) result {
	t.Helper()
	var stdout, stderr lockedBuffer
	code := execute(t.Context(), stdin, &stdout, &stderr, args...)
	return result{code, stdout.String(), stderr.String()}
}

func execute(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer, args ...string) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return finish(ctx, root.ExecuteContext(ctx), stderr)
}

// startRecv starts a recv on a free port and returns its address once it
// listens, and a channel for how it ends.
func startRecv(t *testing.T, args ...string) (addr string, ended <-chan result) {
	t.Helper()
	return startRecvUntil(t, t.Context(), args...)
}

func startRecvUntil(t *testing.T, ctx context.Context, args ...string) (addr string, ended <-chan result) {
	t.Helper()
	addr, _, ended = watchRecv(t, ctx, args...)
	return addr, ended
}

// watchRecv does the same, and returns what recv prints for people.
func watchRecv(t *testing.T, ctx context.Context, args ...string) (addr string, stderr *lockedBuffer, ended <-chan result) {
	t.Helper()
	var stdout lockedBuffer
	stderr = &lockedBuffer{wrote: make(chan struct{}, 1)}
	done := make(chan result, 1)
	go func() {
		code := execute(ctx, nil, &stdout, stderr, append([]string{"recv", "--listen", loopback}, args...)...)
		done <- result{code, stdout.String(), stderr.String()}
	}()
	return listening(t, stderr), stderr, done
}

// eventually waits until something is so.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 20 s: %s", what)
		}
	}
}

// listening returns the address of a recv once it says that it listens.
func listening(t *testing.T, stderr *lockedBuffer) string {
	t.Helper()
	for {
		select {
		case <-time.After(20 * time.Second):
			t.Fatalf("recv does not listen: %s", stderr.String())
		case <-stderr.wrote:
			if _, at, ok := strings.Cut(stderr.String(), "listening on "); ok && strings.Contains(at, "\n") {
				return strings.TrimSpace(strings.SplitN(at, "\n", 2)[0])
			}
		}
	}
}

// lockedBuffer may be read while it is written to.
type lockedBuffer struct {
	mu    sync.Mutex
	b     bytes.Buffer
	wrote chan struct{}
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, err := l.b.Write(p)
	select {
	case l.wrote <- struct{}{}:
	default: // nobody waits, or knows already that there is more
	}
	return n, err
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func inputFile(t *testing.T, content []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// The transfers that the README promises, through a relay that loses 30 %,
// doubles 10 % and reorders.
func TestFilesThroughABadRelay(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 1024, 1025, 262144, 262145, 3_000_000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			want := simulate.Pattern(n, 1)
			out := filepath.Join(t.TempDir(), "out")
			addr, ended := startRecv(t, "--out", out, "--json")
			sent := runCommand(t, nil, "send", "--json", "--to", badRelay(t, addr, 30), inputFile(t, want))
			received := <-ended
			if sent.code != exitOK || received.code != exitOK {
				t.Fatalf("send: %+v\nrecv: %+v", sent, received)
			}
			if got, err := os.ReadFile(out); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("other bytes arrived: %v", err)
			}
			sum := sha256.Sum256(want)
			for _, r := range []result{sent, received} {
				var report fileReport
				if err := json.Unmarshal([]byte(r.stdout), &report); err != nil {
					t.Fatalf("%s: %v", r.stdout, err)
				}
				if !report.OK || report.Bytes != int64(n) || report.SHA256 != hex.EncodeToString(sum[:]) {
					t.Errorf("the report says %+v", report)
				}
			}
		})
	}
}

// A file of many chunks by several lanes.
func TestFilesByLanes(t *testing.T) {
	t.Parallel()
	want := simulate.Pattern(3_000_000, 4)
	out := filepath.Join(t.TempDir(), "out")
	addr, ended := startRecv(t, "--lanes", "8", "--out", out)
	sent := runCommand(t, nil, "send", "--lanes", "8", "--to", badRelay(t, addr, 10), inputFile(t, want))
	if received := <-ended; sent.code != exitOK || received.code != exitOK {
		t.Fatalf("send: %+v\nrecv: %+v", sent, received)
	}
	if got, err := os.ReadFile(out); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("other bytes arrived: %v", err)
	}
	for _, lanes := range []string{"-1", "17"} {
		if r := runCommand(t, nil, "send", "--lanes", lanes, "--to", addr, out); r.code != exitUsage {
			t.Errorf("--lanes %s: %+v", lanes, r)
		}
	}
}

func TestStandardInputAndOutput(t *testing.T) {
	t.Parallel()
	want := simulate.Pattern(300_000, 5)
	addr, ended := startRecv(t, "--out", "-")
	sent := runCommand(t, bytes.NewReader(want), "send", "--to", addr, "-")
	received := <-ended
	if sent.code != exitOK || received.code != exitOK {
		t.Fatalf("send: %+v\nrecv: %d %s", sent, received.code, received.stderr)
	}
	if received.stdout != string(want) {
		t.Errorf("%d other bytes on standard output", len(received.stdout))
	}
	if !strings.Contains(sent.stdout, "sent 300000 bytes (293 KiB)") || !strings.Contains(received.stderr, "received 300000 bytes (293 KiB)") {
		t.Errorf("send says %q, recv %q", sent.stdout, received.stderr)
	}
}

func TestRawIsOneChunk(t *testing.T) {
	t.Parallel()
	want := simulate.Pattern(5000, 6)
	out := filepath.Join(t.TempDir(), "out")
	addr, ended := startRecv(t, "--raw", "--linger", "100ms", "--out", out)
	sent := runCommand(t, nil, "send", "--raw", "--to", addr, inputFile(t, want))
	received := <-ended
	if sent.code != exitOK || received.code != exitOK {
		t.Fatalf("send: %+v\nrecv: %+v", sent, received)
	}
	if got, err := os.ReadFile(out); err != nil || !bytes.Equal(got, want) {
		t.Errorf("other bytes arrived: %v", err)
	}
}

func TestNothingHalfIsLeft(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	if err := os.WriteFile(out, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	addr, ended := startRecvUntil(t, ctx, "--out", out)
	sending, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		var drop lockedBuffer
		execute(sending, nil, &drop, &drop, "send", "--profile", "fixed", "--max-rate", "200k", "--to", addr, inputFile(t, simulate.Pattern(1_000_000, 1)))
	}()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if parts, _ := filepath.Glob(out + ".*.part"); len(parts) == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the file was not begun")
		}
	}
	interrupt()
	if r := <-ended; r.code != exitSignal || !strings.Contains(r.stderr, "interrupted") {
		t.Errorf("recv ended with %d: %s", r.code, r.stderr)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) != 1 || names[0] != out {
		t.Errorf("left behind: %v, %v", names, err)
	}
	if got, _ := os.ReadFile(out); string(got) != "old" {
		t.Errorf("the old file is now %q", got)
	}
}

// A peer that has gone is an error in time, also when nothing is in flight.
func TestAPeerThatIsGoneIsATimeout(t *testing.T) {
	t.Parallel()
	cfg := plain.Config{ProtocolID: defaultProtocolID}
	data := make([]byte, codec.MaxChunkSize+9) // of which nine bytes never come

	t.Run("the sender, in the middle", func(t *testing.T) {
		out := filepath.Join(t.TempDir(), "out")
		addr, ended := startRecv(t, "--plain", "--give-up", "500ms", "--out", out)
		conn, err := plain.Dial(t.Context(), "udp", addr, cfg)
		if err != nil {
			t.Fatal(err)
		}
		for _, chunk := range [][]byte{headerOf(data), data[:codec.MaxChunkSize]} {
			if err := conn.Send(t.Context(), chunk); err != nil {
				t.Fatal(err)
			}
		}
		_ = conn.Close()
		if r := <-ended; r.code != exitTimeout {
			t.Errorf("recv ends with %d: %s", r.code, r.stderr)
		}
		if names, _ := filepath.Glob(out + "*"); len(names) != 0 {
			t.Errorf("left behind: %v", names)
		}
	})

	t.Run("the receiver, before the receipt", func(t *testing.T) {
		peer, err := plain.Listen("udp", loopback, cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer peer.Close()
		r := runCommand(t, nil, "send", "--plain", "--give-up", "100ms", "--to", peer.Addr().String(), inputFile(t, []byte("x")))
		if r.code != exitTimeout {
			t.Errorf("send ends with %d: %s", r.code, r.stderr)
		}
	})
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	file, dir := inputFile(t, []byte("x")), t.TempDir()
	big := inputFile(t, make([]byte, codec.MaxChunkSize+1))
	empty := inputFile(t, nil)
	silent := silentAddr(t)
	cases := []struct {
		name string
		args string
		code int
		says string
	}{
		{"no such command", "fly", exitUsage, "there is no command \"fly\""},
		{"a command that is misspelled", "snd", exitUsage, "did you mean send?"},
		{"no such help", "help foo", exitUsage, "there is no command \"foo\""},
		{"a relay to itself", "relay --listen 127.0.0.1:9000 --to 127.0.0.1:9000", exitUsage, "is the relay itself"},
		{"a relay to itself, by another name", "relay --listen :9000 --to localhost:9000", exitUsage, "is the relay itself"},
		{"no port to exchange chunks with", "live", exitUsage, "no command of a port is given"},
		{"a port that does not start", "conformance -- " + filepath.Join(dir, "none"), exitPort, "does not work"},
		{"a file in place of digits", "inspect " + file, exitUsage, "there is a file of that name: --file " + file},
		{"nothing to inspect", "inspect", exitUsage, "there is nothing on standard input"},
		{"no folder for a file", "recv --listen 127.0.0.1:0 --out " + filepath.Join(dir, "none", "f"), exitFailed, "there is no folder " + filepath.Join(dir, "none")},
		{"a key that exists", "keygen --out " + file, exitFailed, "a key is never overwritten"},
		{"no such flag", "demo --fly", exitUsage, "chunkwire demo --help"},
		{"flag of a wrong value", "simulate --loss 101", exitUsage, "0 to 100"},
		{"too many arguments", "demo now", exitUsage, "demo takes no arguments"},
		{"no address to send to", "send " + file, exitUsage, "--to"},
		{"no file to send", "send --to localhost:1", exitUsage, "one FILE"},
		{"no port to send to", "send --to localhost " + file, exitUsage, "--to wants HOST:PORT"},
		{"an impossible port", "send --to localhost:65536 " + file, exitUsage, "65536"},
		{"an unknown port", "send --to localhost:nothing-such " + file, exitUsage, "nothing-such"},
		{"port 0 to send to", "send --to localhost:0 " + file, exitUsage, "no port"},
		{"giving up too soon", "send --give-up 999ms --to localhost:1 " + file, exitUsage, "--give-up must be 1s to 1h"},
		{"giving up too soon plainly", "send --plain --give-up 1us --to localhost:1 " + file, exitUsage, "--give-up must be 1ms to 24h"},
		{"a key plainly", "send --plain --key " + file + " --to localhost:1 " + file, exitUsage, "--plain has no keys"},
		{"a key that protects nothing", "send --mode unprotected --key k --to localhost:1 " + file, exitUsage, "do not go together"},
		{"no such mode", "recv --mode rot13 --listen 127.0.0.1:0 --out " + filepath.Join(dir, "f"), exitUsage, "aead, mac, unprotected"},
		{"no such key file", "send --key " + filepath.Join(dir, "none") + " --to localhost:1 " + file, exitFailed, "none"},
		{"no key file", "recv --key " + file + " --listen 127.0.0.1:0 --out " + filepath.Join(dir, "f"), exitFailed, "line 1: want an identity and a key"},
		{"giving up too late", "send --give-up 2000000h --to localhost:1 " + file, exitUsage, "--give-up must be"},
		{"negative time-out", "send --timeout -1s --to localhost:1 " + file, exitUsage, "--timeout must not"},
		{"no such profile", "send --to localhost:1 --profile warp " + file, exitUsage, "adaptive, burst, redundant, fixed, base, article"},
		{"a rate that stalls", "send --to localhost:1 --max-rate 8 " + file, exitUsage, "stall"},
		{"a rate that is needed", "send --to localhost:1 --profile fixed " + file, exitUsage, "--profile fixed needs --max-rate"},
		{"a device without an end", "send --to localhost:1 /dev/zero", exitFailed, "/dev/zero is a device, which can have no end"},
		{"a file that is there", "recv --no-replace --listen 127.0.0.1:0 --out " + file, exitFailed, "exists, and --no-replace is given"},
		{"a negative size", "recv --max-size -1 --listen 127.0.0.1:0 --out " + file, exitUsage, "want a number"},
		{"demo with a negative jitter", "demo --jitter -1s", exitUsage, "--jitter must be"},
		{"lanes that do not share", "send --to localhost:1 --profile base --lanes 2 " + file, exitUsage, "--profile base allows only --lanes 1"},
		{"lanes of the article", "send --to localhost:1 --profile article --max-rate 20M --lanes 8 " + file, exitUsage, "--profile article allows only --lanes 1"},
		{"one raw chunk by lanes", "send --to localhost:1 --raw --lanes 2 " + file, exitUsage, "--lanes must be 1"},
		{"no such file", "send --to localhost:1 " + filepath.Join(dir, "none"), exitFailed, "none"},
		{"a directory", "send --to localhost:1 " + dir, exitFailed, "directory"},
		{"raw and too large", "send --raw --to localhost:1 " + big, exitUsage, "262144"},
		{"raw and empty", "send --raw --to localhost:1 " + empty, exitUsage, "262144"},
		{"no such host", "send --to nowhere.invalid:1 " + file, exitFailed, "nowhere.invalid"},
		{"nobody there", "send --to 127.0.0.1:9 " + file, exitTimeout, "nobody listens at 127.0.0.1:9 (connection refused)"},
		{"nobody answers", "send --give-up 1s --to " + silent + " " + file, exitTimeout, "no answer from " + silent + "; is it running and reachable? A recv --plain"},
		{"nobody answers plainly", "send --plain --give-up 200ms --to " + silent + " " + file, exitTimeout, "no answer from " + silent + "; is it running"},
		{"not done in time", "send --timeout 100ms --to " + silent + " " + file, exitTimeout, "--timeout"},
		{"nowhere to listen", "recv --out " + file, exitUsage, "--listen"},
		{"nowhere to put it", "recv --listen 127.0.0.1:0", exitUsage, "--out"},
		{"out is a directory", "recv --listen 127.0.0.1:0 --out " + dir, exitFailed, "directory"},
		{"no port to listen on", "recv --listen here --out " + file, exitUsage, "--listen wants HOST:PORT"},
		{"rate of a recv", "recv --rate 1M", exitUsage, "unknown flag"},
		{"linger without raw", "recv --linger 1s --listen 127.0.0.1:0 --out " + file, exitUsage, "--raw"},
		{"one raw chunk from lanes", "recv --raw --lanes 2 --listen 127.0.0.1:0 --out " + filepath.Join(dir, "raw"), exitUsage, "--lanes must be 1"},
		{"nobody sends", "recv --wait 50ms --listen 127.0.0.1:0 --out " + filepath.Join(dir, "f"), exitTimeout, "within 50ms; allow more with --wait"},
		{"empty block", "simulate --size 0", exitUsage, "--size"},
		{"negative delay", "simulate --rtt -1s", exitUsage, "--rtt must be 0 to 24h"},
		{"negative jitter", "simulate --jitter -1s", exitUsage, "--jitter must be"},
		{"a queue before nothing", "simulate --queue 64K", exitUsage, "--queue needs --rate"},
		{"too many seeds", "simulate --seeds 1000001", exitUsage, "--seeds"},
		{"no virtual time", "simulate --limit 0s", exitUsage, "--limit"},
		{"demo with a negative delay", "demo --rtt -1s", exitUsage, "--rtt must be"},
		{"demo with a negative time-out", "demo --timeout -1s", exitUsage, "--timeout must not"},
		{"demo of an empty block", "demo --size 0", exitUsage, "--size"},
		{"demo with nothing getting through", "demo --loss 100 --timeout 300ms", exitTimeout, "did not get through"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := runCommand(t, nil, strings.Fields(c.args)...)
			if r.code != c.code || !strings.Contains(r.stderr, c.says) {
				t.Errorf("exit %d, want %d; says %q, want %q in it", r.code, c.code, r.stderr, c.says)
			}
		})
	}
}

func TestHelpHasExamplesAndExitCodes(t *testing.T) {
	for _, command := range []string{"demo", "send", "recv", "keygen", "simulate"} {
		r := runCommand(t, nil, command, "--help")
		if r.code != exitOK || !strings.Contains(r.stdout, "Examples:") || !strings.Contains(r.stdout, "Exit codes:") {
			t.Errorf("%s --help ends with %d and prints:\n%s", command, r.code, r.stdout)
		}
	}
}

func TestDemo(t *testing.T) {
	t.Parallel()
	for variant, says := range map[string][]string{
		"--repair": {"any 100 independent slices", "for repair"},
		"--plain":  {"how often each slice was sent", "needlessly"},
	} {
		r := runCommand(t, nil, "demo", "--size", "100K", "--rtt", "10ms", "--loss", "10", "--duplicate", "5", "--reorder", "5", "--profile", "fixed", "--rate", "50M", variant)
		if r.code != exitOK {
			t.Fatalf("exit %d: %s", r.code, r.stderr)
		}
		for _, want := range append(says, "RTT 10ms, 10 % loss each way", "100/100 slices acked", "fragments, expected", "equal") {
			if !strings.Contains(r.stdout, want) {
				t.Errorf("%q is not in:\n%s", want, r.stdout)
			}
		}
		if strings.Contains(r.stdout, "\x1b") {
			t.Error("control sequences in a pipe")
		}
	}
}

func TestSimulate(t *testing.T) {
	t.Parallel()
	for variant, most := range map[string]float64{"--repair": 256 * 1.03, "--plain": 256} {
		r := runCommand(t, nil, "simulate", "--rate", "100M", "--rtt", "50ms", "--seeds", "5", "--warm", "--json", variant)
		var report simulate.Report
		if err := json.Unmarshal([]byte(r.stdout), &report); r.code != exitOK || err != nil {
			t.Fatalf("%+v, %v", r, err)
		}
		// Half a round trip and the link's own time for 256 slices, within 1 %.
		ideal := 25 + float64((255*1065+1066)*8)/100e3
		if d := report.DeliverMS.Median; d < ideal-0.001 || d > 1.01*ideal || report.DeliverMS.Max != d {
			t.Errorf("%s: delivered in %+v ms, ideal %.1f", variant, report.DeliverMS, ideal)
		}
		if !report.OK || *report.SlicesSent < 256 || *report.SlicesSent > most || report.Failed != 0 || report.LimitMS != 600_000 || report.SendRateBits != 0 || !report.Warm || report.Profile != "adaptive" {
			t.Errorf("%s", r.stdout)
		}
	}
	text := runCommand(t, nil, "simulate", "--rate", "1M", "--queue", "64K", "--seeds", "3", "--rtt", "2h")
	for _, want := range []string{"over 1.0 Mbit/s, queue 64.0 KiB, RTT 2h0m0s, 0 % loss", "slices sent, median", "failed, of 3"} {
		if text.code != exitTimeout || !strings.Contains(text.stdout, want) {
			t.Errorf("exit %d, %q is not in:\n%s", text.code, want, text.stdout)
		}
	}
	if strings.Contains(text.stdout, " \n") {
		t.Errorf("lines end with blanks:\n%q", text.stdout)
	}
}

func TestSimulateEveryProfile(t *testing.T) {
	t.Parallel()
	for _, name := range profileNames {
		for _, warm := range []string{"--warm=false", "--warm"} {
			r := runCommand(t, nil, "simulate", "--rate", "10M", "--queue", "256K", "--loss", "5", "--seeds", "3", "--profile", name, warm)
			if r.code != exitOK || !strings.Contains(r.stdout, "profile "+name) || strings.Contains(r.stdout, "after as much") != (warm == "--warm") {
				t.Errorf("%s %s: exit %d:\n%s%s", name, warm, r.code, r.stdout, r.stderr)
			}
		}
		limited := runCommand(t, nil, "simulate", "--seeds", "1", "--profile", name, "--send-rate", "1M", "--json")
		var report simulate.Report
		if err := json.Unmarshal([]byte(limited.stdout), &report); err != nil || report.SendRateBits != 1e6 {
			t.Errorf("%s at 1 Mbit/s: %+v, %v", name, limited, err)
		}
		// 256 KiB take 2.2 s; but base lets acks pay for more, and its burst is free.
		if d := report.DeliverMS.Median; name != "base" && (d < 1900 || d > 2400) {
			t.Errorf("%s at 1 Mbit/s takes %.0f ms", name, d)
		}
	}
}

// Figures of nothing are none, and not zero.
func TestSimulateWithoutAnyTransfer(t *testing.T) {
	args := []string{"simulate", "--seeds", "3", "--loss", "100", "--limit", "1s"}
	text := runCommand(t, nil, args...)
	if text.code != exitTimeout || !strings.Contains(text.stderr, "none of 3 transfers") || !strings.Contains(text.stdout, "-") || strings.Contains(text.stdout, "0.0") {
		t.Errorf("%+v", text)
	}
	r := runCommand(t, nil, append(args, "--json")...)
	for _, want := range []string{`"ok":false`, `"error":"none of`, `"deliver_ms":null`, `"slices_sent":null`, `"failed":3`, `"seed":1`} {
		if r.code != exitTimeout || !strings.Contains(r.stdout, want) {
			t.Errorf("exit %d, %s is not in %s", r.code, want, r.stdout)
		}
	}
}
