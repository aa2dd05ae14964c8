package bench

import (
	"encoding/json"
	"os"
	"strconv"
	"testing"
	"time"
)

// The command in results/ sets these. Without them the measurement is skipped:
// kcp-go's timers never run in virtual time unless they are mended first.
const (
	outEnv   = "CHUNKWIRE_BENCH_OUT"
	seedsEnv = "CHUNKWIRE_BENCH_SEEDS"
	onlyEnv  = "CHUNKWIRE_BENCH_ONLY"
)

// TestResults measures everything.
func TestResults(t *testing.T) {
	out := os.Getenv(outEnv)
	if out == "" {
		t.Skip("run by: go run ./results")
	}
	seeds, err := strconv.Atoi(os.Getenv(seedsEnv))
	if err != nil || seeds < 1 {
		t.Fatalf("%s: %v", seedsEnv, err)
	}
	b := &bench{t: t, seeds: seeds, result: Result{Seeds: seeds}}
	experiments := []struct {
		name string
		run  func()
	}{
		{Cold, func() { b.grid(Cold, 0) }},
		{Warm, func() { b.grid(Warm, 1) }},
		{ByRTT, b.byRTT},
		{Streaming, b.streaming},
		{Trouble, b.trouble},
		{Together, b.together},
		{Beside, b.beside},
		{Maps, b.maps},
		{Messages, b.messages},
		{Services, b.services},
	}
	for _, e := range experiments {
		if only := os.Getenv(onlyEnv); only == "" || only == e.name || only == groupOf(e.name) {
			e.run()
		}
	}
	written, err := json.MarshalIndent(b.result, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(out, written, 0o644); err != nil {
		t.Fatal(err)
	}
}

// bench collects what is measured.
type bench struct {
	t      *testing.T
	seeds  int
	result Result
}

// add measures one plan with every seed.
func (b *bench) add(experiment string, x float64, p Peer, plan Plan, seeds int) {
	if plan.Size == 0 {
		plan.Size = block
	}
	runs := make([]Run, seeds)
	for i := range runs {
		runs[i] = measure(b.t, p, plan, uint64(i+1))
	}
	b.noteAt(Row{Experiment: experiment, Cell: plan.name(), X: x, Peer: p.Name, Size: plan.Size}, runs)
}

// note keeps the runs of blocks of 256 KiB.
func (b *bench) note(experiment, cell, peer string, runs []Run) {
	b.noteAt(Row{Experiment: experiment, Cell: cell, Peer: peer, Size: block}, runs)
}

func (b *bench) noteAt(row Row, runs []Run) {
	row.Summary = summarize(runs, row.Size)
	for _, r := range runs {
		if r.Err != nil {
			b.t.Logf("%s, %s, %s: %v", row.Experiment, row.Cell, row.Peer, r.Err)
			break
		}
	}
	b.keep(row)
}

// keep keeps a row, and prints it.
func (b *bench) keep(row Row) {
	b.t.Logf("%-9s %-26s %-26s %8v %8v %8v %6.2f  failed %d", row.Experiment, row.Cell, row.Peer, row.Median.Round(time.Millisecond),
		row.P95.Round(time.Millisecond), row.Max.Round(time.Millisecond), row.Bytes, row.Failed)
	b.result.Rows = append(b.result.Rows, row)
}

// grid measures every peer on the four networks.
func (b *bench) grid(experiment string, warm int) {
	for _, c := range Grid() {
		for _, p := range AllPeers() {
			b.add(experiment, float64(c.Loss), p, Plan{Cell: c, Size: block, Warm: warm}, b.seeds)
		}
	}
}

// byRTT measures longer and shorter paths.
func (b *bench) byRTT() {
	for _, rtt := range []int{10, 25, 50, 100, 200, 400} {
		c := Networks[0].with(1)
		c.RTT = time.Duration(rtt) * time.Millisecond
		for _, p := range AllPeers() {
			b.add(ByRTT, float64(rtt), p, Plan{Name: strconv.Itoa(rtt) + " ms", Cell: c, Size: block, Warm: 1}, b.seeds)
		}
	}
}

// streaming measures 16 MiB, with a tenth of the seeds.
func (b *bench) streaming() {
	for _, n := range Networks[:2] {
		for _, loss := range []int{0, 1, 5} {
			for _, p := range StreamingPeers() {
				b.add(Streaming, float64(loss), p, Plan{Cell: n.with(loss), Size: 16 << 20}, max(1, b.seeds/10))
			}
		}
	}
}

// groupOf returns what an experiment is run with, for one page.
func groupOf(experiment string) string {
	if experiment == Messages || experiment == Services {
		return experiment
	}
	return Blocks
}
