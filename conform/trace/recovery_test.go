package trace_test

import (
	"errors"
	"testing"

	"github.com/chunkwire/chunkwire/conform/trace"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// What the host tells takes no row and no time, and only the recommended scheduler has it
// (RVO-3, RVO-4).
func TestTheHostTellsTheScheduler(t *testing.T) {
	list := events(t, `[
		{"at": 9, "event": "yield", "yields": true}, {"at": 5, "event": "submit", "size": 40000}, {"at": 5, "event": "poll"},
		{"at": 2000, "event": "poll"}, {"at": 3000, "event": "yield", "yields": false}, {"at": 2001, "event": "poll"}]`)
	steps, err := trace.CheckSender(contract.SenderConfig{GiveUpUS: 1_000_000, Recovery: &contract.RecoveryProfile{Recovery: "adaptive"}}, list)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		row  string
		sent int
	}{{"", 0}, {"S1", 0}, {"S14", 1}, {"S14", 19}, {"S14", 0}, {"S14", 1}} {
		if s := steps[i]; s.Row != want.row || len(s.Packets) != want.sent {
			t.Errorf("step %d: row %q and %d slices, want %q and %d", i, s.Row, len(s.Packets), want.row, want.sent)
		}
	}
	if _, err := trace.RunSender(contract.SenderConfig{GiveUpUS: 1}, list); !errors.Is(err, trace.ErrUnsupported) {
		t.Errorf("with a script: %v", err)
	}
}

// A profile has one of four names, and a limit within those of PRO-1 (RVO-1).
func TestProfilesOfTheRecommendedScheduler(t *testing.T) {
	for _, c := range []struct {
		name string
		rate int64
		ok   bool
	}{
		{"adaptive", 0, true}, {"redundant", 8_528, true}, {"burst", 8_000_000_000, true}, {"fixed", 9_000, true},
		{"fixed", 0, false}, {"adaptive", 8_527, false}, {"adaptive", 8_000_000_001, false}, {"adaptive", -1, false}, {"", 0, false}, {"cubic", 0, false},
	} {
		if _, err := trace.NewRecovery(contract.RecoveryProfile{Recovery: c.name, Rate: c.rate}); (err == nil) != c.ok {
			t.Errorf("%s, %d: %v", c.name, c.rate, err)
		}
	}
}
