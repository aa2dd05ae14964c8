package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/tools/simulate"
	"github.com/chunkwire/chunkwire/transport"
)

// keyed makes a key file of some identities, and returns a file for each.
func keyed(t *testing.T, n int) (all string, each []string) {
	t.Helper()
	var lines []string
	for range n {
		line := newCredential().line()
		lines = append(lines, line)
		each = append(each, keyFile(t, line))
	}
	return keyFile(t, lines...), each
}

// Files go through a bad network in each mode.
func TestFilesInEachMode(t *testing.T) {
	t.Parallel()
	all, each := keyed(t, 2)
	for _, mode := range append(modeNames, "") {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			flags := []string{"--key", all}
			if mode == "unprotected" {
				flags = []string{"--lanes", "4"}
			}
			if mode != "" {
				flags = append(flags, "--mode", mode)
			}
			out := filepath.Join(t.TempDir(), "out")
			addr, ended := startRecv(t, append(flags, "--out", out)...)
			if flags[0] == "--key" {
				flags[1] = each[1]
			}
			want := simulate.Pattern(700_000, 3)
			sent := runCommand(t, nil, append([]string{"send", "--to", badRelay(t, addr, 10), inputFile(t, want)}, flags...)...)
			wantStored(t, out, want, sent, <-ended)
		})
	}
}

// overheard is a way to a recv, and what goes over it.
func overheard(t *testing.T, recv string) (addr string, seen *lockedBuffer) {
	t.Helper()
	near, err := net.ListenPacket("udp", loopback)
	if err != nil {
		t.Fatal(err)
	}
	to, err := net.ResolveUDPAddr("udp", recv)
	if err != nil {
		t.Fatal(err)
	}
	seen = &lockedBuffer{}
	relay, err := netsim.NewRelay(netsim.RelayConfig{
		Listen: near, Server: to,
		Dial: func() (net.PacketConn, error) {
			far, err := net.ListenPacket("udp", loopback)
			return listener{far, seen}, err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = relay.Close() })
	return near.LocalAddr().String(), seen
}

// listener is a socket that keeps what is written to it.
type listener struct {
	net.PacketConn
	heard *lockedBuffer
}

func (l listener) WriteTo(b []byte, to net.Addr) (int, error) {
	_, _ = l.heard.Write(b)
	return l.PacketConn.WriteTo(b, to)
}

// With a key nothing of the file can be read on the way.
func TestKeysEncrypt(t *testing.T) {
	t.Parallel()
	all, each := keyed(t, 1)
	text := strings.Repeat("a line that anyone would know again\n", 1000)
	for _, c := range []struct {
		name string
		recv []string
		send []string
		open bool
	}{{"aead", []string{"--key", all}, []string{"--key", each[0]}, false}, {"open", nil, nil, false}, {"unprotected", []string{"--mode", "unprotected"}, []string{"--mode", "unprotected"}, true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "out")
			addr, ended := startRecv(t, append(c.recv, "--out", out)...)
			way, seen := overheard(t, addr)
			sent := runCommand(t, nil, append([]string{"send", "--to", way, inputFile(t, []byte(text))}, c.send...)...)
			wantStored(t, out, []byte(text), sent, <-ended)
			if got := strings.Contains(seen.String(), "a line that anyone would know again"); got != c.open {
				t.Errorf("of %d bytes on the way, the text can be read: %v", len(seen.String()), got)
			}
		})
	}
}

// What the two ends do not have in common is said at both, at once, with what to do.
func TestMismatchesAreSaid(t *testing.T) {
	t.Parallel()
	all, each := keyed(t, 1)
	_, others := keyed(t, 1)
	name, _, _ := strings.Cut(readFile(t, each[0]), " ")
	wrong := keyFile(t, name+" "+strings.Repeat("ab", 32))
	for _, c := range []struct {
		name, recv, send string
		says, recvSays   string
	}{
		{"an unknown identity", "--key " + all, "--key " + others[0], "refuses: it does not know the identity", "has no identity and key that are known here"},
		{"another key", "--key " + all, "--key " + wrong, "refuses: it does not know the identity " + name + ", or has another key for it; recv must have --key with a file that has the line of " + wrong, "has no identity and key that are known here"},
		{"no key", "--key " + all, "", "refuses: it takes only senders that it knows; give --key FILE", "has no identity and key that are known here"},
		{"no key, and so another mode", "--key " + all, "", "refuses: it takes only senders that it knows; give --key FILE", "has no identity and key that are known here"},
		{"a key for nothing", "", "--key " + each[0], "refuses: it does not know the identity " + name, "has no identity and key that are known here"},
		{"another mode", "--mode mac --key " + all, "--key " + each[0], "refuses: it has another --mode than aead; give the same at both ends", "has another --mode"},
		{"another protocol id", "", "--protocol-id 7", "refuses: it has another --protocol-id; give the same at both ends", "has another --protocol-id"},
		{"a plain recv", "--plain", "--give-up 1s", "A recv --plain, and other implementations, need --plain here (waited 1s, --give-up)", "or a send without --plain?"},
		{"a plain send", "", "--plain --give-up 1s", "is it running, reachable, and a recv --plain", "a send --plain, and other implementations, need --plain here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			addr, stderr, ended := watchRecv(t, ctx, append(strings.Fields(c.recv), "--out", filepath.Join(t.TempDir(), "out"))...)
			start := time.Now()
			r := runCommand(t, nil, append([]string{"send", "--to", addr, inputFile(t, []byte("x"))}, strings.Fields(c.send)...)...)
			code := exitFailed
			if strings.Contains(c.says, "plain") {
				code = exitTimeout
			}
			if r.code != code || !strings.Contains(r.stderr, c.says) || time.Since(start) > 8*time.Second {
				t.Errorf("send ends after %v with %d: %s", time.Since(start), r.code, r.stderr)
			}
			eventually(t, "recv says it", func() bool { return strings.Contains(stderr.String(), c.recvSays) })
			interrupt()
			if r := <-ended; r.code != exitSignal || strings.Count(r.stderr, c.recvSays) != 1 {
				t.Errorf("recv: %+v", r)
			}
		})
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A file that is too large is refused before it comes, at both kinds; what is there
// stays, and the next sender is heard.
func TestRecvRefusesALargeFile(t *testing.T) {
	t.Parallel()
	for _, kind := range kindsOfSend {
		out := filepath.Join(t.TempDir(), "out")
		if err := os.WriteFile(out, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		addr, stderr, ended := watchRecv(t, t.Context(), append(kind.flags, "--max-size", "3000", "--out", out)...)
		send := func(size int) result {
			return runCommand(t, nil, append([]string{"send", "--to", addr, inputFile(t, simulate.Pattern(size, 1))}, kind.flags...)...)
		}
		if r := send(3001); r.code != exitFailed || !strings.Contains(r.stderr, "did not store the file") || !strings.Contains(r.stderr, "larger than its --max-size") {
			t.Errorf("%s: %+v", kind.name, r)
		}
		if got := readFile(t, out); got != "old" || !strings.Contains(stderr.String(), "sends 3001 bytes (2.9 KiB), more than --max-size 3000 bytes (2.9 KiB) (0 allows any size), and is refused") {
			t.Errorf("%s: %q is there: %s", kind.name, got, stderr.String())
		}
		wantStored(t, out, simulate.Pattern(3000, 1), send(3000), <-ended)
	}
}

// One that sends the header of a file and nothing more is not the sender; one that stops
// in the middle is left in time, although its connection is alive.
func TestSendersThatStop(t *testing.T) {
	t.Parallel()
	data := simulate.Pattern(600_000, 1)
	t.Run("after the header", func(t *testing.T) {
		t.Parallel()
		out := filepath.Join(t.TempDir(), "out")
		addr, stderr, ended := watchRecv(t, t.Context(), "--give-up", "1s", "--out", out)
		stopped := anonymousClient(t, addr, 0)
		if err := stopped.Chunks().Send(t.Context(), headerOf(data)); err != nil {
			t.Fatal(err)
		}
		wantStored(t, out, data, runCommand(t, nil, "send", "--to", addr, inputFile(t, data)), <-ended)
		if s := stderr.String(); strings.Contains(s, "too, and is refused") {
			t.Error(s)
		}
	})
	t.Run("in the middle", func(t *testing.T) {
		t.Parallel()
		out := filepath.Join(t.TempDir(), "out")
		addr, ended := startRecv(t, "--give-up", "1s", "--out", out)
		stopped := anonymousClient(t, addr, 0)
		for _, chunk := range [][]byte{headerOf(data), data[:262_144]} {
			if err := stopped.Chunks().Send(t.Context(), chunk); err != nil {
				t.Fatal(err)
			}
		}
		select {
		case r := <-ended:
			if r.code != exitTimeout || !strings.Contains(r.stderr, "is there, but sends nothing more (waited 3s, 3 times --give-up)") {
				t.Errorf("%+v", r)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("recv still waits after 30 s")
		}
		if names, _ := filepath.Glob(out + "*"); len(names) != 0 {
			t.Errorf("left behind: %v", names)
		}
	})
}

// The end that is interrupted says so, and the other ends at once.
func TestTheOtherEndHearsAnInterrupt(t *testing.T) {
	t.Parallel()
	for _, victim := range []string{"send", "recv"} {
		t.Run(victim, func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "out")
			ends := map[string]*end{"recv": begin(t, "recv", "--listen", loopback, "--out", out)}
			addr := listening(t, &ends["recv"].stderr)
			ends["send"] = begin(t, "send", "--max-rate", "1M", "--profile", "fixed", "--to", addr, inputFile(t, simulate.Pattern(2_000_000, 1)))
			eventually(t, "the transfer begins", func() bool { parts, _ := filepath.Glob(out + ".*.part"); return len(parts) == 1 })
			start := time.Now()
			ends[victim].interrupt()
			for name, e := range ends {
				code := <-e.code
				want := exitTimeout
				if name == victim {
					want = exitSignal
				}
				if code != want || time.Since(start) > 8*time.Second {
					t.Errorf("%s ends with %d after %v: %s", name, code, time.Since(start), e.stderr.String())
				}
				if name != victim && !strings.Contains(e.stderr.String(), ": interrupted") {
					t.Errorf("%s says: %s", name, e.stderr.String())
				}
			}
		})
	}
}

// end is a command that can be interrupted.
type end struct {
	stderr    lockedBuffer
	interrupt context.CancelFunc
	code      chan int
}

func begin(t *testing.T, args ...string) *end {
	t.Helper()
	ctx, interrupt := context.WithCancel(t.Context())
	e := &end{interrupt: interrupt, code: make(chan int, 1)}
	e.stderr.wrote = make(chan struct{}, 1)
	go func() {
		var drop lockedBuffer
		e.code <- execute(ctx, nil, &drop, &e.stderr, args...)
	}()
	return e
}

// The text of another end's close is not printed as it is.
func TestClosingIsQuoted(t *testing.T) {
	t.Parallel()
	got := closing(&transport.ClosedError{Code: 700, Text: "\x1b[2Jbye", Remote: true})
	if got != `code 700, "\x1b[2Jbye"` {
		t.Error(got)
	}
	if got := closing(&transport.ClosedError{Code: farewellBusy.code, Text: "\x1b", Remote: true}); got != farewellBusy.text {
		t.Error(got)
	}
}

// Every reason of a refusal has a sentence of its own.
func TestRefusals(t *testing.T) {
	t.Parallel()
	p := peerProtocol{flags: &connectionFlags{}}
	seen := map[string]session.Reason{}
	for r := session.Full; r <= session.Replaced; r++ {
		err := p.unreached(fmt.Errorf("dialing: %w", &session.RefusedError{Reason: r, Version: 9}), "192.0.2.7:9")
		if before, twice := seen[err.Error()]; twice && r != session.NoCommonVariant {
			t.Errorf("%v and %v: %v", before, r, err)
		}
		seen[err.Error()] = r
		if !strings.HasPrefix(err.Error(), "192.0.2.7:9 refuses: ") {
			t.Errorf("%v: %v", r, err)
		}
	}
}

// What happened to a connection is told with how far the transfer had come.
func TestExplainConnections(t *testing.T) {
	t.Parallel()
	p := peerProtocol{flags: &connectionFlags{giveUp: time.Second}}
	peer := &net.UDPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 9}
	far := course{true, 1024, 2048}
	for _, c := range []struct {
		err  error
		st   socketStats
		want string
	}{
		{transport.ErrTimeout, socketStats{}, "192.0.2.7:9 stopped answering after 1.0 KiB of 2.0 KiB (waited 1s, --give-up)"},
		{transport.ErrTimeout, socketStats{writeErrors: 1, lastWriteError: os.ErrPermission}, "192.0.2.7:9 stopped answering after 1.0 KiB of 2.0 KiB; this system could not send 1 datagram: permission denied (waited 1s, --give-up)"},
		{transport.ErrReplaced, socketStats{}, "another sender with the same identity took the place of 192.0.2.7:9 after 1.0 KiB of 2.0 KiB; give each sender a key of its own"},
		{transport.ErrFailed, socketStats{}, "192.0.2.7:9 answers, but takes nothing more after 1.0 KiB of 2.0 KiB"},
		{&transport.ClosedError{Code: 256, Remote: true}, socketStats{}, "192.0.2.7:9 has ended the transfer after 1.0 KiB of 2.0 KiB: interrupted"},
	} {
		err := p.explain(fmt.Errorf("sending: %w", c.err), peer, far, c.st)
		if got := sentence(err); got != c.want || !isTimeout(err) {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	if got := (course{begun: true}).String(); got != "0 B" {
		t.Errorf("of a size that is not known yet: %s", got)
	}
}
