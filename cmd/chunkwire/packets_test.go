package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
)

// virtual runs packets in virtual time, over sockets in memory, and returns what it
// prints.
func virtual(t *testing.T, change func(*packets)) (text string, err error) {
	t.Helper()
	return virtualOn(t, pipeWidth, 0, change)
}

// virtualOn runs it on a screen of that width, and interrupts it, unless the time is 0.
func virtualOn(t *testing.T, width int, interrupt time.Duration, change func(*packets)) (text string, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		network, sockets := netsim.NewNetwork(1), 0
		p := packets{size: 200, large: 3000, every: 10, perSecond: packetsByDefault, profile: "default", seed: 1, duration: 10 * time.Second}
		p.loss, p.rtt = 5, 50*time.Millisecond
		p.listen = func() (net.PacketConn, error) {
			sockets++
			return network.Listen(netsim.Addr(fmt.Sprint("end ", sockets)))
		}
		change(&p)
		if err := p.check(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if interrupt > 0 {
			time.AfterFunc(interrupt, cancel)
		}
		var out bytes.Buffer
		err = p.run(ctx, screen{w: &out, width: width})
		text = out.String()
	})
	return text, err
}

// objects are what --json prints.
func objects(t *testing.T, text string) (seconds []map[string]packetSecond, summary packetsReport) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, line := range lines[:len(lines)-1] {
		var second struct {
			Kind           string
			Second         int
			Client, Server packetSecond
		}
		if err := json.Unmarshal([]byte(line), &second); err != nil || second.Kind != "second" || second.Second != len(seconds)+1 {
			t.Fatalf("%v: %s", err, line)
		}
		seconds = append(seconds, map[string]packetSecond{"client": second.Client, "server": second.Server})
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &summary); err != nil || summary.Kind != "summary" {
		t.Fatalf("%v: %s", err, text)
	}
	return seconds, summary
}

func asJSON(p *packets) { p.json = true }

// Each packet is acked or lost, and what is acked is what the other end took.
func TestPacketsSettle(t *testing.T) {
	t.Parallel()
	text, err := virtual(t, asJSON)
	if err != nil {
		t.Fatal(err)
	}
	seconds, sum := objects(t, text)
	if !sum.OK || len(seconds) < 10 || sum.Seconds < 10 || sum.Seconds > 12 {
		t.Errorf("%s", text)
	}
	for _, pair := range [][2]packetEndReport{{sum.Client, sum.Server}, {sum.Server, sum.Client}} {
		e, far := pair[0], pair[1]
		if e.Sent < 590 || e.Sent > 601 || e.Fragmented < 58 || e.Lost == 0 || e.Sent != e.Acked+e.Lost-e.Late || e.Acked > far.Delivered || far.Delivered > e.Sent {
			t.Errorf("%+v and at the other end %+v", e, far)
		}
		if *e.RTTMinMS < 50 || e.ModeChanges != 1 || e.Mode != "GOOD" || e.GoodMS < 4000 {
			t.Errorf("%+v", e)
		}
	}
	var sent, acked, lost int64
	for _, s := range seconds {
		sent, acked, lost = sent+s["client"].Sent, acked+s["client"].Acked, lost+s["client"].Lost
	}
	if sent != sum.Client.Sent || acked > sum.Client.Acked || acked < sum.Client.Acked-60 || lost > sum.Client.Lost {
		t.Errorf("the seconds have %d, %d, %d; the summary %+v", sent, acked, lost, sum.Client)
	}
	if again, _ := virtual(t, asJSON); again != text {
		t.Errorf("the same seed gave\n%s\nand then\n%s", text, again)
	}
}

// A pipe gets plain lines, one a second for each end, and a narrow screen lines that fit.
func TestPacketsPlainLines(t *testing.T) {
	t.Parallel()
	for _, width := range []int{30, 50, pipeWidth} {
		text, err := virtualOn(t, width, 0, func(p *packets) { p.duration = 3 * time.Second })
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(text, "\n") {
			if strings.ContainsAny(line, "\x1b\r\t") || len([]rune(line)) > width {
				t.Errorf("width %d: %q", width, line)
			}
		}
		wants := []string{"\n   1  client    61 ", "\n      server    59 ", "\n   3  client ", "packets sent", "time in GOOD", "relay: lost "}
		if width == pipeWidth {
			wants = append(wants, packetHeading+"\n   1  client    61 ", " ms  BAD\n   2  client ")
		}
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("width %d: no %q in\n%s", width, want, text)
			}
		}
	}
}

// --cadence keeps to what the mode allows: 10 a second at first, 30 in GOOD. Without it
// the mode has no effect.
func TestPacketsCadence(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rtt     time.Duration
		profile string
		cadence bool
		first   int64 // packets in the second second
		last    int64 // in the tenth
	}{
		{50 * time.Millisecond, "default", true, 10, 30},
		{50 * time.Millisecond, "article", true, 10, 30},
		{300 * time.Millisecond, "article", true, 10, 10},
		{300 * time.Millisecond, "default", true, 10, 30},
		{300 * time.Millisecond, "article", false, 60, 60},
	} {
		text, err := virtual(t, func(p *packets) {
			p.json, p.loss, p.rtt, p.profile, p.cadence, p.duration = true, 0, c.rtt, c.profile, c.cadence, 11*time.Second
		})
		if err != nil {
			t.Fatal(err)
		}
		seconds, _ := objects(t, text)
		first, last := seconds[1]["client"].Sent, seconds[9]["client"].Sent
		if max(first-c.first, c.first-first) > 1 || max(last-c.last, c.last-last) > 1 {
			t.Errorf("%+v: %d in the second second, %d in the tenth", c, first, last)
		}
	}
}

// Duplicates and reordering are no mismatch, and a packet that took more than a second is
// lost first and acked late.
func TestPacketsOverAStrangePath(t *testing.T) {
	t.Parallel()
	text, err := virtual(t, func(p *packets) {
		p.json, p.rtt, p.duplicate, p.reorder, p.jitter = true, 1200*time.Millisecond, 30, 30, 30*time.Millisecond
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, sum := objects(t, text); sum.Client.Late == 0 || sum.Client.Lost < 500 || sum.Client.Mode != "BAD" {
		t.Errorf("%+v", sum.Client)
	}
}

// What is lost altogether is a time-out, with figures.
func TestPacketsNothingArrives(t *testing.T) {
	t.Parallel()
	text, err := virtual(t, func(p *packets) { p.json, p.loss, p.duration = true, 100, 2*time.Second })
	if exitCode(t.Context(), err) != exitTimeout {
		t.Errorf("%v", err)
	}
	seconds, sum := objects(t, text)
	if sum.OK || !strings.Contains(sum.Error, "nothing arrived") || sum.Client.Lost != sum.Client.Sent || sum.Client.RTTMeanMS != nil || seconds[0]["client"].RTTms != nil || sum.Server.Sent != 0 {
		t.Errorf("%s", text)
	}
}

// An interrupted exchange ends with its figures.
func TestPacketsInterrupted(t *testing.T) {
	t.Parallel()
	text, err := virtualOn(t, pipeWidth, 2500*time.Millisecond, func(p *packets) { p.duration = 0 })
	if !errors.Is(err, context.Canceled) || !strings.Contains(text, "   2  client") || strings.Contains(text, "   3  client") || !strings.Contains(text, "packets sent") {
		t.Errorf("%v\n%s", err, text)
	}
}

// The judge of the exchange finds payloads that differ, and acks of what did not arrive.
func TestPacketsMismatch(t *testing.T) {
	t.Parallel()
	for name, corrupt := range map[string]func(x *exchange){
		"payload": func(x *exchange) { x.ends[0].sent[0].payload++ },
		"unsent":  func(x *exchange) { delete(x.ends[0].sent, 0) },
		"twice":   func(x *exchange) { x.ends[0].sent[0].taken = true },
		"false ack": func(x *exchange) {
			x.ends[1].far = &packetEnd{sent: map[core.Number]*sentPayload{0: {}}, filler: x.ends[0].filler}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := packets{size: 20, large: 20, perSecond: 1, profile: "default", listen: func() (net.PacketConn, error) { return net.ListenPacket("udp", loopback) }}
			x, err := p.setUp(nil)
			if err != nil {
				t.Fatal(err)
			}
			defer x.close()
			x.start = time.Now()
			client, server := x.ends[0], x.ends[1]
			datagrams, number, err := client.endpoint.Send(0, client.payload(&p, 0))
			if err != nil {
				t.Fatal(err)
			}
			client.sent[number] = &sentPayload{}
			client.unsettled++
			corrupt(x)
			err = x.receive(packetArrival{end: server, from: client.peer, datagram: datagrams[0]})
			if err == nil { // the server's ack
				ack, _, sendErr := server.endpoint.Send(0, server.payload(&p, 0))
				if sendErr != nil {
					t.Fatal(sendErr)
				}
				err = x.receive(packetArrival{end: client, from: client.peer, datagram: ack[0]})
			}
			if !errors.Is(err, errMismatch) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestPacketsOverSockets(t *testing.T) {
	t.Parallel()
	r := runCommand(t, nil, strings.Fields("packets --json --for 300ms --rtt 4ms --loss 0 --large 16K --every 1")...)
	_, sum := objects(t, r.stdout)
	if r.code != exitOK || r.stderr != "" || !sum.OK || sum.Client.Delivered == 0 || sum.Server.Fragmented == 0 || sum.Client.Fragmented != sum.Client.Sent {
		t.Errorf("%+v", r)
	}
}

func TestPacketsUsage(t *testing.T) {
	t.Parallel()
	for args, says := range map[string]string{
		"--size 7":             "8 to 16384",
		"--large 17K":          "limit",
		"--per-second 0":       "1 to 1000",
		"--every -1":           "negative",
		"--for -1s":            "negative",
		"--profile adaptive":   "default, article",
		"--queue 1K":           "--rate",
		"more":                 "no arguments",
		"--loss 5 --rtt 48h":   "24h",
		"--per-second 1000000": "1 to 1000",
	} {
		r := runCommand(t, nil, append([]string{"packets"}, strings.Fields(args)...)...)
		if r.code != exitUsage || !strings.Contains(r.stderr, says) || r.stdout != "" {
			t.Errorf("%s: %+v", args, r)
		}
	}
	if help := runCommand(t, nil, "packets", "--help"); help.code != exitOK || !strings.Contains(help.stdout, "--cadence") || !strings.Contains(help.stdout, "chunkwire packets --loss 20") {
		t.Errorf("%+v", help)
	}
	if r := runCommand(t, nil, "__complete", "packets", "--profile", ""); !strings.HasPrefix(r.stdout, "default\narticle\n") {
		t.Errorf("%+v", r)
	}
}
