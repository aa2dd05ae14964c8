package runner

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chunkwire/chunkwire/testvectors"
)

func TestVerdictOfALevel(t *testing.T) {
	for _, c := range []struct {
		count Count
		all   bool
		want  Verdict
	}{
		{Count{Passed: 3}, true, LevelPassed},
		{Count{Passed: 3}, false, LevelPartial},
		{Count{Passed: 3, Skipped: 1}, true, LevelPartial},
		{Count{Passed: 3, NotRun: 1}, true, LevelPartial},
		{Count{NotRun: 1}, true, LevelPartial},
		{Count{Skipped: 4}, true, LevelSkipped},
		{Count{Skipped: 4}, false, LevelSkipped},
		{Count{Passed: 3, Failed: 1}, true, LevelFailed},
		{Count{Passed: 3, Known: 1}, true, LevelFailed},
		{Count{Skipped: 3, Failed: 1}, false, LevelFailed},
		{Count{}, false, LevelNotRun},
	} {
		if got := levelVerdict(c.count, c.all); got != c.want {
			t.Errorf("%+v, %t: %s, want %s", c.count, c.all, got, c.want)
		}
	}
}

// A port that has nothing of a protocol fails none of its levels, and passes none: also
// where the right answer is "unsupported" in any case.
func TestLevelsOfAProtocolThatAPortDoesNotHave(t *testing.T) {
	unsupported := question{response: []byte(`{"id":1,"ok":false,"error":"unsupported"}`)}
	results := []*Result{
		{Level: testvectors.Required, Status: Passed},
		{Level: testvectors.Required, Status: Passed, question: unsupported},
		{Level: testvectors.Packets, Status: Skipped},
		{Level: testvectors.PacketsEndpoint, Status: Skipped},
		{Level: testvectors.PacketsEndpoint, Status: Passed, question: unsupported},
	}
	r := Report{Results: results}
	r.sum(nil, 0, 0)
	levels, err := testvectors.Levels()
	if err != nil {
		t.Fatal(err)
	}
	r.judgeLevels(levels, nil)
	var out bytes.Buffer
	r.printLevels(&out)
	want := "levels of chunks: required passed, recommended not run\nlevels of recovery: optional not run\nlevels of repair: repair not run, repair-sender not run, repair-rule not run, repair-connection not run\n" +
		"levels of packets: packets skipped, packets-endpoint skipped, packets-estimates not run\n" +
		"levels of channels: channels not run, channels-receiver not run, channels-sender not run\n" +
		"levels of connections: session not run, session-client not run, session-server not run, connection not run, connection-endpoint not run, connection-moves not run, connection-marks not run, connection-clocks not run\n"
	if diff := cmp.Diff(want, out.String()); diff != "" || !r.OK {
		t.Errorf("%t, %s", r.OK, diff)
	}
}

// Each level is of a protocol, and each group has one (RPO-11, RVO-5).
func TestLevelsAsData(t *testing.T) {
	levels, err := testvectors.Levels()
	if err != nil {
		t.Fatal(err)
	}
	known := map[testvectors.Level]bool{}
	for _, l := range levels {
		if known[l.Name] = true; l.Protocol == "" || l.Description == "" {
			t.Errorf("%s is not described", l.Name)
		}
	}
	groups, err := testvectors.Groups()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range groups {
		if !known[g.Level] {
			t.Errorf("%s: level %s", g.Name, g.Level)
		}
	}
}
