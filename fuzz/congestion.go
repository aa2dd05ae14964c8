package fuzz

import (
	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/packets"
	"github.com/chunkwire/chunkwire/packet"
	"github.com/chunkwire/chunkwire/testvectors"
)

// Congestion avoidance beside its oracle, under any conditions, at times that may go back.
// At last conditions are good for MOST_RECOVERY, and the mode must be good (PKT-LIVE-4).
//
// An input is a configuration and events as package conform encodes them.
var targetCongestion = newTarget("Congestion", "congestion avoidance does what its oracle does; good conditions end in GOOD", runCongestion, seedCongestion)

func runCongestion(t T, data []byte) {
	in := &conform.Input{Left: data}
	p := packets.Cadence.Pair(t, packets.Cadence.Configure(in))
	judge(p)
	now, last := int64(0), packets.CongestionStep{}
	do := func(at int64, e conform.Event) {
		now, last = max(now, at), p.Do(at, e).(packets.CongestionStep)
	}
	for at, e := range packets.Cadence.Play(in, p.Config, p.Oracle, mostPlayed) {
		do(at, e)
	}
	good := packets.Conditions{SRTT: conform.Some(int64(packet.BadRTT))}
	until := now + int64(packet.MostRecovery)
	do(now, good)
	for due := p.Look().Deadline; due.Is && due.V <= until; due = p.Look().Deadline {
		do(due.V, good)
	}
	if do(until, good); last.Mode != "good" {
		p.Fail("conditions were good for %d, and the mode is %s", packet.MostRecovery, last.Mode)
	}
}

// seedCongestion are the traces of congestion avoidance, with a cadence and without.
func seedCongestion(files []testvectors.File) (seeds [][]byte) {
	for _, tr := range packets.Congestion.Traces(testvectors.Requests(files)) {
		var sent []conform.Timed
		for _, e := range tr.Events {
			sent = append(sent, e, conform.Timed{At: e.At, Event: packets.Sent{}})
		}
		for _, events := range [][]conform.Timed{tr.Events, sent} {
			seeds = append(seeds, packets.Cadence.Encode(tr.Config, events, oracleOf(packets.Cadence, tr.Config)))
		}
	}
	return seeds
}
