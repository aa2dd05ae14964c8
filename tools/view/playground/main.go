//go:build js && wasm

// Command playground is the machines for the page that simulates: it gives JavaScript the
// function chunkwireSimulate, from settings to what `chunkwire simulate --seeds 1` prints and
// logs.
package main

import (
	"encoding/json"
	"syscall/js"
	"time"

	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/connection/lanes/pace"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/tools/simulate"
)

// settings are what the controls say.
type settings struct {
	Loss     float64 `json:"loss"`
	RTTms    float64 `json:"rtt_ms"`
	JitterMS float64 `json:"jitter_ms"`
	Rate     int64   `json:"rate"`
	Queue    int64   `json:"queue"`
	Size     int64   `json:"size"`
	Profile  string  `json:"profile"`
	Variant  string  `json:"variant"`
	Seed     uint64  `json:"seed"`
	Warm     bool    `json:"warm"`
}

func main() {
	js.Global().Set("chunkwireSimulate", js.FuncOf(func(_ js.Value, args []js.Value) any {
		report, log, err := reported(args[0].String())
		if err != nil {
			return map[string]any{"error": err.Error()}
		}
		return map[string]any{"report": report, "log": log}
	}))
	select {}
}

// limit is the command's own of --limit.
const limit = 10 * time.Minute

// reported returns the report as the command prints it, and the log.
func reported(text string) (report, log string, err error) {
	var s settings
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return "", "", err
	}
	sim, err := s.simulation()
	if err != nil {
		return "", "", err
	}
	written := eventlog.AppendHeader(nil, eventlog.Header{Title: "chunkwire simulate", By: "chunkwire", View: eventlog.Network})
	sim.Log = func(e eventlog.Event) { written = eventlog.Append(written, &e) }
	var transfer *chunk.Transfer
	if t, err := sim.Transfer(sim.Seed); err == nil {
		transfer = &t
	}
	printed, err := json.Marshal(sim.Report([]*chunk.Transfer{transfer}))
	return string(printed), string(written), err
}

func (s *settings) simulation() (*simulate.Settings, error) {
	p, err := pace.OverLink(s.Profile, -1, s.Rate)
	if err != nil {
		return nil, err
	}
	sim := &simulate.Settings{
		Path: simulate.Path{RTT: duration(s.RTTms), Jitter: duration(s.JitterMS), Loss: s.Loss, Rate: s.Rate, Queue: s.Queue},
		Pace: p, Repair: s.Variant == simulate.VariantRepair, Size: s.Size, Seeds: 1, Seed: s.Seed, Limit: limit, Warm: s.Warm,
	}
	return sim, sim.Check()
}

func duration(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
