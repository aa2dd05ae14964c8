package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/tools/simulate"
)

// Flags that had another name are taken by it, without a word, and are not in the
// help.
func TestFormerFlagNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, after string }{
		{"simulate --seeds 2 --json --profile fixed --send-rate 20M", "simulate --seeds 2 --json --profile fixed --max-rate 20M"},
		{"simulate --seeds 2 --json --rate 10M --send-rate=5M", "simulate --seeds 2 --json --rate 10M --max-rate=5M"},
	} {
		before := runCommand(t, nil, strings.Fields(c.before)...)
		after := runCommand(t, nil, strings.Fields(c.after)...)
		if before != after || before.code != exitOK || before.stderr != "" || !strings.Contains(before.stdout, `"send_rate_bits":`) {
			t.Errorf("%s: %+v\n%s: %+v", c.before, before, c.after, after)
		}
	}
	out := filepath.Join(t.TempDir(), "out")
	addr, ended := startRecv(t, "--out", out)
	want := simulate.Pattern(30_000, 1)
	sent := runCommand(t, nil, "send", "--json", "--profile", "fixed", "--rate", "400k", "--to", addr, inputFile(t, want))
	wantStored(t, out, want, sent, <-ended)
	var report fileReport
	// 31 slices at 21 ms each, less those that may go at once.
	if err := json.Unmarshal([]byte(sent.stdout), &report); err != nil || report.Seconds < 0.3 || sent.stderr != "" {
		t.Errorf("%v: %+v", err, sent)
	}
	for command, hidden := range map[string]string{"send": "--rate", "simulate": "--send-rate"} {
		help := runCommand(t, nil, command, "--help").stdout
		if strings.Contains(help, " "+hidden+" ") || !strings.Contains(help, "--max-rate BITS") {
			t.Errorf("%s --help:\n%s", command, help)
		}
	}
}

// --rate is the link's where there is one, and --max-rate the sender's limit
// everywhere.
func TestRatesMeanTheSameEverywhere(t *testing.T) {
	t.Parallel()
	const link, limit = "rate of the link each way", "most that is sent, in bits a second"
	for command, hasLink := range map[string]bool{"send": false, "simulate": true, "demo": true} {
		help := runCommand(t, nil, command, "--help").stdout
		if strings.Contains(help, link) != hasLink || !strings.Contains(help, limit) {
			t.Errorf("%s --help:\n%s", command, help)
		}
	}
	for _, args := range []string{"demo --size 20K --rtt 2ms --loss 0 --max-rate 1M --json", "demo --size 20K --rtt 2ms --loss 0 --rate 1M --json"} {
		r := runCommand(t, nil, strings.Fields(args)...)
		var report demoReport
		// 20 slices of 8.5 ms; a limited sender starts with the first.
		if err := json.Unmarshal([]byte(r.stdout), &report); err != nil || report.DeliverMS < 150 {
			t.Errorf("%s: %v: %+v", args, err, r)
		}
	}
}

func TestVersionCommand(t *testing.T) {
	t.Parallel()
	command, flag := runCommand(t, nil, "version"), runCommand(t, nil, "--version")
	if command != flag || command.code != exitOK || !strings.HasPrefix(command.stdout, "chunkwire version ") {
		t.Errorf("%+v and %+v", command, flag)
	}
}

// Completions are offered, and complete the profiles.
func TestCompletions(t *testing.T) {
	t.Parallel()
	if r := runCommand(t, nil, "--help"); !strings.Contains(r.stdout, "completion") {
		t.Errorf("the help does not name the completions:\n%s", r.stdout)
	}
	if r := runCommand(t, nil, "completion", "bash"); r.code != exitOK || !strings.Contains(r.stdout, "chunkwire") {
		t.Errorf("exit %d", r.code)
	}
	for _, command := range []string{"send", "demo", "simulate"} {
		r := runCommand(t, nil, "__complete", command, "--profile", "")
		if r.code != exitOK || !strings.HasPrefix(r.stdout, strings.Join(profileNames, "\n")+"\n") {
			t.Errorf("%s: %+v", command, r)
		}
	}
	for flag, names := range map[string][]string{"--level": {"required", "packets", "session-client"}, "--protocol": {"chunks", "packets", "connections"}} {
		r := runCommand(t, nil, "__complete", "conformance", flag, "")
		for _, name := range names {
			if !strings.Contains("\n"+r.stdout, "\n"+name+"\n") {
				t.Errorf("%s does not complete %s: %+v", flag, name, r)
			}
		}
	}
}
