package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

// channelsJSON runs channels with --json.
func channelsJSON(t *testing.T, args string) (r channelsReport, code int) {
	t.Helper()
	got := runCommand(t, nil, append([]string{"channels", "--json"}, strings.Fields(args)...)...)
	if err := json.Unmarshal([]byte(got.stdout), &r); err != nil {
		t.Fatalf("%v: %+v", err, got)
	}
	return r, got.code
}

// Without loss a message takes half a round trip, and nothing is sent again. With loss an
// ordered channel is slower than an unordered one.
func TestChannelsDelay(t *testing.T) {
	t.Parallel()
	clean, code := channelsJSON(t, "--loss 0 --seeds 2 --rtt 40ms")
	if code != exitOK || !clean.OK || len(clean.Channels) != 2 {
		t.Fatalf("%d: %+v", code, clean)
	}
	for _, c := range clean.Channels {
		if c.DelayMS != (quantile{Median: 20, P95: 20, Max: 20}) || c.AgainPercent != 0 || c.Records != 4096 || c.LastMS.Max != 20 || c.BytesDown < 64*4096 {
			t.Errorf("%+v", c)
		}
	}
	lossy, code := channelsJSON(t, "--loss 5 --window 2048 --seeds 4")
	ordered, unordered := lossy.Channels[0], lossy.Channels[1]
	if code != exitOK || ordered.Kind != "ordered" || unordered.Kind != "unordered" || ordered.DelayMS.Median <= unordered.DelayMS.Median ||
		unordered.DelayMS.Median != 50 || ordered.AgainPercent < 3 || ordered.AgainPercent > 9 || ordered.DelayMS.P95 < 150 {
		t.Errorf("%d: %+v", code, lossy)
	}
	again, _ := channelsJSON(t, "--loss 5 --window 2048 --seeds 4 --ordered")
	if len(again.Channels) != 1 || again.Channels[0] != ordered {
		t.Errorf("the same seeds gave %+v and then %+v", ordered, again)
	}
}

// A window that is too small makes messages wait, and a queue that is full refuses them;
// yet all are delivered.
func TestChannelsSmallWindow(t *testing.T) {
	t.Parallel()
	small, _ := channelsJSON(t, "--loss 0 --window 32 --seeds 1 --frames 128 --unordered")
	if c := small.Channels[0]; !small.OK || c.Refused == 0 || c.DelayMS.Median < 1000 || c.AgainPercent != 0 {
		t.Errorf("%+v", small)
	}
	frames, _ := channelsJSON(t, "--loss 0 --seeds 1 --unordered --read-at-frames")
	if c := frames.Channels[0]; c.DelayMS.Median < 50 || c.DelayMS.Max > 50+17 || c.DelayMS.Median == 50 {
		t.Errorf("%+v", frames)
	}
}

// What people read has the same figures, in lines that fit the screen.
func TestChannelsLines(t *testing.T) {
	t.Parallel()
	for _, width := range []int{30, pipeWidth} {
		c := channels{messages: 64, size: 64, fps: 60, frames: 8, window: 1024, seeds: 2, firstSeed: 1, limit: time.Minute}
		c.rtt, c.jitter, c.reorder, c.rate = 100*time.Millisecond, time.Millisecond, 1, 10_000_000
		var out strings.Builder
		if err := c.run(t.Context(), screen{w: &out, width: width}, func(done, total int64) {
			if done < 1 || done > 4 || total != 4 {
				t.Errorf("%d of %d", done, total)
			}
		}); err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(out.String(), "\n") {
			if len([]rune(line)) > width {
				t.Errorf("width %d: %q", width, line)
			}
		}
		for _, want := range []string{"ordered", "unordered", "delay of a message, median", "sent again", "jitter"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("width %d: no %q in\n%s", width, want, out.String())
			}
		}
	}
}

// What is not done in time, and what is interrupted, is an error, with --json too.
func TestChannelsFail(t *testing.T) {
	t.Parallel()
	r, code := channelsJSON(t, "--loss 100 --limit 2s --seeds 3")
	if code != exitTimeout || r.OK || !strings.Contains(r.Error, "3 of 3 runs") || len(r.Channels) != 0 {
		t.Errorf("%d: %+v", code, r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := channels{messages: 64, size: 64, fps: 60, frames: 64, window: 1024, seeds: 1000, firstSeed: 1, limit: time.Minute}
	if err := c.run(ctx, screen{w: &strings.Builder{}, width: pipeWidth}, func(int64, int64) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestChannelsUsage(t *testing.T) {
	t.Parallel()
	for args, says := range map[string]string{
		"--messages 0":                  "1 or more",
		"--messages 2000 --frames 2000": "1048576",
		"--size 3":                      "4 bytes",
		"--size 65K":                    "limit",
		"--fps 0":                       "1 to 1000",
		"--window 500":                  "power of two",
		"--seeds 0":                     "1 to",
		"--limit 0s":                    "above 0",
		"--rtt 48h":                     "24h",
		"--ordered --unordered":         "exclude",
		"more":                          "no arguments",
	} {
		r := runCommand(t, nil, append([]string{"channels"}, strings.Fields(args)...)...)
		if r.code != exitUsage || !strings.Contains(r.stderr, says) || r.stdout != "" {
			t.Errorf("%s: %+v", args, r)
		}
	}
	help := runCommand(t, nil, "channels", "--help")
	if help.code != exitOK || !strings.Contains(help.stdout, "chunkwire channels --loss 20") || !strings.Contains(help.stdout, "(default 100ms)") {
		t.Errorf("%+v", help)
	}
}
