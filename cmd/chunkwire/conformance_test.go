package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/testvectors/runner"
	"github.com/chunkwire/chunkwire/testvectors/runner/live"
)

// testPort as its first argument makes the test binary the command "port", with the
// arguments that follow.
const testPort = "test-port"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == testPort {
		os.Exit(execute(context.Background(), os.Stdin, os.Stdout, os.Stderr, append([]string{"port"}, os.Args[2:]...)...))
	}
	// The race detector holds up each exit for a second, and ports exit often.
	_ = os.Setenv("GORACE", os.Getenv("GORACE")+" atexit_sleep_ms=0")
	os.Exit(m.Run())
}

// conform runs the vectors of a folder, or those built in, against the port.
func conform(t *testing.T, flags ...string) result {
	t.Helper()
	return runCommand(t, nil, append(append([]string{"conformance"}, flags...), "--", os.Args[0], testPort)...)
}

// wrongVectors is a folder with a vector that the port passes and one that it fails.
func wrongVectors(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "hand.json"), `{"format":1,"group":"hand","description":"Made by hand.","license":"CC0-1.0","flags":{"wrong":{"mistake":"m","effect":"e"}},"vectors":[
		{"name":"hand/right","comment":"c","flags":["wrong"],"sentences":["ACK-1"],"level":"required","request":{"op":"decode_body","type":"ack","hex":"34120205"},"response":{"ok":true,"packet":{"type":"ack","chunk_id":4660,"acked":"101"}}},
		{"name":"hand/wrong","comment":"c","flags":["wrong"],"sentences":["ACK-1"],"level":"required","request":{"op":"decode_body","type":"ack","hex":"34120204"},"response":{"ok":true,"packet":{"type":"ack","chunk_id":4660,"acked":"101"}}}]}`)
	return dir
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestConformance(t *testing.T) {
	if r := conform(t, "--run", "^(examples|contract)/"); r.code != exitOK || !strings.Contains(r.stdout, "total") {
		t.Errorf("the vectors built in: %+v", r)
	}
	dir := wrongVectors(t)
	if r := conform(t, "--vectors", dir); r.code != exitFailed || !strings.Contains(r.stdout, "FAIL hand/wrong") || !strings.Contains(r.stderr, "1 vectors") {
		t.Errorf("a wrong vector: %+v", r)
	}
	known, junit := filepath.Join(t.TempDir(), "known"), filepath.Join(t.TempDir(), "report.xml")
	writeFile(t, known, "# all that is wrong\nhand/wrong # some day\n\n")
	r := conform(t, "--vectors", dir, "--known-failures", known, "--junit", junit, "--json")
	var report runner.Report
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil || r.code != exitOK || report.Total("").Known != 1 {
		t.Errorf("a known failure: %+v, %v", r, err)
	}
	if text, err := os.ReadFile(junit); err != nil || !strings.Contains(string(text), "known failure") {
		t.Errorf("%v:\n%s", err, text)
	}
	if r := runCommand(t, nil, "conformance", "--", "no-such-command-anywhere"); r.code != exitPort || !strings.Contains(r.stderr, "cannot start") {
		t.Errorf("no such command: %+v", r)
	}
}

// Each protocol has its own levels, and the report says which are passed.
func TestConformanceLevels(t *testing.T) {
	for _, c := range []struct {
		flags []string
		want  string
	}{
		{[]string{"--level", "packets"}, "levels of packets: packets passed, packets-endpoint not run, packets-estimates not run\n"},
		{[]string{"--protocol", "packets"}, "levels of packets: packets passed, packets-endpoint passed, packets-estimates passed\n"},
		{[]string{"--level", "packets-endpoint", "--run", "^packet-examples/"}, "packets-endpoint incomplete, packets-estimates not run\n"},
		{[]string{"--protocol", "chunks", "--run", "^examples/"}, "levels of chunks: required incomplete, recommended incomplete\n"},
		{[]string{"--level", "channels"}, "levels of channels: channels passed, channels-receiver not run, channels-sender not run\n"},
		{[]string{"--run", "^(packet-)?examples/"}, "levels of packets: packets incomplete, packets-endpoint incomplete, packets-estimates not run\n"},
	} {
		if r := conform(t, c.flags...); r.code != exitOK || !strings.Contains(r.stdout, c.want) {
			t.Errorf("%s: %+v", c.flags, r)
		}
	}
}

func TestConformancePrintsARequest(t *testing.T) {
	r := runCommand(t, nil, "conformance", "--request", "sender/submit")
	if want := `{"id":1,"op":"sender",`; r.code != exitOK || !strings.HasPrefix(r.stdout, want) || strings.Count(r.stdout, "\n") != 1 {
		t.Errorf("%+v", r)
	}
	if answer := runCommand(t, strings.NewReader(r.stdout), "port"); !strings.HasPrefix(answer.stdout, `{"id":1,"ok":true,"steps":[`) {
		t.Errorf("%+v", answer)
	}
}

func TestConformanceUsage(t *testing.T) {
	for _, flags := range []string{"--run no-such-vector", "--run (", "--level best", "--level chunks", "--protocol required", "--timeout 0s", "--known-failures nowhere", "--request nothing"} {
		if r := conform(t, strings.Fields(flags)...); r.code != exitUsage {
			t.Errorf("%s: %+v", flags, r)
		}
	}
	for _, args := range []string{"conformance", "live", "live --loss 100 -- x", "live --timeout 0s -- x", "live --with= -- x"} {
		if r := runCommand(t, nil, strings.Fields(args)...); r.code != exitUsage {
			t.Errorf("%s: %+v", args, r)
		}
	}
	for _, command := range []string{"conformance", "live"} {
		r := runCommand(t, nil, command, "--help")
		if r.code != exitOK || !strings.Contains(r.stdout, "Examples:") || !strings.Contains(r.stdout, "Exit codes: 0 all") {
			t.Errorf("%s --help: %+v", command, r)
		}
	}
	if r := runCommand(t, nil, "port", "--live"); r.code != exitUsage {
		t.Errorf("port --live without its environment: %+v", r)
	}
}

func TestLive(t *testing.T) {
	t.Parallel()
	r := runCommand(t, nil, "live", "--json", "--loss", "20", "--with", os.Args[0]+" "+testPort+" --live", "--", os.Args[0], testPort, "--live")
	var report live.Report
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil || r.code != exitOK || len(report.Results) != 16 || len(report.With) != 3 {
		t.Fatalf("%+v, %v", r, err)
	}
	if r := runCommand(t, nil, "live", "--loss", "0", "--", os.Args[0], testPort); r.code != exitFailed || !strings.Contains(r.stderr, "8 of 8") {
		t.Errorf("a port that does not know --live: %+v", r)
	}
	if r := runCommand(t, nil, "live", "--", "no-such-command-anywhere"); r.code != exitPort {
		t.Errorf("no such command: %+v", r)
	}
}
