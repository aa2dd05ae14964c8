package main

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

func simulateFlows(t *testing.T, args ...string) flowsReport {
	t.Helper()
	r := runCommand(t, nil, append([]string{"simulate", "--json", "--flows"}, args...)...)
	var report flowsReport
	if err := json.Unmarshal([]byte(r.stdout), &report); r.code != exitOK || err != nil {
		t.Fatalf("%+v, %v", r, err)
	}
	return report
}

// One stream that has the link alone uses it, whatever the variant, and its rate is that of the
// intervals.
func TestSimulateStreamAlone(t *testing.T) {
	t.Parallel()
	for _, variant := range []string{"--repair", "--plain"} {
		r := simulateFlows(t, "1", "--rate", "10M", "--queue", "256K", "--for", "10s", "--every", "3s", variant)
		if !r.OK || r.Lanes != 8 || len(r.Flows) != 1 || len(r.Intervals) != 4 || r.Jain != 1 {
			t.Fatalf("%s: %+v", variant, r)
		}
		f := r.Flows[0]
		if f.Name != "stream 1" || f.RateBits < 9.5e6 || f.RateBits > 10e6 || f.ResentPercent > 1 || f.Blocks < 35 || f.BlockMS == nil {
			t.Errorf("%s: %+v", variant, f)
		}
		bits := 0.0
		for _, i := range r.Intervals {
			bits += i.RatesBits[0] * (i.ToMS - i.FromMS) / 1000
		}
		if math.Abs(bits-f.RateBits*10) > 1 || math.Abs(r.Total.Use-f.RateBits/10e6) > 1e-9 {
			t.Errorf("%s: %.0f bits in the intervals, %.0f a second, use %v", variant, bits, f.RateBits, r.Total.Use)
		}
	}
}

func TestSimulateFlowsTogether(t *testing.T) {
	t.Parallel()
	r := simulateFlows(t, "3", "--lanes", "2", "--apart", "1500ms", "--beside", "cubic", "--rate", "5M", "--queue", "64K", "--rtt", "40ms", "--for", "6s", "--seed", "7")
	if len(r.Flows) != 4 || r.Flows[2].StartMS != 3000 || r.Flows[3].Name != "cubic" || r.Flows[3].Blocks != 0 || r.Flows[3].BlockMS != nil || r.Seed != 7 || r.Intervals != nil {
		t.Errorf("%+v", r)
	}
	if r.Total.Use < 0.5 || r.Total.Use > 1 || len(r.Total.RatesBits) != 4 {
		t.Errorf("%+v", r.Total)
	}
	text := runCommand(t, nil, "simulate", "--flows", "2", "--rate", "5M", "--queue", "64K", "--for", "4s", "--every", "2s", "--lanes", "1", "--beside", "newreno")
	for _, want := range []string{"3 flows over 5.0 Mbit/s, queue 64.0 KiB, RTT 50ms", "1 lane each", "stream 2, Mbit/s", "newreno, Mbit/s", "ms: median", "Jain's index"} {
		if text.code != exitOK || !strings.Contains(text.stdout, want) {
			t.Errorf("exit %d, %q is not in:\n%s", text.code, want, text.stdout)
		}
	}
	if strings.Contains(text.stdout, " \n") {
		t.Errorf("lines end with blanks:\n%q", text.stdout)
	}
}

// A stream whose datagrams are all lost gives up, and that is a timeout.
func TestSimulateStreamThatGivesUp(t *testing.T) {
	t.Parallel()
	r := runCommand(t, nil, "simulate", "--flows", "2", "--rate", "1M", "--loss", "100", "--for", "40s", "--json")
	for _, want := range []string{`"ok":false`, `"error":"2 of 2 streams gave up`, `"gave_up":true`, `"block_ms":null`} {
		if r.code != exitTimeout || !strings.Contains(r.stdout, want) {
			t.Errorf("exit %d, %s is not in %s", r.code, want, r.stdout)
		}
	}
}

func TestSimulateFlowsUsage(t *testing.T) {
	t.Parallel()
	for says, args := range map[string]string{
		"--lanes needs --flows":        "--lanes 4",
		"--beside needs --flows":       "--beside cubic",
		"--warm is for one block":      "--flows 2 --rate 1M --warm",
		"--seeds is for one block":     "--flows 2 --rate 1M --seeds 3",
		"--flows needs --rate":         "--flows 2",
		"--flows must be 1 to 256":     "--flows -1 --rate 1M",
		"--lanes must be 1 to 16":      "--flows 1 --rate 1M --lanes 17",
		"--beside must be one of":      "--flows 1 --rate 1M --beside bbr",
		"--for must be above 0":        "--flows 1 --rate 1M --for 2h",
		"--every must be at most":      "--flows 1 --rate 1M --every 150ms",
		"--apart must let the last":    "--flows 7 --rate 1M --for 60s --apart 10s",
		"--for must be above 0 and at": "--flows 1 --rate 1M --for 0s",
	} {
		r := runCommand(t, nil, append([]string{"simulate"}, strings.Fields(args)...)...)
		if r.code != exitUsage || !strings.Contains(r.stderr, says) {
			t.Errorf("%s: exit %d, %s", args, r.code, r.stderr)
		}
	}
}
