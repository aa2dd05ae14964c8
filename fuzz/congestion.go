package fuzz

import (
	"fmt"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/packets"
	"github.com/chunkwire/chunkwire/packet"
	"github.com/chunkwire/chunkwire/testvectors"
)

// Congestion avoidance. At last conditions are good for MOST_RECOVERY, and the mode must be good
// (PKT-LIVE-4).
var targetCongestion = machine{
	name: "Congestion", checks: "congestion avoidance does what its oracle does; good conditions end in GOOD",
	op: packets.Cadence, most: mostPlayed, peer: staysGood, seeds: seedCongestion,
}.target()

// staysGood lets conditions be good.
func staysGood(r *run) error {
	good := packets.Conditions{SRTT: conform.Some(int64(packet.BadRTT))}
	until := r.now + int64(packet.MostRecovery)
	r.do(good)
	for due := r.Look().Deadline; due.Is && due.V <= until; due = r.Look().Deadline {
		r.Do(due.V, good)
	}
	if mode := r.Do(until, good).(packets.CongestionStep).Mode; mode != "good" {
		return fmt.Errorf("conditions were good for %d, and the mode is %s", packet.MostRecovery, mode)
	}
	return nil
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
