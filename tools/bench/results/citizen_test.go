package main

import (
	"strings"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/tools/bench"
)

func familyRow(peer string, took time.Duration, bytes float64, f bench.FamilyFigures) bench.Row {
	f.Family, f.Counts = "a family", bench.All
	return bench.Row{Experiment: bench.Families, Cell: "a path", Peer: peer, Summary: bench.Summary{Runs: 1, Median: took, Bytes: bytes}, Family: &f}
}

// A target that is missed is listed, the worst first; one that is met is not.
func TestMissed(t *testing.T) {
	beside := func(peers string, worst float64) bench.Row {
		return bench.Row{Experiment: bench.Beside, Cell: "a path", Peer: peers, Beside: &bench.BesideFigures{Worst: worst}}
	}
	for _, of := range []struct {
		name string
		rows []bench.Row
		want []string // in order
	}{
		{"met", []bench.Row{familyRow("repair", 115*time.Millisecond, 1.15, bench.FamilyFigures{}), familyRow("quic-go", 100*time.Millisecond, 1, bench.FamilyFigures{})}, nil},
		{"slow, and too much", []bench.Row{familyRow("repair", 300*time.Millisecond, 2, bench.FamilyFigures{}), familyRow("quic-go", 100*time.Millisecond, 1, bench.FamilyFigures{})},
			[]string{"| 2.61 |", "| 1.74 |"}},
		{"what is lost at random", []bench.Row{familyRow("repair", time.Second, 2.2, bench.FamilyFigures{Loss: 0.5})}, nil},
		{"a policer", []bench.Row{familyRow("named", time.Second, 3, bench.FamilyFigures{Policed: true})}, []string{"| 2.00 |"}},
		{"a peer that gave up", []bench.Row{familyRow("repair", time.Second, 1, bench.FamilyFigures{}), {Peer: "quic-go", Cell: "a path", Summary: bench.Summary{Runs: 1, Failed: 1, Median: time.Millisecond}, Family: &bench.FamilyFigures{Family: "a family"}}}, nil},
		{"theirs", []bench.Row{familyRow("kcp turbo", time.Hour, 100, bench.FamilyFigures{})}, nil},
		{"beside", []bench.Row{beside("repair, then quic-go", 0.34), beside("quic-go, then named", 0.2), beside("quic-go, then kcp turbo", 0)}, []string{"| 1.67 |"}},
	} {
		lines := strings.Split(strings.TrimSpace(missed(&bench.Result{Rows: of.rows})), "\n")[2:]
		if len(lines) != len(of.want) {
			t.Errorf("%s: %q", of.name, lines)
			continue
		}
		for i, line := range lines {
			if !strings.HasPrefix(line, of.want[i]) {
				t.Errorf("%s: line %d is %q, want %q", of.name, i, line, of.want[i])
			}
		}
	}
}

// A line of conform/sim/flows/tables becomes the median of its seeds, beside what was before.
func TestFlowTables(t *testing.T) {
	read := func(lines string) []bench.FlowCell {
		cells, err := readFlows([]byte(lines))
		if err != nil {
			t.Fatal(err)
		}
		return cells
	}
	now := read(`{"set":"together","cell":"S2, 2","figures":{"Jain":[0.5,1,0.75],"use":[0.9,null],"dropped %":[null]}}` + "\n")
	then := read(`{"set":"together","cell":"S2, 2","figures":{"Jain":[0.25],"use":[0.9],"dropped %":[61.23]}}` + "\n")
	c := citizen{now: &bench.Result{Flows: now}, old: []*bench.Result{{}, {Flows: then}}}
	if got, want := c.flows(), "| S2, 2 | 0.75 (0.25) | 0.90 |  (61.2) |  |  |  |\n"; !strings.Contains(got, want) {
		t.Errorf("%s has no %s", got, want)
	}
	if _, err := readFlows([]byte("| S2 |")); err == nil {
		t.Error("a table is read")
	}
}
