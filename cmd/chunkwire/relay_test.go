package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/tools/simulate"
)

// relayProcess is a relay that runs in this process.
type relayProcess struct {
	t         *testing.T
	addr      string
	lines     io.Writer // its standard input
	stdout    lockedBuffer
	stderr    *lockedBuffer
	interrupt context.CancelFunc
	ended     chan result
}

func startRelay(t *testing.T, to string, args ...string) *relayProcess {
	t.Helper()
	ctx, interrupt := context.WithCancel(t.Context())
	stdin, lines := io.Pipe()
	t.Cleanup(func() { interrupt(); _ = lines.Close() })
	p := &relayProcess{t: t, lines: lines, stderr: &lockedBuffer{wrote: make(chan struct{}, 1)}, interrupt: interrupt, ended: make(chan result, 1)}
	go func() {
		code := execute(ctx, stdin, &p.stdout, p.stderr, append([]string{"relay", "--listen", loopback, "--to", to, "--json"}, args...)...)
		p.ended <- result{code, p.stdout.String(), p.stderr.String()}
	}()
	p.addr = listening(t, p.stderr)
	return p
}

// says sends a line, and waits for an answer.
func (p *relayProcess) says(line, answer string) {
	p.t.Helper()
	before := len(p.stderr.String())
	fmt.Fprintln(p.lines, line)
	eventually(p.t, fmt.Sprintf("%q is answered with %q", line, answer), func() bool { return strings.Contains(p.stderr.String()[before:], answer) })
}

// quit ends the relay, and returns its report.
func (p *relayProcess) quit() relayReport {
	p.t.Helper()
	fmt.Fprintln(p.lines, "quit")
	r := <-p.ended
	if r.code != exitOK {
		p.t.Errorf("the relay ends with %d: %s", r.code, r.stderr)
	}
	return readRelayReport(p.t, r.stdout)
}

func readRelayReport(t *testing.T, stdout string) (r relayReport) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); err != nil {
		t.Fatalf("%s: %v", stdout, err)
	}
	for name, way := range map[string]relayed{"up": r.Up, "down": r.Down} {
		if way.Delivered != way.Sent-way.LostOutage-way.LostRandom-way.LostPolicer-way.LostQueue+way.Duplicated {
			t.Errorf("the counts of %s do not add up: %+v", name, way)
		}
	}
	return r
}

// A file gets through a path that loses, corrupts, doubles and reorders, by three commands: with a
// checksum, encrypted, and plainly.
func TestFilesThroughARelay(t *testing.T) {
	t.Parallel()
	keys := filepath.Join(t.TempDir(), "keys")
	if r := runCommand(t, nil, "keygen", "--out", keys); r.code != exitOK {
		t.Fatalf("%+v", r)
	}
	for name, flags := range map[string][]string{"crc": nil, "aead": {"--key", keys}, "plain": {"--plain"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := simulate.Pattern(1_000_000, 1)
			out := filepath.Join(t.TempDir(), "out")
			addr, ended := startRecv(t, append(flags, "--out", out)...)
			relay := startRelay(t, addr, "--loss", "5", "--corrupt", "5", "--duplicate", "3", "--reorder", "2", "--rtt", "10ms")
			sent := runCommand(t, nil, append(append([]string{"send"}, flags...), "--to", relay.addr, inputFile(t, want))...)
			wantStored(t, out, want, sent, <-ended)
			r := relay.quit()
			if r.Up.Corrupted < 20 || r.Up.LostRandom < 20 || r.Down.Sent == 0 || r.Served != 1 {
				t.Errorf("%+v", r)
			}
		})
	}
}

// countThrough sends numbered datagrams through a relay to a socket, and returns which of them arrived, as
// often as they did. It waits for them in groups that no socket's buffer can be too small for.
func countThrough(t *testing.T, relay *relayProcess, server net.PacketConn, count int) (arrived []string) {
	t.Helper()
	client, err := net.Dial("udp", relay.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	before := relay.stats()
	for i := range count {
		fmt.Fprintf(client, "datagram %d", i)
		if (i+1)%100 != 0 {
			continue
		}
		var now relayReport
		eventually(t, fmt.Sprintf("the relay has %d datagrams", i+1), func() bool {
			now = relay.stats()
			return now.Up.Sent-before.Up.Sent == int64(i+1)
		})
		for buf := make([]byte, 2000); len(arrived) < int(now.Up.Delivered-before.Up.Delivered); {
			_ = server.SetReadDeadline(time.Now().Add(20 * time.Second))
			n, _, err := server.ReadFrom(buf)
			if err != nil {
				t.Fatal(err)
			}
			arrived = append(arrived, string(buf[:n]))
		}
	}
	return arrived
}

// stats asks for the statistics.
func (p *relayProcess) stats() relayReport {
	p.t.Helper()
	before := len(p.stdout.String())
	fmt.Fprintln(p.lines, "stats")
	eventually(p.t, "statistics", func() bool { return strings.HasSuffix(p.stdout.String()[before:], "\n") })
	return readRelayReport(p.t, p.stdout.String())
}

func listenUDP(t *testing.T, network, address string) net.PacketConn {
	t.Helper()
	pc, err := net.ListenPacket(network, address)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = pc.Close() })
	return pc
}

// The datagrams that get through are those that the seed says: the same ones in each run.
func TestRelayIsRepeatable(t *testing.T) {
	t.Parallel()
	const count = 4000
	run := func(args ...string) (arrived []string, r relayReport) {
		server := listenUDP(t, "udp", loopback)
		relay := startRelay(t, server.LocalAddr().String(), args...)
		arrived = countThrough(t, relay, server, count)
		return arrived, relay.quit()
	}
	for name, c := range map[string]struct {
		args        []string
		least, most int // datagrams that get through: 4 standard deviations
	}{
		"independent": {[]string{"--loss", "20"}, 3099, 3301},
		"one way":     {[]string{"--loss", "100", "--up-loss", "20"}, 3099, 3301},
		"in bursts":   {[]string{"--loss", "20", "--burst", "4"}, 2900, 3500},
		"two states":  {[]string{"--gemodel", "2,18,80,5"}, 3200, 3720}, // 12.5 % are lost
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, report := run(append(c.args, "--seed", "7")...)
			again, _ := run(append(c.args, "--seed", "7")...)
			other, _ := run(append(c.args, "--seed", "8")...)
			if strings.Join(one, "\n") != strings.Join(again, "\n") {
				t.Errorf("two runs with a seed: %d and %d datagrams", len(one), len(again))
			}
			if strings.Join(one, "\n") == strings.Join(other, "\n") {
				t.Error("another seed loses the same datagrams")
			}
			if len(one) < c.least || len(one) > c.most {
				t.Errorf("%d datagrams got through, want %d to %d", len(one), c.least, c.most)
			}
			if report.Up.Sent != count || report.Up.SentBytes == 0 || report.Down.Sent != 0 {
				t.Errorf("%+v", report)
			}
		})
	}
}

// A program that knows nothing of chunkwire: a server that answers what it gets, in Python.
func TestRelayOfAForeignProgram(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	cmd := exec.CommandContext(t.Context(), python, "-u", "-c", `
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])
while True:
    data, peer = s.recvfrom(65536)
    s.sendto(data.upper(), peer)
`)
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	port, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	relay := startRelay(t, "127.0.0.1:"+strings.TrimSpace(port), "--delay", "5ms", "--down-delay", "15ms")
	client, err := net.Dial("udp", relay.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	began := time.Now()
	fmt.Fprint(client, "hello")
	buf := make([]byte, 100)
	_ = client.SetReadDeadline(time.Now().Add(20 * time.Second))
	n, err := client.Read(buf)
	if took := time.Since(began); err != nil || string(buf[:n]) != "HELLO" || took < 20*time.Millisecond {
		t.Errorf("%q after %v, %v", buf[:n], took, err)
	}
	if r := relay.quit(); r.Up.Sent != 1 || r.Down.Delivered != 1 || r.Up.Settings["delay"] != "5ms" || r.Down.Settings["delay"] != "15ms" {
		t.Errorf("%+v", r)
	}
}

// Lines change the network while datagrams go through it.
func TestRelayChangesWhileItRuns(t *testing.T) {
	t.Parallel()
	server := listenUDP(t, "udp", loopback)
	relay := startRelay(t, server.LocalAddr().String())
	for _, c := range []struct {
		line, answer string
		arrive       int // of 100 datagrams
	}{
		{"show", "up: nothing is changed\ndown: nothing is changed", 100},
		{"down loss 100", "down: loss 100", 100},
		{"up duplicate 100 # a comment", "up: duplicate 100\n", 200},
		{"duplicate 0", "up: nothing is changed\ndown: loss 100\n", 100},
		{"loss 0", "up: nothing is changed\ndown: nothing is changed", 100},
		{"up outage 1us", "outage 1us of up\n", -1},
		{"rtt 4ms", "down: delay 2ms\n", 100},
		{"up rtt 4ms", `rtt sets both directions; 'up delay' and 'down delay' set one`, 100},
		{"los 20", `nothing is named "los"; 'help' lists the names`, 100},
		{"loss 101", "loss 101: want a number from 0 to 100; nothing has changed", 100},
		{"loss", "loss needs a value: PERCENT", 100},
		{"up", "up needs a setting, such as: up loss 20", 100},
		{"up stats", "stats must be alone in its line", 100},
		{"outage now", "outage needs a duration such as 2s, or on, or off", 100},
		{"gemodel 1 25", "up: delay 2ms, gemodel 1,25,100,0\n", -1},
		{"burst 4", "there are burst and gemodel", -1},
		{"gemodel off", "up: delay 2ms\n", 100},
		{"help", "[up|down] NAME VALUE", 100},
		{"police 1k", "police 1k, police-burst 16K", -1},
		{"police 0", "up: delay 2ms\ndown: delay 2ms\n", 100},
	} {
		relay.says(c.line, c.answer)
		if got := len(countThrough(t, relay, server, 100)); c.arrive >= 0 && got != c.arrive {
			t.Errorf("%s: %d datagrams of 100 arrive, want %d", c.line, got, c.arrive)
		}
	}
	relay.says("outage on", "outage on of up and down")
	client, err := net.Dial("udp", relay.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	eventually(t, "datagrams are lost in the outage", func() bool {
		fmt.Fprint(client, "lost")
		return relay.stats().Up.LostOutage >= 5
	})
	relay.says("outage off", "outage off of up and down")
	eventually(t, "datagrams arrive after the outage", func() bool {
		fmt.Fprint(client, "back")
		_ = server.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
		_, _, err := server.ReadFrom(make([]byte, 100))
		return err == nil
	})
	if r := relay.quit(); r.Up.LostOutage < 5 || r.Down.LostOutage != 0 {
		t.Errorf("%+v", r)
	}
}

// A line of any length is one line, and does not end them.
func TestRelayReadsLongLines(t *testing.T) {
	var got []string
	for line := range readLines(strings.NewReader("loss 5\n"+strings.Repeat("x", 1<<20)+"\r\nloss 6\nquit"), nil) {
		got = append(got, line[:min(len(line), 6)])
	}
	check.Equal(t, "lines", got, []string{"loss 5", "xxxxxx", "loss 6", "quit"})
}

func TestRelayOutages(t *testing.T) {
	t.Parallel()
	server := listenUDP(t, "udp", loopback)
	relay := startRelay(t, server.LocalAddr().String(), "--outage", "50ms/100ms", "--for", "1s")
	client, err := net.Dial("udp", relay.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for {
		fmt.Fprint(client, "x")
		select {
		case r := <-relay.ended:
			report := readRelayReport(t, r.stdout)
			// Half of the time but the first 100 ms, and the machine may be busy.
			if part := float64(report.Up.LostOutage) / float64(report.Up.Sent); r.code != exitOK || part < 0.2 || part > 0.7 || report.Seconds < 1 {
				t.Errorf("%.2f of %d: %+v", part, report.Up.Sent, r)
			}
			return
		case <-time.After(time.Millisecond):
		}
	}
}

func TestOutageTimes(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		text    string
		now     time.Duration
		on      bool
		change  time.Duration
		written string
	}{
		{"5s@10s", 0, false, 10 * s, "5s@10s"},
		{"5s@10s", 10 * s, true, 15 * s, ""},
		{"5s@10s", 15*s - 1, true, 15 * s, ""},
		{"5s@10s", 15 * s, false, forever, ""},
		{"1s/30s", 29 * s, false, 30 * s, "1s@30s/30s"},
		{"1s/30s", 60 * s, true, 61 * s, ""},
		{"1s@10s/30s", 9 * s, false, 10 * s, "1s@10s/30s"},
		{"1s@10s/30s", 40 * s, true, 41 * s, ""},
		{"1s@10s/30s", 41 * s, false, 70 * s, ""},
		{"2s", 1 * s, true, 2 * s, "2s@0s"},
	} {
		o, err := parseOutage(c.text)
		if on, change := o.on(c.now); err != nil || on != c.on || change != c.change {
			t.Errorf("%s at %v: %v until %v, %v", c.text, c.now, on, change, err)
		}
		if c.written != "" && o.String() != c.written {
			t.Errorf("%s is written as %s", c.text, o)
		}
	}
	for _, text := range []string{"", "0s", "5", "5s@", "5s@x", "5s/5s", "5s/1s", "5s/x", "-1s", "5s/"} {
		if o, err := parseOutage(text); err == nil && text != "5s@" {
			t.Errorf("%q is %v", text, o)
		}
	}
}

func TestRelayOverIPv6(t *testing.T) {
	t.Parallel()
	server := listenUDP(t, "udp6", "[::1]:0")
	relay := startRelay(t, server.LocalAddr().String(), "--rate", "8M")
	if got := len(countThrough(t, relay, server, 100)); got != 100 {
		t.Errorf("%d datagrams", got)
	}
	relay.quit()
}

// A relay says what is the matter, and how it ends.
func TestRelayEnds(t *testing.T) {
	t.Parallel()
	relay := startRelay(t, "127.0.0.1:9")
	client, err := net.Dial("udp", relay.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	fmt.Fprint(client, "hello")
	eventually(t, "the relay says that nobody listens", func() bool {
		return strings.Contains(relay.stderr.String(), "note: nobody listens at 127.0.0.1:9 (connection refused)")
	})
	relay.interrupt()
	r := <-relay.ended
	if report := readRelayReport(t, r.stdout); r.code != exitSignal || report.Failed == 0 || !strings.Contains(report.Failure, "refused") {
		t.Errorf("%+v", r)
	}
	text := runCommand(t, strings.NewReader("stats\nquit\n"), "relay", "--listen", loopback, "--to", "127.0.0.1:9", "--loss", "5")
	if text.code != exitOK || strings.Count(text.stderr, "0 clients") != 2 || !strings.Contains(text.stderr, "up: loss 5") || text.stdout != "" {
		t.Errorf("%+v", text)
	}
}

func TestRelayUsage(t *testing.T) {
	t.Parallel()
	for args, says := range map[string]string{
		"--to 127.0.0.1:9":                                     "--listen",
		"--listen :0":                                          "--to",
		"--listen :0 --to 127.0.0.1:0":                         "--to",
		"--listen :0 --to 127.0.0.1:9 --loss 101":              "0 to 100",
		"--listen :0 --to 127.0.0.1:9 --up-loss x":             "0 to 100",
		"--listen :0 --to 127.0.0.1:9 --queue 64K":             "--queue needs --rate",
		"--listen :0 --to 127.0.0.1:9 --burst 0.x":             "such as 4",
		"--listen :0 --to 127.0.0.1:9 --burst 4 --gemodel 1,2": "burst and gemodel",
		"--listen :0 --to 127.0.0.1:9 --gemodel 1":             "2 to 4 numbers",
		"--listen :0 --to 127.0.0.1:9 --outage 5s/1s":          "shorter",
		"--listen :0 --to 127.0.0.1:9 --delay -1s":             "want a duration",
		"--listen :0 --to 127.0.0.1:9 --max-clients 0":         "--max-clients must be 1 to 10000",
		"--listen :0 --to 127.0.0.1:9 --for -1s":               "--for must not",
		"--listen :0 --to 127.0.0.1:9 --idle 0s":               "--idle must",
	} {
		r := runCommand(t, nil, append([]string{"relay"}, strings.Fields(args)...)...)
		if r.code != exitUsage || !strings.Contains(r.stderr, says) {
			t.Errorf("%s: exit %d: %s", args, r.code, r.stderr)
		}
	}
}
