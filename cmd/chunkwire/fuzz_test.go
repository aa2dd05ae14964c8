package main

import (
	"bytes"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/netsim"
)

// Any text is a key file, or is refused with a line that does not show a key. What is read is the same when it is
// written and read again: each identity once, none of it 0, and no key of zeros.
func FuzzKeyFile(f *testing.F) {
	line := credential{7, [32]byte{1}}.line()
	for _, text := range []string{"", line, "# a note\n\n" + line + "\r\n", line + "\n" + line, line[:40], line + " x", strings.Repeat("0", 16) + line[16:], line[:17] + strings.Repeat("0", 64), strings.ToUpper(line), "\x00\xff", strings.Repeat("a", 70_000)} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := credentialsIn(text, "file")
		if err != nil {
			if all != nil {
				t.Fatalf("%d credentials, and %v", len(all), err)
			}
			for _, word := range strings.Fields(string(text)) {
				if len(word) == 64 && strings.Contains(err.Error(), word) {
					t.Fatalf("a key is shown: %v", err)
				}
			}
			return
		}
		var again []byte
		seen := map[uint64]bool{}
		for _, c := range all {
			if c.identity == 0 || c.key == [32]byte{} || seen[c.identity] {
				t.Fatalf("%s is taken", c.line())
			}
			seen[c.identity] = true
			again = append(again, c.line()+"\n"...)
		}
		check.That(t, slices.Equal(check.Must(credentialsIn(again, "file")), all), "the same is read again")
	})
}

// Any lines leave a relay at work: each is done, or refused with a text and without a change.
func FuzzRelayLines(f *testing.F) {
	for _, text := range []string{"loss 20", "up loss 20\ndown delay 20ms", "rate 5M\nqueue 64K\nshow\nstats\nhelp\nquit", "outage 2s\noutage on\ndown outage off", "up", "loss", "loss 200", "delay -1s", "jitter 1e9h", "rate 1e99", "# loss 20", "\x00\xff", "outage \x00", "up show", "quit 1", strings.Repeat("loss 20 ", 10_000)} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r := relayOfNobody(t)
		done := make(chan struct{})
		defer close(done)
		for line := range readLines(bytes.NewReader(text), done) {
			before := r.show()
			answer, err := r.obey(line)
			if errors.Is(err, errQuit) {
				return
			}
			if err != nil && answer != "" && r.show() != before {
				t.Fatalf("%q is refused with %v, and says %q", line, err, answer)
			}
			if err := r.apply(); err != nil {
				t.Fatalf("after %q: %v", line, err)
			}
		}
	})
}

// relayOfNobody is a relay on a network in memory.
func relayOfNobody(t *testing.T) *relaying {
	n := netsim.NewNetwork(1)
	front := check.Must(n.Listen("front"))
	r := &relaying{flags: &relay{}, began: time.Now(), listen: front.LocalAddr(), to: netsim.Addr("to"), stdout: io.Discard, screen: newScreen(io.Discard)}
	r.relay = check.Must(netsim.NewRelay(netsim.RelayConfig{
		Listen: front, Server: r.to, Dial: func() (net.PacketConn, error) { return n.Listen("near") },
	}))
	t.Cleanup(func() { _ = r.relay.Close() })
	return r
}
