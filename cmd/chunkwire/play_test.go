package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/channel"
)

// playOf runs a short game, and returns its summary and the lines before.
func playOf(t *testing.T, args ...string) (r result, report playReport, kinds map[string]int) {
	t.Helper()
	r = runCommand(t, nil, append([]string{"play", "--json"}, args...)...)
	kinds = map[string]int{}
	for line := range strings.Lines(r.stdout) {
		if err := json.Unmarshal([]byte(line), &report); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		kinds[report.Kind]++
	}
	if report.Kind != "summary" {
		t.Fatalf("%+v", r)
	}
	return r, report, kinds
}

// A game through a bad network: everything arrives as promised, also over the address
// that changes, and after the client that was killed.
func TestPlay(t *testing.T) {
	t.Parallel()
	for _, mode := range keyedModes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			r, report, kinds := playOf(t, "--for", "2s", "--clients", "3", "--rtt", "20ms", "--jitter", "5ms", "--loss", "5", "--mode", mode)
			if r.code != exitOK || !report.OK || len(report.Faults) > 0 {
				t.Fatalf("%+v", r)
			}
			if kinds["event"] != 4 || kinds["second"] < 2 {
				t.Errorf("%v:\n%s", kinds, r.stdout)
			}
			for name, s := range map[string]serviceReport{"chat": report.Chat, "inventory": report.Inventory} {
				if s.Due == 0 || s.DueArrived != s.Due || s.Sent <= s.Due {
					t.Errorf("%s: %+v", name, s)
				}
			}
			if p := report.Positions; p.Due < 100 || p.DueArrived == p.Due || p.AgeMS.P95 < 10 {
				t.Errorf("positions: %+v, %+v", p, p.AgeMS)
			}
			if report.Worlds != 3 || report.WorldsWhole != 3 || report.MovedMS == nil || report.RevivedMS == nil || report.LostUp+report.LostDown == 0 {
				t.Errorf("%s", r.stdout)
			}
		})
	}
}

// In a pipe there are lines, without control sequences.
func TestPlayInAPipe(t *testing.T) {
	t.Parallel()
	r := runCommand(t, nil, "play", "--for", "1s", "--clients", "1", "--rtt", "10ms", "--loss", "0")
	for _, want := range []string{"1 client → relay", "positions ", "client 1 has another address now", "client 1 is killed", "client 1 is back after ", "all as promised"} {
		if r.code != exitOK || !strings.Contains(r.stdout, want) {
			t.Errorf("%q is not there: %+v", want, r)
		}
	}
	if strings.Contains(r.stdout, "\x1b") {
		t.Errorf("%q", r.stdout)
	}
}

func TestPlayRefusesFlags(t *testing.T) {
	t.Parallel()
	for args, says := range map[string]string{
		"--clients 0": "--clients must be 1 to 32", "--clients 33": "--clients must be", "--for 10ms": "--for must be 1s to 10m", "--for 1h": "--for must be",
		"--world 0": "--world must be", "--mode none": "aead, mac", "--mode unprotected": "aead, mac", "--jitter -1s": "--jitter must be",
	} {
		if r := runCommand(t, nil, append([]string{"play"}, strings.Fields(args)...)...); r.code != exitUsage || !strings.Contains(r.stderr, says) {
			t.Errorf("%s: %+v", args, r)
		}
	}
}

// A network that is cut ends the game with what did not arrive, and its exit code says
// so: the verdict can fail.
func TestPlayWithoutANetwork(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes the time-out of the connections")
	}
	p := play{clients: 1, world: 1000, mode: "mac", duration: time.Second, linkFor: playTimeout + time.Second, json: true}
	cut := time.Now().Add(600 * time.Millisecond)
	p.listen = func() (net.PacketConn, error) {
		pc, err := net.ListenPacket("udp", loopback)
		return cutSocket{pc, cut}, err
	}
	p.pathFlags.rtt = 10 * time.Millisecond
	var out strings.Builder
	err := p.run(t.Context(), screen{w: &out, width: pipeWidth}, io.Discard)
	if err == nil || !strings.Contains(out.String(), `"ok":false`) {
		t.Errorf("%v: %s", err, out.String())
	}
	if code := exitCode(t.Context(), err); code != exitTimeout && code != exitMismatch && code != exitFailed {
		t.Errorf("exit %d: %v", code, err)
	}
}

// cutSocket loses what it is to send from some time on.
type cutSocket struct {
	net.PacketConn
	at time.Time
}

func (s cutSocket) WriteTo(b []byte, to net.Addr) (int, error) {
	if time.Now().After(s.at) {
		return len(b), nil
	}
	return s.PacketConn.WriteTo(b, to)
}

// What must not happen to a message is a fault; what the end of a connection excuses is
// not missing.
func TestTally(t *testing.T) {
	t.Parallel()
	newTally := func(kind channel.Kind) (*tally, func(bodies ...string) [][]byte) {
		c := &tally{name: "x", kind: kind}
		return c, func(bodies ...string) (sent [][]byte) {
			for _, b := range bodies {
				if err := c.send([]byte(b), func(m []byte) error { sent = append(sent, m); return nil }); err != nil {
					t.Fatal(err)
				}
			}
			return sent
		}
	}
	for _, c := range []struct {
		kind  channel.Kind
		order []int
		fault string
	}{
		{channel.Ordered, []int{0, 1, 2}, ""},
		{channel.Ordered, []int{0, 2}, "x: message 2 arrived in place of 1"},
		{channel.Ordered, []int{0, 0}, "x: message 0 arrived twice"},
		{channel.Unordered, []int{2, 0, 1}, ""},
		{channel.Unordered, []int{2, 2}, "x: message 2 arrived twice"},
		{channel.Unreliable, []int{2, 1}, ""},
		{channel.Unreliable, []int{1, 1}, "x: message 1 arrived twice"},
	} {
		one, send := newTally(c.kind)
		sent := send("a", "b", "c")
		for _, i := range c.order {
			if got := one.receive(sent[i]); got != nil && string(got) != string(sent[i][numberSize:]) {
				t.Errorf("%q", got)
			}
		}
		if got := strings.Join(one.wrong(), "; "); got != c.fault {
			t.Errorf("%v %v: %q", c.kind, c.order, got)
		}
	}

	one, send := newTally(channel.Unordered)
	sent := send("a", "b")
	refused := errors.New("full")
	if err := one.send([]byte("c"), func([]byte) error { return refused }); err != refused || one.counts().Sent != 2 {
		t.Errorf("%v: %+v", err, one.counts())
	}
	for _, altered := range [][]byte{nil, {1}, append(sent[0][:numberSize:numberSize], 'x'), {2, 0, 0, 0, 'c'}} {
		before := len(one.wrong())
		if one.receive(altered) != nil || len(one.wrong()) != before+1 {
			t.Errorf("%v: %v", altered, one.wrong())
		}
	}
	one.receive(sent[0])
	if c := one.counts(); c.missing() != 1 || *c.share() != 50 {
		t.Errorf("%+v", c)
	}
	one.end()
	send("later")
	if c := one.counts(); c.missing() != 0 || c.share() != nil || c.Sent != 3 || c.Arrived != 1 {
		t.Errorf("%+v", c)
	}
}

// A socket that moves has another address, and its user notices nothing; one that is
// killed says nothing any more.
func TestMovingSocket(t *testing.T) {
	t.Parallel()
	open := func() (net.PacketConn, error) { return net.ListenPacket("udp", loopback) }
	moving, err := newMovingSocket(open)
	if err != nil {
		t.Fatal(err)
	}
	far, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	heard := make(chan string, 10)
	go func() {
		buf := make([]byte, 100)
		for {
			n, _, err := moving.ReadFrom(buf)
			if err != nil {
				close(heard)
				return
			}
			heard <- string(buf[:n])
		}
	}()
	say := func(text string) (from net.Addr) {
		if _, err := moving.WriteTo([]byte(text), far.LocalAddr()); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 100)
		_ = far.SetReadDeadline(time.Now().Add(5 * time.Second))
		n, from, err := far.ReadFrom(buf)
		if err != nil || string(buf[:n]) != text {
			t.Fatalf("%q, %v", buf[:n], err)
		}
		_, _ = far.WriteTo([]byte("re "+text), from)
		return from
	}
	before := say("one")
	if got := <-heard; got != "re one" {
		t.Error(got)
	}
	if err := moving.move(); err != nil {
		t.Fatal(err)
	}
	if after := say("two"); after.String() == before.String() || after.String() != moving.LocalAddr().String() {
		t.Errorf("%v, then %v; it has %v", before, after, moving.LocalAddr())
	}
	if got := <-heard; got != "re two" {
		t.Error(got)
	}
	moving.kill()
	if n, err := moving.WriteTo([]byte("three"), far.LocalAddr()); n != 5 || err != nil {
		t.Error(n, err)
	}
	_, _ = far.WriteTo([]byte("hello"), moving.LocalAddr())
	_ = far.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if _, _, err := far.ReadFrom(make([]byte, 100)); err == nil {
		t.Error("it says something")
	}
	_ = moving.Close()
	if got, more := <-heard; more {
		t.Errorf("it hears %q", got)
	}
}

// An interrupted game ends soon, with what there is.
func TestPlayInterrupted(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	time.AfterFunc(1200*time.Millisecond, interrupt)
	var out lockedBuffer
	start := time.Now()
	code := execute(ctx, nil, &out, io.Discard, "play", "--for", "1m", "--rtt", "10ms")
	if code != exitSignal || time.Since(start) > 6*time.Second || !strings.Contains(out.String(), "positions") {
		t.Errorf("exit %d after %v: %s", code, time.Since(start), out.String())
	}
}

// A line in a pipe is whole, however long: a program may read it.
func TestPlayLinesInAPipe(t *testing.T) {
	var out strings.Builder
	share, age := 91.25, 1080.4
	rows := make([]playRow, 32)
	for i := range rows {
		rows[i] = playRow{Positions: &share, AgeP95: &age, World: true}
		rows[i].Chat.Arrived, rows[i].Chat.Sent = 12345, 12345
	}
	v := newPlayLines(screen{w: &out, width: pipeWidth})
	if err := v.second(120, rows); err != nil || !strings.HasSuffix(out.String(), "; worlds 32/32\n") {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// A row of the table fits into a terminal of 80 columns, also with large figures.
func TestPlayFitsTheTerminal(t *testing.T) {
	ms, percent := 1234.5, 100.0
	many := tallyCounts{Arrived: 9999, Sent: 9999}
	row := playRow{Client: 16, state: "moving", RTTms: &ms, LossPercent: &percent, Positions: &percent, AgeP95: &ms, Chat: many, Inventory: many, World: true}
	for _, line := range []string{playHeading, row.String()} {
		if len(line) > 79 || strings.Contains(line, "%!") {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}
